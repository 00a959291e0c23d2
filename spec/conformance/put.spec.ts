/** Rules 6.7, 6.9. */
import { expect } from 'chai';
import { asContainer, describeStorage, ldp, lws } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import { mediaType } from '../support/rdf.js';

const link = (type: string) => ({ Link: `<${type}>; rel="type"` });

describeStorage(
  'PUT',
  (s) => {
    it('a new IRI is created there: 201 with Location and ETag (rule 6.7)', async () => {
      const iri = s.fresh();
      const answer = await s.put(iri, 'text/plain', 'x');
      expect(answer.status).to.equal(201);
      expect(new URL(answer.headers['location'] ?? '', s.root).href).to.equal(iri);
      expect(answer.headers['etag']).to.equal(await s.tag(iri));
      expect(await s.members(s.scratch)).to.include(iri);
    });

    it('an existing IRI is replaced: 204 with a new ETag and an empty body (rule 6.7)', async () => {
      const { iri, etag } = await s.stored('text/plain', 'old');
      const answer = await s.put(iri, 'text/plain', 'new', { 'If-Match': etag });
      expect(answer.status).to.equal(204);
      expect(answer.bytes.length).to.equal(0);
      expect(answer.headers['etag'])
        .to.equal(await s.tag(iri))
        .and.not.to.equal(etag);
      expect((await s.get(iri)).text).to.equal('new');
    });

    it('a nonexistent parent is 404 that names it, and is not created (rule 6.7)', async () => {
      const parent = s.fresh('/');
      const answer = await s.put(`${parent}x`, 'text/plain', 'x');
      expectProblem(answer, 404, s);
      expect((JSON.parse(answer.text) as { detail: string }).detail).to.contain(parent);
      await s.expectAbsent(parent);
      await s.expectAbsent(`${parent}x`);
    });

    it('a container below a nonexistent parent is 404 (rule 6.7)', async () => {
      expectProblem(await s.send('PUT', `${s.fresh('/')}c/`), 404, s);
    });

    it('a parent that is not a container is 409 (rule 6.7)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      expectProblem(await s.put(`${iri}/y`, 'text/plain', 'x'), 409, s);
      expectProblem(await s.send('PUT', `${iri}/c/`), 409, s);
    });

    it('an existing container is 409, with and without a body (rule 1.3)', async () => {
      const iri = await s.container();
      const etag = await s.tag(iri);
      for (const body of [undefined, '<> a <#C> .'])
        for (const headers of [{}, { 'If-Match': etag }, { 'If-Match': '*' }])
          expectProblem(await s.put(iri, 'text/turtle', body, headers), 409, s);
      expect(await s.tag(iri)).to.equal(etag);
    });

    it('a container created with a body is 409 (rule 1.3)', async () => {
      const iri = s.fresh('/');
      expectProblem(await s.put(iri, 'text/turtle', '<> a <#C> .'), 409, s);
      await s.expectAbsent(iri);
    });

    it('also if the body is sent without Content-Length (rule 1.3)', async () => {
      const iri = s.fresh('/');
      expectProblem(await s.put(iri, 'text/plain', ['a', 'b']), 409, s);
      await s.expectAbsent(iri);
    });

    it('Resource kinds: a trailing slash creates a container', async () => {
      const iri = s.fresh('/');
      const answer = await s.send('PUT', iri);
      expect(answer.status).to.equal(201);
      expect(answer.headers['etag']).to.equal(await s.tag(iri));
      expect(linked(await s.get(iri), 'type')).to.include(`${lws}Container`);
      expect(await s.members(s.scratch)).to.include(iri);
    });

    for (const type of [`${lws}Container`, `${ldp}Container`, `${ldp}BasicContainer`]) {
      it(`${type} contradicts an IRI without a slash: 400 (rule 6.8)`, async () => {
        const iri = s.fresh();
        expectProblem(await s.send('PUT', iri, link(type)), 400, s);
        await s.expectAbsent(iri);
        await s.expectAbsent(`${iri}/`);
      });

      it(`${type} agrees with an IRI that ends in a slash (rule 6.8)`, async () => {
        expect((await s.send('PUT', s.fresh('/'), link(type))).status).to.equal(201);
      });
    }

    for (const type of [`${ldp}RDFSource`, `${ldp}NonRDFSource`])
      it(`${type} contradicts an IRI that ends in a slash: 400 (rule 6.8)`, async () => {
        const iri = s.fresh('/');
        expectProblem(await s.send('PUT', iri, link(type)), 400, s);
        await s.expectAbsent(iri);
      });

    it('ldp:Resource contradicts nothing (rule 6.8)', async () => {
      expect((await s.put(s.fresh(), 'text/plain', 'x', link(`${ldp}Resource`))).status).to.equal(201);
      expect((await s.send('PUT', s.fresh('/'), link(`${ldp}Resource`))).status).to.equal(201);
    });

    for (const [type, body] of [
      ['text/plain', 'x'],
      ['application/json', '{}'],
      ['text/turtle', '<> a <#C> .'],
    ] as const)
      it(`an unconditional PUT on an existing ${type} resource is 428 (rule 6.9)`, async () => {
        const { iri, etag } = await s.stored(type, body);
        expectProblem(await s.put(iri, 'text/plain', 'other'), 428, s);
        expect(await s.tag(iri)).to.equal(etag);
      });

    for (const tag of ['*', '"nobody"', '"a", "b"'])
      it(`If-Match: ${tag} on a nonexistent resource is 412 and creates nothing (rule 6.9)`, async () => {
        const iri = s.fresh();
        expectProblem(await s.put(iri, 'text/plain', 'x', { 'If-Match': tag }), 412, s);
        await s.expectAbsent(iri);
      });

    it('If-Match: * on a nonexistent container is 412 too (rule 6.9)', async () => {
      const iri = s.fresh('/');
      expectProblem(await s.send('PUT', iri, { 'If-Match': '*' }), 412, s);
      await s.expectAbsent(iri);
    });

    it('If-None-Match: * creates (rule 6.9)', async () => {
      expect((await s.put(s.fresh(), 'text/plain', 'x', { 'If-None-Match': '*' })).status).to.equal(201);
    });

    it('If-None-Match: * on an existing resource is 412 (rule 6.9)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      expectProblem(await s.put(iri, 'text/plain', 'y', { 'If-None-Match': '*' }), 412, s);
      expect((await s.get(iri)).text).to.equal('x');
    });

    it('If-Match: * matches any existing resource (rule 6.9)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      expect((await s.put(iri, 'text/plain', 'y', { 'If-Match': '*' })).status).to.equal(204);
      expect((await s.get(iri)).text).to.equal('y');
    });

    it('a replacement with another Content-Type changes the kind (rule 6.10)', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      for (const [type, body, model] of [
        ['image/png', 'bytes', 'NonRDFSource'],
        ['application/json', '{}', 'NonRDFSource'],
        ['application/n-triples', '<http://e.example/s> <http://e.example/p> "o" .\n', 'RDFSource'],
      ] as const) {
        expect((await s.put(iri, type, body, { 'If-Match': '*' })).status).to.equal(204);
        const answer = await s.get(iri, { Accept: type });
        expect([mediaType(answer), answer.text]).to.deep.equal([type, body]);
        expect(linked(answer, 'type')).to.include(`${ldp}${model}`);
      }
    });

    it('412 precedes an invalid body (rule 6.11, order of errors)', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      expectProblem(await s.put(iri, 'text/turtle', '<> a', { 'If-Match': '"stale"' }), 412, s);
    });

    it('428 precedes an invalid body (rule 6.11, order of errors)', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      expectProblem(await s.put(iri, 'text/turtle', '<> a'), 428, s);
    });

    it('a missing parent precedes If-Match (rule 6.11, order of errors)', async () => {
      expectProblem(await s.put(`${s.fresh('/')}x`, 'text/plain', 'x', { 'If-Match': '*' }), 404, s);
    });

    it('reserved names and shape precede authorization (rule 6.11, order of errors)', async () => {
      expectProblem(await s.send('PUT', s.fresh('.acl'), {}, 'x', 'anonymous'), 409, s);
      expectProblem(await s.send('PUT', s.fresh(), asContainer, undefined, 'anonymous'), 400, s);
    });

    it('a type of data resources contradicts an IRI that ends in a slash and agrees with all others (rule 6.8)', async () => {
      const fields = { Link: `<${lws}DataResource>; rel="type"` };
      expectProblem(await s.send('PUT', s.fresh('/'), fields), 400, s);
      for (const type of ['text/turtle', 'application/json', 'text/plain']) {
        const iri = s.fresh();
        expect((await s.put(iri, type, type === 'application/json' ? '{}' : '', fields)).status).to.equal(201);
        expect((await s.get(iri)).headers['content-type']).to.equal(type);
        // In the form that the server sends.
        const both = { Link: `<${ldp}RDFSource>; rel="type", <${lws}DataResource>; rel="type"` };
        if (type === 'text/turtle') expect((await s.put(s.fresh(), type, '', both)).status).to.equal(201);
      }
      const contradiction = { Link: `<${lws}DataResource>; rel="type", <${lws}Container>; rel="type"` };
      expectProblem(await s.send('PUT', s.fresh('/'), contradiction), 400, s);
    });

    it('PUT: a relative target of a Link type resolves against the request target', async () => {
      const iri = s.fresh();
      const fields = { Link: '<#T>; rel="type", <../T>; rel="type"', Prefer: 'set-linkset' };
      expect((await s.put(iri, 'text/turtle', '', fields)).status).to.equal(201);
      expect(linked(await s.get(iri), 'type')).to.include.members([`${iri}#T`, new URL('../T', iri).href]);
    });

    it('PUT: a rejected replacement leaves the old state complete', async () => {
      const { iri, etag } = await s.stored('text/turtle', '<> a <#C> .');
      expectProblem(await s.put(iri, 'text/turtle', '<> a <#D> . <> a', { 'If-Match': etag }), 400, s);
      expect(await s.tag(iri)).to.equal(etag);
    });
  },
  { isOverHttp2: true },
);

describeStorage(
  'PUT without conditional writes',
  (s) => {
    it('with lws.require-conditional-writes=false an unconditional PUT replaces (rule 6.9)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      expect((await s.put(iri, 'text/plain', 'y')).status).to.equal(204);
      expect((await s.get(iri)).text).to.equal('y');
      expectProblem(await s.put(iri, 'text/plain', 'z', { 'If-Match': '"stale"' }), 412, s);
    });
  },
  { settings: { 'require-conditional-writes': 'false' } },
);
