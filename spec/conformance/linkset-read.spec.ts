/** Rules 4.3, 6.6, 8.1, 11.1, 11.5: reading linksets. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked, listOf } from '../support/expectations.js';
import { clientPart, described, linksetType, linksIn, linksOfResource, managed, metaOf } from '../support/linkset.js';
import { mediaType } from '../support/rdf.js';

const person = 'https://e.example/Person';

/** One resource of each kind in the scratch container. */
const kinds: Readonly<Record<string, (s: StorageUnderTest) => Promise<string>>> = {
  'an RDF resource': async (s) => (await s.stored('text/turtle', '<> a <#C> .')).iri,
  'a JSON resource': async (s) => (await s.stored('application/json', '{}')).iri,
  'a binary resource': async (s) => (await s.stored('text/plain', 'x')).iri,
  'a container': (s) => s.container(),
};

function shape(s: StorageUnderTest): void {
  for (const [kind, make] of Object.entries(kinds))
    it(`GET of the linkset of ${kind} returns a document with one object (rule 11.1)`, async () => {
      const iri = await make(s);
      const answer = await s.get(metaOf(iri));
      expect([answer.status, mediaType(answer)]).to.deep.equal([200, linksetType]);
      const links = linksIn(answer);
      expect(links.anchor).to.equal(iri);
      expect(links.type[0]!.href).to.equal(lws + (kind === 'a container' ? 'Container' : 'DataResource'));
      expect(links['up']).to.be.an('array').with.length(1);
      expect((links['up'] as { href: string }[])[0]!.href).to.equal(s.scratch);
      expect(links['linkset']).to.be.an('array').with.length(1);
      expect((links['linkset'] as { href: string }[])[0]!.href).to.equal(metaOf(iri));
      expect((links[`${lws}storage`] as { href: string }[]).map(({ href }) => href)).to.deep.equal([s.root]);
    });

  it('the root has a linkset without a parent (rule 11.1)', async () => {
    const links = await linksOfResource(s, s.root);
    expect([links.anchor, links.type[0]!.href]).to.deep.equal([s.root, `${lws}Container`]);
    expect(links).not.to.have.property('up');
  });

  for (const [kind, make] of Object.entries(kinds))
    it(`the members of the linkset of ${kind} are ordered (rule 11.1)`, async () => {
      expect(Object.keys(await linksOfResource(s, await make(s)))).to.deep.equal(managed);
    });

  it('client relations follow server relations (rule 11.1)', async () => {
    const iri = await described(s, { license: [{ href: 'https://e.example/l' }], author: 'Ada' });
    const keys = Object.keys(await linksOfResource(s, iri));
    expect(keys.slice(0, managed.length)).to.deep.equal(managed);
    expect(keys.slice(managed.length)).to.have.members(['license', 'author']);
  });

  it('type has the structural type first, then the declared ones (rule 11.1)', async () => {
    const iri = await described(s, { type: [{ href: person }, { href: 'https://e.example/Agent' }] });
    const [first, ...others] = (await linksOfResource(s, iri)).type.map(({ href }) => href);
    expect(first).to.equal(`${lws}DataResource`);
    expect(others).to.include.members([person, 'https://e.example/Agent']);
  });

  it('a linkset is not listed (rule 11.1)', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    await s.get(metaOf(iri));
    await s.get(metaOf(container));
    expect(await s.members(container)).to.deep.equal([iri]);
  });
}

function fields(s: StorageUnderTest): void {
  it('a linkset carries ETag, Last-Modified and the storage link (rule 7.6)', async () => {
    for (const make of Object.values(kinds)) {
      const answer = await s.get(metaOf(await make(s)));
      expect(answer.headers['etag']).to.match(/^"[\x21\x23-\x7e]+"$/);
      expect(Date.parse(answer.headers['last-modified'] ?? '')).not.to.be.NaN;
      expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
    }
  });

  it('a satisfied If-None-Match or If-Modified-Since is 304 (rule 8.3)', async () => {
    const meta = metaOf((await s.stored('text/plain', 'x')).iri);
    const { headers } = await s.get(meta);
    const tag = { 'If-None-Match': headers['etag']! };
    for (const answer of [await s.get(meta, tag), await s.head(meta, tag)]) {
      expect([answer.status, answer.bytes.length]).to.deep.equal([304, 0]);
      expect(answer.headers['etag']).to.equal(headers['etag']);
    }
    expect((await s.get(meta, { 'If-Modified-Since': headers['last-modified']! })).status).to.equal(304);
    expect((await s.get(meta, { 'If-None-Match': '"other"' })).status).to.equal(200);
  });

  it('the ETag is stable across reads and changes with a write (rule 8.1)', async () => {
    const iri = await described(s, { author: 'Ada' });
    const tag = await s.tag(metaOf(iri));
    expect(await s.tag(metaOf(iri))).to.equal(tag);
    const answer = await s.patch(metaOf(iri), 'application/merge-patch+json', '{"author":"Eve"}', { 'If-Match': tag });
    expect(answer.status).to.equal(204);
    expect(await s.tag(metaOf(iri))).not.to.equal(tag);
  });

  it('RFC 7240 section 2: every linkset response has Vary: Prefer', async () => {
    const meta = metaOf((await s.stored('text/plain', 'x')).iri);
    expect(listOf(await s.get(meta), 'vary')).to.include('prefer');
    expect(listOf(await s.get(meta, { Prefer: 'include="up"' }), 'vary')).to.include('prefer');
  });

  it('HEAD has the fields of GET and no body (rule 11.1)', async () => {
    const meta = metaOf(await described(s, { author: 'Ada' }));
    const [head, get] = [await s.head(meta), await s.get(meta)];
    expect([head.status, head.bytes.length]).to.deep.equal([200, 0]);
    for (const name of ['content-type', 'etag', 'last-modified', 'link', 'vary'])
      expect(head.headers[name], name).to.equal(get.headers[name]);
  });

  it('an unsupported Accept returns the document, never 406 (rule 7.1)', async () => {
    const meta = metaOf((await s.stored('text/turtle', '<> a <#C> .')).iri);
    expect(linksIn(await s.get(meta, { Accept: 'image/png' })).anchor).to.equal(meta.slice(0, -5));
  });
}

function methods(s: StorageUnderTest): void {
  for (const [kind, make] of Object.entries(kinds)) {
    it(`OPTIONS on the linkset of ${kind} is 204 with Allow and Accept-Patch (rule 11.1)`, async () => {
      const answer = await s.options(metaOf(await make(s)));
      expect([answer.status, answer.bytes.length]).to.deep.equal([204, 0]);
      expect(listOf(answer, 'allow')).to.have.members(['get', 'head', 'put', 'patch', 'options']);
      expect(listOf(answer, 'accept-patch')).to.have.members([
        'application/json-patch+json',
        'application/merge-patch+json',
      ]);
    });

    it(`POST to and DELETE of the linkset of ${kind} are 405 with Allow (rule 11.1)`, async () => {
      const meta = metaOf(await make(s));
      for (const method of ['POST', 'DELETE']) {
        const answer = await s.send(method, meta, { 'If-Match': '*' });
        expectProblem(answer, 405, s);
        expect(listOf(answer, 'allow')).to.have.members(['get', 'head', 'put', 'patch', 'options']);
      }
      linksIn(await s.get(meta));
    });
  }
}

const attempts: readonly (readonly [string, Record<string, string>, string | undefined])[] = [
  ['GET', {}, undefined],
  ['HEAD', {}, undefined],
  ['PUT', { 'Content-Type': linksetType, 'If-Match': '*' }, '{"linkset":[{}]}'],
  ['PUT', { 'Content-Type': linksetType }, '{"linkset":[{}]}'],
  ['PATCH', { 'Content-Type': 'application/merge-patch+json', 'If-Match': '"x"' }, '{}'],
  ['DELETE', {}, undefined],
];

describeStorage('Linkset reading', (s) => {
  shape(s);
  fields(s);
  methods(s);

  it('any method on the linkset of a nonexistent resource is 404 (rule 6.12)', async () => {
    for (const meta of [s.fresh('.meta'), `${s.fresh('/')}.meta`])
      for (const [method, headers, body] of attempts) {
        const answer = await s.send(method, meta, headers, body);
        if (method === 'HEAD') expect(answer.status).to.equal(404);
        else expectProblem(answer, 404, s);
      }
  });

  it('the linkset of a nonexistent or unreadable resource is 401 for anonymous and 404 for unauthorized callers (rule 4.1)', async () => {
    const hidden = [(await s.stored('text/plain', 'x')).iri, await s.container()].map(metaOf);
    for (const meta of [...hidden, s.fresh('.meta'), `${s.fresh('/')}.meta`])
      for (const [method, headers, body] of attempts.filter(([name]) => name !== 'HEAD')) {
        expectChallenge(await s.send(method, meta, headers, body, 'anonymous'), s);
        expectProblem(await s.send(method, meta, headers, body, s.stranger), 404, s);
      }
    for (const meta of hidden) linksIn(await s.get(meta));
  });
});

describeStorage(
  'Linkset reading, public',
  (s) => {
    it('read access to a resource includes its linkset (rule 2.4)', async () => {
      const iri = await described(s, { author: 'Ada', type: [{ href: person }] });
      const own = await linksOfResource(s, iri);
      for (const sender of ['anonymous', s.stranger] as const) {
        const answer = await s.send('GET', metaOf(iri), {}, undefined, sender);
        expect(linksIn(answer)).to.deep.equal(own);
        expect((await s.send('HEAD', metaOf(iri), {}, undefined, sender)).status).to.equal(200);
      }
      expect(linksIn(await s.send('GET', metaOf(s.root), {}, undefined, 'anonymous')).anchor).to.equal(s.root);
    });

    it('a reader may not write it: 403, or 401 without a credential (rule 4.2)', async () => {
      const iri = await described(s, { author: 'Ada' });
      for (const [method, headers, body] of attempts.filter(([name]) => name === 'PUT' || name === 'PATCH')) {
        expectChallenge(await s.send(method, metaOf(iri), headers, body, 'anonymous'), s);
        expectProblem(await s.send(method, metaOf(iri), headers, body, s.stranger), 403, s);
      }
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types: [] });
    });

    it('the linkset of a nonexistent resource is a plain 404 for readers of the container (rule 4.1)', async () => {
      for (const sender of ['anonymous', s.stranger] as const)
        expectProblem(await s.send('GET', s.fresh('.meta'), {}, undefined, sender), 404, s);
    });
  },
  { settings: { 'public-read': 'true' } },
);
