/** Rule 10.6. */

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

type Algorithm = 'sha-256' | 'sha-512';
const digest = (algorithm: Algorithm, body: string | Uint8Array): string =>
  `${algorithm}=:${createHash(algorithm.replace('-', '')).update(body).digest('base64')}:`;

describeStorage('Integrity', (s) => {
  const kinds = [
    ['text/plain', 'hello'],
    ['application/json', '{"a":1}'],
    ['text/turtle', '<> a <#C> .'],
  ] as const;

  for (const [type, body] of kinds) {
    for (const algorithm of ['sha-256', 'sha-512'] as const)
      it(`a matching ${algorithm} Content-Digest accepts a ${type} body (rule 10.6)`, async () => {
        const fields = { 'Content-Digest': digest(algorithm, body) };
        expect((await s.put(s.fresh(), type, body, fields)).status).to.equal(201);
        expect((await s.post(s.scratch, type, body, fields)).status).to.equal(201);
      });

    for (const [what, field] of [
      ['of another body (sha-256)', digest('sha-256', 'other')],
      ['of another body (sha-512)', digest('sha-512', 'other')],
      ['with one right and one wrong digest', `${digest('sha-256', body)}, ${digest('sha-512', 'other')}`],
      ['with a digest that is too short', 'sha-256=:YWJj:'],
      ['that is a token', 'sha-256=abc'],
      ['that is a string', 'sha-256="abc"'],
      ['with a name alone', 'sha-256'],
      ['whose base64 is none', 'sha-256=:!!!!:'],
      ['that is not a dictionary', ':::'],
      ['that ends early', digest('sha-256', body).slice(0, -1)],
    ] as const)
      it(`a Content-Digest ${what} rejects a ${type} body: 400, nothing stored (rule 10.6)`, async () => {
        const container = await s.container();
        const fields = { 'Content-Digest': field };
        expectProblem(await s.put(`${container}x`, type, body, fields), 400, s);
        expectProblem(await s.post(container, type, body, fields), 400, s);
        expect(await s.members(container)).to.deep.equal([]);
      });

    it(`unsupported algorithms are ignored (${type}) (rule 10.6)`, async () => {
      for (const field of ['md5=:AAAA:', `unixsum=:AAAA:, ${digest('sha-256', body)}`])
        expect((await s.put(s.fresh(), type, body, { 'Content-Digest': field })).status, field).to.equal(201);
      expectProblem(
        await s.put(s.fresh(), type, body, { 'Content-Digest': `md5=:AAAA:, ${digest('sha-256', 'x')}` }),
        400,
        s,
      );
    });

    it(`a mismatch leaves a ${type} resource unchanged (rule 10.6)`, async () => {
      const { iri, etag } = await s.stored(type, body);
      const fields = { 'If-Match': etag, 'Content-Digest': digest('sha-256', 'other') };
      expectProblem(await s.put(iri, type, body, fields), 400, s);
      expect(await s.tag(iri)).to.equal(etag);
    });

    it(`Want-Repr-Digest returns the digest of the ${type} representation, also with HEAD (rule 10.7)`, async () => {
      const { iri } = await s.stored(type, body);
      const fields = { 'Want-Repr-Digest': 'sha-256=1' };
      const answer = await s.get(iri, fields);
      expect(answer.headers['repr-digest']).to.equal(digest('sha-256', answer.bytes));
      expect((await s.head(iri, fields)).headers['repr-digest']).to.equal(answer.headers['repr-digest']);
    });

    it(`Want-Content-Digest returns the digest of the ${type} content (rule 10.7)`, async () => {
      const { iri } = await s.stored(type, body);
      const answer = await s.get(iri, { 'Want-Content-Digest': 'sha-256=5' });
      expect(answer.headers['content-digest']).to.equal(digest('sha-256', answer.bytes));
    });
  }

  it('the body of a patch is verified (rule 10.6)', async () => {
    const { iri, etag } = await s.stored('application/json', '{"a":1}');
    const type = 'application/merge-patch+json';
    expectProblem(await s.patch(iri, type, '{"a":2}', { 'Content-Digest': digest('sha-256', '{"a":3}') }), 400, s);
    expect(await s.tag(iri)).to.equal(etag);
    expect((await s.patch(iri, type, '{"a":2}', { 'Content-Digest': digest('sha-512', '{"a":2}') })).status).to.equal(
      204,
    );
  });

  it('the body of a SPARQL update is verified (rule 10.6)', async () => {
    const { iri, etag } = await s.stored('text/turtle', '');
    const text = 'INSERT DATA { <a> <b> <c> }';
    const fields = { 'Content-Digest': digest('sha-256', 'other') };
    expectProblem(await s.patch(iri, 'application/sparql-update', text, fields), 400, s);
    expect(await s.tag(iri)).to.equal(etag);
  });

  it('a chunked body is verified (rule 10.6)', async () => {
    const iri = s.fresh();
    const fields = { 'Content-Digest': digest('sha-256', 'abcdef') };
    expectProblem(await s.put(iri, 'text/plain', ['abc', 'deX'], fields), 400, s);
    await s.expectAbsent(iri);
    expect((await s.put(iri, 'text/plain', ['abc', 'def'], fields)).status).to.equal(201);
  });

  for (const [want, algorithm] of [
    ['sha-512=3, sha-256=10', 'sha-256'],
    ['sha-512=9, sha-256=1', 'sha-512'],
    ['sha-256=5, sha-512=5', 'sha-512'],
    ['md5=10, sha-256=1', 'sha-256'],
    ['sha-512=0, sha-256=1', 'sha-256'],
    ['sha-512=1', 'sha-512'],
  ] as const)
    it(`of "${want}" the highest weight wins, with equal weights the stronger: ${algorithm} (rule 10.7)`, async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const answer = await s.get(iri, { 'Want-Repr-Digest': want, 'Want-Content-Digest': want });
      expect(answer.headers['repr-digest']).to.equal(digest(algorithm, answer.bytes));
      expect(answer.headers['content-digest']).to.equal(digest(algorithm, answer.bytes));
    });

  for (const want of ['md5=5', 'sha-256=0', 'sha-256=11', 'sha-256="x"', '=', 'sha-256=1, ,'])
    it(`"${want}" names no supported algorithm and is ignored (rule 10.7)`, async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const answer = await s.get(iri, { 'Want-Repr-Digest': want, 'Want-Content-Digest': want });
      expect(answer.status).to.equal(200);
      expect([answer.headers['repr-digest'], answer.headers['content-digest']]).to.deep.equal([undefined, undefined]);
    });

  it('without a Want field no digest is sent (rule 10.7)', async () => {
    const { headers } = await s.get((await s.stored('text/turtle', '')).iri);
    expect([headers['repr-digest'], headers['content-digest']]).to.deep.equal([undefined, undefined]);
  });

  it('the digest is that of the negotiated representation (rule 10.7)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    const answer = await s.get(iri, { Accept: 'application/rdf+xml', 'Want-Repr-Digest': 'sha-256=1' });
    expect(answer.headers['repr-digest']).to.equal(digest('sha-256', answer.bytes));
  });

  it('container listings support digests too (rule 10.7)', async () => {
    const answer = await s.get(s.scratch, { 'Want-Repr-Digest': 'sha-256=1' });
    expect(answer.headers['repr-digest']).to.equal(digest('sha-256', answer.bytes));
  });

  it('a range has the Repr-Digest of the whole representation and no Content-Digest (rule 10.7)', async () => {
    const { iri } = await s.stored('text/plain', 'hello');
    const wants = { 'Want-Repr-Digest': 'sha-256=1', 'Want-Content-Digest': 'sha-256=1' };
    const answer = await s.get(iri, { Range: 'bytes=1-2', ...wants });
    expect([answer.status, answer.text]).to.deep.equal([206, 'el']);
    expect(answer.headers['repr-digest']).to.equal(digest('sha-256', 'hello'));
    expect(answer.headers['content-digest']).to.equal(undefined);
  });

  it('OPTIONS and responses to writes carry Want-Content-Digest (rule 10.7)', async () => {
    const iri = s.fresh();
    const answers = {
      create: await s.put(iri, 'text/turtle', ''),
      replace: await s.put(iri, 'text/turtle', '<> a <#C> .', { 'If-Match': '*' }),
      patch: await s.patch(iri, 'application/sparql-update', 'INSERT DATA { <a> <b> <c> }'),
      post: await s.post(s.scratch, 'text/plain', 'x'),
      options: await s.options(iri),
      container: await s.options(s.scratch),
      delete: await s.delete(iri),
    };
    for (const [what, { headers }] of Object.entries(answers)) {
      expect(headers['want-content-digest'], what).to.match(/\bsha-256=(?:[1-9]|10)\b/);
      expect(headers['want-content-digest'], what).to.match(/\bsha-512=(?:[1-9]|10)\b/);
    }
  });

  it('a mismatch rejects the creation of a container and a DELETE, and changes nothing (rule 10.6)', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x');
    for (const field of [digest('sha-256', 'other'), ':::']) {
      const fields = { 'Content-Digest': field };
      expectProblem(await s.send('PUT', `${container}c/`, fields), 400, s);
      expectProblem(await s.send('POST', container, { ...fields, Slug: 'c/' }), 400, s);
      expectProblem(await s.delete(iri, fields), 400, s);
      expectProblem(await s.send('DELETE', iri, fields, 'a body'), 400, s);
    }
    expect(await s.members(container)).to.deep.equal([]);
    expect((await s.get(iri)).text).to.equal('x');
    const empty = { 'Content-Digest': digest('sha-256', '') };
    expect((await s.send('PUT', `${container}c/`, empty)).status).to.equal(201);
    expect((await s.delete(`${container}c/`, empty)).status).to.equal(204);
    expect((await s.send('DELETE', iri, { 'Content-Digest': digest('sha-512', 'a body') }, 'a body')).status).to.equal(
      204,
    );
  });

  it('an algorithm with weight 0 is not used, for any resource size (rule 10.7)', async () => {
    const bytes = Buffer.alloc((1 << 20) + 1, 'x');
    const { iri } = await s.stored('application/octet-stream', bytes);
    const wants = 'sha-512=10, sha-256=0';
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await s.send(method, iri, { 'Want-Content-Digest': wants, 'Want-Repr-Digest': wants });
      expect(headers['content-digest'], method).to.equal(digest('sha-512', bytes));
      expect(headers['repr-digest'], method).to.equal(digest('sha-512', bytes));
    }
    const part = await s.get(iri, { Range: 'bytes=0-0', 'Want-Repr-Digest': wants });
    expect([part.status, part.headers['repr-digest']]).to.deep.equal([206, digest('sha-512', bytes)]);
  });
});
