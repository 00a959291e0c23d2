/** Rules 7.1, 7.6. */
import { expect } from 'chai';
import { describeStorage, ldp, lws } from '../support/conformance.js';
import { linked, linksOf, listOf } from '../support/expectations.js';

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

describeStorage('Response headers', (s) => {
  const make = async (type: string, body: string): Promise<string> =>
    type === 'container' ? s.container() : (await s.stored(type, body)).iri;

  for (const [type, body, expected] of [
    ['text/turtle', '<> a <#C> .', [`${ldp}Resource`, `${ldp}RDFSource`, `${lws}DataResource`]],
    ['application/json', '{}', [`${ldp}Resource`, `${ldp}NonRDFSource`, `${lws}DataResource`]],
    ['image/png', 'x', [`${ldp}Resource`, `${ldp}NonRDFSource`, `${lws}DataResource`]],
    ['container', '', [`${ldp}Resource`, `${ldp}BasicContainer`, `${lws}Container`]],
  ] as const)
    for (const method of ['GET', 'HEAD'])
      it(`${method} of ${type} has ETag, Last-Modified and the Link relations (rule 7.6)`, async () => {
        const iri = await make(type, body);
        const answer = await s.send(method, iri);
        expect(answer.status).to.equal(200);
        expect(answer.headers['etag']).to.match(/^"[^"]+"$/);
        expect(answer.headers['last-modified']).to.match(httpDate);
        expect(linked(answer, 'type')).to.have.members(expected);
        expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
        expect(linked(answer, 'up')).to.deep.equal([s.scratch]);
        expect(linksOf(answer).filter(({ rel }) => rel === 'linkset')).to.have.length(1);
        expect(linksOf(answer).find(({ rel }) => rel === 'linkset')).to.include({
          uri: `${iri}.meta`,
          type: 'application/linkset+json',
        });
      });

  it('Last-Modified is the time of the write (rule 7.6)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const modified = Date.parse((await s.get(iri)).headers['last-modified']!);
    expect(Math.abs(Date.now() - modified)).to.be.below(60_000);
  });

  it('a resource in a nested container links that container as up (rule 7.6)', async () => {
    const container = await s.container();
    const inner = await s.container(`${container}i/`);
    const { iri } = await s.stored('text/plain', 'x', `${inner}x`);
    expect(linked(await s.get(iri), 'up')).to.deep.equal([inner]);
    expect(linked(await s.get(inner), 'up')).to.deep.equal([container]);
  });

  it('the storage link is on linksets too (rule 7.6)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    for (const method of ['GET', 'HEAD'])
      expect(linked(await s.send(method, `${iri}.meta`), `${lws}storage`), method).to.deep.equal([s.root]);
  });

  it('the storage link is on responses to writes and on errors (rule 10.2)', async () => {
    const iri = s.fresh();
    const container = await s.container();
    for (const [what, answer] of Object.entries({
      create: await s.put(iri, 'text/turtle', '<> a <#C> .'),
      replace: await s.put(iri, 'text/turtle', '<> a <#D> .', { 'If-Match': '*' }),
      patch: await s.patch(iri, 'application/sparql-update', 'INSERT DATA { <> a <#E> }'),
      'not modified': await s.get(iri, { 'If-None-Match': '*' }),
      post: await s.post(container, 'text/plain', 'x'),
      options: await s.options(iri),
      absent: await s.get(s.fresh()),
      'absent, HEAD': await s.head(s.fresh()),
      'precondition required': await s.put(iri, 'text/turtle', ''),
      anonymous: await s.send('GET', iri, {}, undefined, 'anonymous'),
    }))
      expect(linked(answer, `${lws}storage`), what).to.deep.equal([s.root]);
  });

  it('the storage link is on the response to a deletion (rule 10.2)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    expect(linked(await s.delete(iri), `${lws}storage`)).to.deep.equal([s.root]);
  });

  it('rel="acl" is present with WAC, not in owner mode (rule 3.1)', async () => {
    const answer = await s.get(s.scratch);
    expect([answer.status, ...linked(answer, 'acl')]).to.deep.equal([200]);
  });

  for (const type of ['image/png', 'text/plain', 'application/octet-stream', 'application/json', 'text/css'])
    it(`${type} has nosniff and a sandbox, and no Content-Disposition (rule 7.5)`, async () => {
      const { iri } = await s.stored(type, '{}');
      for (const answer of [await s.get(iri), await s.head(iri), await s.get(iri, { Range: 'bytes=0-0' })]) {
        expect(answer.headers['x-content-type-options']).to.equal('nosniff');
        expect((answer.headers['content-security-policy'] ?? '').split(/;\s*/)).to.include('sandbox');
        expect(answer.headers['content-disposition']).to.equal(undefined);
      }
    });

  for (const type of [
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'image/svg+xml',
    'application/xhtml+xml',
    'application/xml',
    'text/xml',
    'application/xslt+xml',
    'application/atom+xml',
  ])
    it(`${type} is an attachment, with nosniff and a sandbox (rule 7.5)`, async () => {
      const { iri } = await s.stored(type, '<p/>');
      for (const answer of [await s.get(iri), await s.head(iri), await s.get(iri, { Range: 'bytes=0-0' })]) {
        expect(answer.headers['content-disposition']).to.match(/^attachment(?:;|$)/);
        expect(answer.headers['x-content-type-options']).to.equal('nosniff');
        expect((answer.headers['content-security-policy'] ?? '').split(/;\s*/)).to.include('sandbox');
      }
    });

  it('RDF kept as bytes is a non-RDF resource, RDF/XML an attachment (rule 7.5)', async () => {
    const iri = s.fresh();
    const Link = `<${ldp}NonRDFSource>; rel="type"`;
    expect((await s.put(iri, 'application/rdf+xml', '<p/>', { Link })).status).to.equal(201);
    const answer = await s.get(iri);
    expect(answer.headers['x-content-type-options']).to.equal('nosniff');
    expect(answer.headers['content-disposition']).to.match(/^attachment(?:;|$)/);
  });

  it('GET of a container: Cache-Control is private, no-store (rule 9.3)', async () => {
    expect(listOf(await s.get(s.scratch), 'cache-control')).to.have.members(['private', 'no-store']);
  });

  it('negotiated representations have Vary: Accept (rule 7.1)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    for (const target of [iri, s.scratch]) expect(listOf(await s.get(target), 'vary'), target).to.include('accept');
  });

  it('Resource endpoints, GET: responses that need a credential are not for shared caches', async () => {
    for (const [type, body] of [
      ['text/turtle', ''],
      ['text/plain', 'x'],
    ] as const) {
      const control = listOf(await s.get((await s.stored(type, body)).iri), 'cache-control');
      expect(control.includes('private') || control.includes('no-store'), `${type}: ${control}`).to.equal(true);
    }
  });
});
