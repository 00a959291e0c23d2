/** Rules 7.2 and 7.3: GET of `/`, description or listing by Accept. */
import { expect } from 'chai';
import { describeStorage, ldp, lws } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked, linksOf } from '../support/expectations.js';
import { request } from '../support/http.js';
import { graphOf, mediaType, rdfTypes } from '../support/rdf.js';

const wantsDescription = [
  'application/lws+cid',
  '*/*',
  'application/*',
  'application/lws+cid, application/ld+json;q=0.9, application/json;q=0.8',
  'application/lws+cid;q=0.5, application/json;q=0.5',
  'text/html',
  'application/json;q=0.2, */*;q=0.9',
];
const wantsListing: readonly (readonly [accept: string, type: string])[] = [
  ['application/lws+json', 'application/lws+json'],
  ['application/ld+json', 'application/ld+json'],
  ['application/json', 'application/json'],
  ['text/turtle', 'text/turtle'],
  ['application/n-triples', 'application/n-triples'],
  ['application/rdf+xml', 'application/rdf+xml'],
  ['application/trig', 'application/trig'],
  ['application/lws+cid;q=0.4, application/lws+json;q=0.5', 'application/lws+json'],
  ['application/lws+cid;q=0, text/turtle', 'text/turtle'],
];

describeStorage('Storage root', (s) => {
  it('Storage root: without Accept it returns the storage description', async () => {
    const answer = await s.get(s.root);
    expect(answer.status).to.equal(200);
    expect(mediaType(answer)).to.equal('application/lws+cid');
  });

  for (const Accept of wantsDescription)
    it(`Storage root, rule 7.3: Accept: ${Accept} returns the description`, async () => {
      const answer = await s.get(s.root, { Accept });
      expect(answer.status).to.equal(200);
      expect(mediaType(answer)).to.equal('application/lws+cid');
      expect(JSON.parse(answer.text)).to.include({ id: s.root, type: 'Storage' });
    });

  for (const [Accept, type] of wantsListing)
    it(`Storage root, rule 7.3: Accept: ${Accept} returns the listing as ${type}`, async () => {
      const answer = await s.get(s.root, { Accept });
      expect(answer.status).to.equal(200);
      expect(mediaType(answer)).to.equal(type);
      if (!type.endsWith('json')) {
        const objects = (await graphOf(answer, s.root)).filter(({ predicate }) => predicate.value === `${lws}items`);
        expect(objects.map(({ object }) => object.value)).to.include(s.scratch);
      } else {
        const listing = JSON.parse(answer.text) as { id: string; items: { id: string }[] };
        expect(listing.id).to.equal(s.root);
        expect(listing.items.map(({ id }) => id)).to.include(s.scratch);
      }
    });

  it('Storage description: it has the contexts, id, type and the StorageRoot service', async () => {
    const description = JSON.parse((await s.get(s.root)).text) as Record<string, unknown>;
    expect(description['@context']).to.deep.equal(['https://www.w3.org/ns/cid/v1', 'https://www.w3.org/ns/lws/v1']);
    expect(description['id']).to.equal(s.root);
    expect(description['service']).to.deep.include({ type: 'StorageRoot', serviceEndpoint: s.root });
  });

  it('Storage root, HEAD: negotiates like GET', async () => {
    expect(mediaType(await s.head(s.root))).to.equal('application/lws+cid');
    expect(mediaType(await s.head(s.root, { Accept: 'text/turtle' }))).to.equal('text/turtle');
  });

  for (const Accept of ['application/lws+cid', 'application/lws+json', ...rdfTypes])
    it(`the response as ${Accept} links type, linkset and storage, and no parent (rule 7.3)`, async () => {
      const answer = await s.get(s.root, { Accept });
      expect(linked(answer, 'type')).to.include.members([`${lws}Container`, `${ldp}BasicContainer`]);
      expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
      expect(linksOf(answer).find(({ rel }) => rel === 'linkset')).to.include({
        uri: `${s.root}.meta`,
        type: 'application/linkset+json',
      });
      expect(linked(answer, 'up')).to.deep.equal([]);
    });

  it('both responses have Vary: Accept (rule 7.1)', async () => {
    for (const Accept of ['application/lws+cid', 'application/lws+json'])
      expect((await s.get(s.root, { Accept })).headers['vary']).to.match(/accept/i);
  });

  it('the description is public, with a stable ETag and conditional GET (rule 12.1)', async () => {
    const answer = await request(s.root);
    expect(answer.status).to.equal(200);
    const etag = answer.headers['etag']!;
    expect((await request(s.root)).headers['etag']).to.equal(etag);
    expect((await request(s.root, { headers: { 'If-None-Match': etag } })).status).to.equal(304);
  });

  it('the listing of the root is not public (rule 2.5)', async () => {
    expectChallenge(await request(s.root, { headers: { Accept: 'application/lws+json' } }), s);
  });

  it('Storage root: the ETag of the description does not satisfy If-None-Match of the listing', async () => {
    const etag = await s.tag(s.root);
    expect((await s.get(s.root, { Accept: 'application/lws+json', 'If-None-Match': etag })).status).to.equal(200);
  });

  it('the root is an existing container (rule 1.3)', async () => {
    expectProblem(await s.send('PUT', s.root, { 'Content-Type': 'text/turtle' }, ''), 409, s);
  });

  it('Discovery: {system-prefix}/storage-description returns the public description', async () => {
    const answer = await request(`${s.root}.lws/storage-description`);
    expect(answer.status).to.equal(200);
    expect(mediaType(answer)).to.equal('application/lws+cid');
    expect(JSON.parse(answer.text)).to.include({ id: s.root, type: 'Storage' });
  });
});
