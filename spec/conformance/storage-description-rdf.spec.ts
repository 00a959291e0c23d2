/** Rule 12.1: representations of the storage description. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import jsonld from 'jsonld';
import { Parser } from 'n3';
import { contextLoader } from '../../lib/rdf/contexts.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { graphOf, mediaType, rdfTypes } from '../support/rdf.js';

const did = 'https://www.w3.org/ns/did#';
const security = 'https://w3id.org/security#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const at = (s: StorageUnderTest): string => `${s.root}.lws/storage-description`;

/** Graph of a JSON description, with the bundled contexts only. */
async function expanded(text: string, base: string): Promise<Quad[]> {
  const nquads = await jsonld.toRDF(JSON.parse(text), {
    base,
    documentLoader: contextLoader({}) as never,
    format: 'application/n-quads',
  });
  return new Parser({ format: 'application/n-quads' }).parse(nquads as unknown as string);
}

const objects = (quads: readonly Quad[], subject: string, predicate: string): string[] =>
  quads.filter((q) => q.subject.value === subject && q.predicate.value === predicate).map(({ object }) => object.value);

describeStorage('Storage description, renderings', (s) => {
  it('it is application/lws+cid by default, with Vary: Accept (rule 12.1)', async () => {
    for (const Accept of ['', '*/*', 'application/*', 'application/lws+cid', 'image/png']) {
      const answer = await s.get(at(s), Accept ? { Accept } : {});
      expect([answer.status, mediaType(answer)], Accept).to.deep.equal([200, 'application/lws+cid']);
      expect(answer.headers['vary']).to.match(/accept/i);
    }
  });

  it('GET of / returns the same (rule 7.2)', async () => {
    const [root, own] = [await s.get(s.root, { Accept: 'application/lws+cid' }), await s.get(at(s))];
    expect(JSON.parse(root.text)).to.deep.equal(JSON.parse(own.text));
  });

  for (const Accept of ['application/ld+json', 'application/json'])
    it(`${Accept} returns the same graph with that type (rule 12.1)`, async () => {
      const [answer, own] = [await s.get(at(s), { Accept }), await s.get(at(s))];
      expect([answer.status, mediaType(answer)]).to.deep.equal([200, Accept]);
      expect(isomorphic(await expanded(answer.text, at(s)), await expanded(own.text, at(s)))).to.equal(true);
    });

  for (const Accept of rdfTypes.filter((type) => type !== 'application/ld+json'))
    it(`${Accept} returns the graph of the expanded JSON-LD (rule 12.1)`, async () => {
      const [answer, own] = [await s.get(at(s), { Accept }), await s.get(at(s))];
      expect([answer.status, mediaType(answer)]).to.deep.equal([200, Accept]);
      const quads = await graphOf(answer, at(s));
      expect(isomorphic(quads, await expanded(own.text, at(s))), answer.text).to.equal(true);
    });

  it('the Turtle lists the storage, its services and its keys (rule 12.2)', async () => {
    const quads = await graphOf(await s.get(at(s), { Accept: 'text/turtle' }), at(s));
    expect(objects(quads, s.root, rdfType)).to.include(`${lws}Storage`);
    for (const [type, endpoint] of [
      ['StorageRoot', s.root],
      ['TypeIndexService', `${s.root}.lws/type-index`],
      ['TypeSearchService', `${s.root}.lws/type-search`],
    ] as const) {
      const nodes = objects(quads, s.root, `${did}service`);
      const [node] = nodes.filter((each) => objects(quads, each, rdfType).includes(lws + type));
      expect(objects(quads, node ?? '', `${did}serviceEndpoint`), type).to.deep.equal([endpoint]);
    }
    const [method] = objects(quads, s.root, `${security}authenticationMethod`);
    expect(objects(quads, s.root, `${security}verificationMethod`)).to.include(method);
    expect(objects(quads, method!, rdfType)).to.include(`${security}JsonWebKey`);
    expect(objects(quads, method!, `${security}controller`)).to.deep.equal([s.root]);
    expect(objects(quads, s.root, `${lws}capability`)).not.to.be.empty;
  });

  it('each representation has its own ETag (rule 8.1)', async () => {
    const accepts = ['application/lws+cid', 'application/json', ...rdfTypes];
    const tags = await Promise.all(accepts.map((Accept) => s.tag(at(s), { Accept })));
    expect(new Set(tags).size).to.equal(accepts.length);
  });

  it('it is negotiated by q, then specificity (rule 7.1)', async () => {
    for (const [Accept, type] of [
      ['application/lws+cid, application/ld+json;q=0.9, application/json;q=0.8', 'application/lws+cid'],
      ['application/lws+cid;q=0.4, text/turtle', 'text/turtle'],
      ['text/html, application/ld+json;q=0.9, */*;q=0.1', 'application/ld+json'],
    ])
      expect(mediaType(await s.get(at(s), { Accept: Accept! })), Accept).to.equal(type);
  });
});
