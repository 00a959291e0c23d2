/** Rules 7.2 and 1.5: GET, HEAD and OPTIONS of data resources, and resource kinds. */
import { expect } from 'chai';
import { asContainer, describeStorage, ldp } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import { expectGraph, mediaType } from '../support/rdf.js';

const allBytes = Uint8Array.from({ length: 256 }, (_, i) => i);

describeStorage('Resource endpoints', (s) => {
  it('Resource endpoints, GET: a binary resource is returned as stored, with its media type', async () => {
    const { iri } = await s.stored('image/png', allBytes);
    const answer = await s.get(iri);
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.equal('image/png');
    expect([...answer.bytes]).to.deep.equal([...allBytes]);
  });

  it('Resource endpoints, GET: a stored media type keeps its parameters', async () => {
    const { iri } = await s.stored('text/plain; charset=iso-8859-1', Uint8Array.of(0xe9));
    const answer = await s.get(iri);
    expect(answer.headers['content-type']).to.match(/^text\/plain; ?charset="?iso-8859-1"?$/i);
    expect([...answer.bytes]).to.deep.equal([0xe9]);
  });

  it('Resource endpoints, GET: a JSON resource is returned as stored', async () => {
    const { iri } = await s.stored('application/json', '{ "b": 1.0,\n "a": "é" }');
    const answer = await s.get(iri);
    expect(mediaType(answer)).to.equal('application/json');
    expect(answer.text).to.equal('{ "b": 1.0,\n "a": "é" }');
  });

  it('Resource endpoints, GET: an RDF resource is returned as the stored graph', async () => {
    const { iri } = await s.stored('text/turtle', '<> <http://e.example/p> "v"@en, 1, <#frag>, <rel> .');
    await expectGraph(await s.get(iri), iri, '<> <http://e.example/p> "v"@en, 1, <#frag>, <rel> .');
  });

  for (const [type, body] of [
    ['text/turtle', '<> a <#C> .'],
    ['application/json', '{}'],
    ['text/plain', 'abc'],
  ] as const)
    it(`Resource endpoints, HEAD: the response for ${type} has the fields of GET and no body`, async () => {
      const { iri } = await s.stored(type, body);
      const [head, get] = [await s.head(iri), await s.get(iri)];
      expect(head.status).to.equal(200);
      expect(head.bytes.length).to.equal(0);
      for (const name of ['content-type', 'etag', 'last-modified', 'link', 'content-length', 'vary', 'cache-control'])
        expect(head.headers[name], name).to.equal(get.headers[name]);
      expect(get.headers['etag']).to.match(/^".+"$/);
    });

  it('Resource endpoints, HEAD: the response for a container has the fields of GET and no body', async () => {
    const [head, get] = [await s.head(s.scratch), await s.get(s.scratch)];
    expect(head.status).to.equal(200);
    expect(head.bytes.length).to.equal(0);
    for (const name of ['content-type', 'etag', 'link']) expect(head.headers[name], name).to.equal(get.headers[name]);
  });

  it('Resource endpoints, GET: a nonexistent resource is 404', async () => {
    expectProblem(await s.get(s.fresh()), 404, s);
    const head = await s.head(s.fresh());
    expect([head.status, head.bytes.length]).to.deep.equal([404, 0]);
  });

  it('a container IRI without its slash is not redirected (rule 10.2)', async () => {
    const container = await s.container();
    expectProblem(await s.get(container.slice(0, -1)), 404, s);
  });

  it('a data resource IRI with a slash appended is another IRI (rule 10.2)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    expectProblem(await s.get(`${iri}/`), 404, s);
  });

  it('a body without Content-Type is application/octet-stream (rule 1.5)', async () => {
    const iri = s.fresh();
    expect((await s.send('PUT', iri, {}, 'x')).status).to.equal(201);
    expect((await s.get(iri)).headers['content-type']).to.equal('application/octet-stream');
  });

  it('ldp:NonRDFSource keeps a Turtle body as bytes (rule 1.5)', async () => {
    const iri = s.fresh();
    const Link = `<${ldp}NonRDFSource>; rel="type"`;
    expect((await s.put(iri, 'text/turtle', 'not Turtle at all', { Link })).status).to.equal(201);
    const answer = await s.get(iri, { Accept: 'application/ld+json' });
    expect(answer.text).to.equal('not Turtle at all');
    expect(answer.headers['content-type']).to.equal('text/turtle');
  });

  it('ldp:RDFSource rejects a non-RDF body (rule 1.5)', async () => {
    const iri = s.fresh();
    const Link = `<${ldp}RDFSource>; rel="type"`;
    expectProblem(await s.put(iri, 'text/plain', 'x', { Link }), [400, 415], s);
    await s.expectAbsent(iri);
  });

  it('a +json type is JSON and must be well-formed (rule 1.5)', async () => {
    const iri = s.fresh();
    expectProblem(await s.put(iri, 'application/geo+json', '{', {}), 400, s);
    await s.expectAbsent(iri);
    expect((await s.put(iri, 'application/geo+json', '{}')).status).to.equal(201);
    expect(mediaType(await s.get(iri))).to.equal('application/geo+json');
  });

  it('an empty RDF body is the empty graph (rule 1.6)', async () => {
    const { iri } = await s.stored('text/turtle', '');
    await expectGraph(await s.get(iri), iri, '');
  });

  it('the base IRI of a body is the IRI of the resource (rule 1.6)', async () => {
    const posted = await s.post(s.scratch, 'text/turtle', '<> <#p> <x>, <../y> .');
    const iri = new URL(posted.headers['location']!, s.scratch).href;
    await expectGraph(await s.get(iri), iri, '<> <#p> <x>, <../y> .');
  });

  it('Turtle is returned with its original prefixes (rule 1.12)', async () => {
    const { iri } = await s.stored('text/turtle', '@prefix zoo: <http://zoo.example/> . <> zoo:has zoo:emu .');
    const { text } = await s.get(iri, { Accept: 'text/turtle' });
    expect(text).to.match(/prefix zoo: <http:\/\/zoo\.example\/>/i);
    expect(text).to.match(/zoo:has\s+zoo:emu/);
  });

  it('Resource endpoints, OPTIONS: 204 with Allow and Accept-Post on a container', async () => {
    const answer = await s.options(await s.container());
    expect(answer.status).to.equal(204);
    expect(listOf(answer, 'allow')).to.include.members(['get', 'head', 'options', 'post', 'delete']);
    expect(answer.headers['accept-post']).to.be.a('string').and.not.equal('');
    expect(answer.headers['want-content-digest']).to.match(/sha-256/);
  });

  it('Resource endpoints, OPTIONS: 204 with Allow and Accept-Patch on an RDF resource', async () => {
    const answer = await s.options((await s.stored('text/turtle', '')).iri);
    expect(answer.status).to.equal(204);
    expect(listOf(answer, 'allow')).to.include.members(['get', 'head', 'options', 'put', 'patch', 'delete']);
    expect(listOf(answer, 'allow')).not.to.include('post');
    expect(listOf(answer, 'accept-patch')).to.deep.equal(['application/sparql-update']);
  });

  it('Resource endpoints, OPTIONS: Accept-Patch on a JSON resource', async () => {
    const answer = await s.options((await s.stored('application/json', '{}')).iri);
    expect(listOf(answer, 'accept-patch')).to.have.members([
      'application/json-patch+json',
      'application/merge-patch+json',
    ]);
  });

  it('Allow lists the methods of the current target: no PATCH on a binary resource (rule 6.21)', async () => {
    const answer = await s.options((await s.stored('image/png', 'x')).iri);
    expect(listOf(answer, 'allow')).to.include.members(['get', 'put', 'delete']);
    expect(listOf(answer, 'allow')).not.to.include('patch');
    expect(answer.headers['accept-patch']).to.equal(undefined);
  });

  it('Allow of the root has no DELETE, since the root cannot be deleted (rule 6.21)', async () => {
    expect(listOf(await s.options(s.root), 'allow'))
      .to.include('post')
      .and.not.to.include('delete');
  });

  it('405 carries Allow; TRACE and an unknown method are 405 (rule 6.21)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    for (const method of ['TRACE', 'PROPFIND']) {
      const answer = await s.send(method, iri);
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow'), method).to.include('get');
    }
  });

  it('Allow of a 405 for TRACE lists the methods of the target (rule 6.21)', async () => {
    const { iri } = await s.stored('text/turtle', '');
    for (const target of [iri, s.scratch, `${iri}.meta`, s.root]) {
      const answer = await s.send('TRACE', target);
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow'), target).to.have.members(listOf(await s.options(target), 'allow'));
    }
    const endpoint = await s.send('TRACE', `${s.root}.lws/type-index`);
    expect([endpoint.status, listOf(endpoint, 'allow').includes('get')]).to.deep.equal([405, true]);
  });

  it('POST on a data resource is 405 with Allow (rule 6.5)', async () => {
    const { iri } = await s.stored('text/turtle', '');
    const answer = await s.post(iri, 'text/plain', 'x', asContainer);
    expectProblem(answer, 405, s);
    expect(listOf(answer, 'allow')).to.include('put').and.not.to.include('post');
  });
});
