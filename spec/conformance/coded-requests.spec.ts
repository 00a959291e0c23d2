/** Rule 10.10. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

const encoders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync } as const;
const digestOf = (bytes: Uint8Array | string): string =>
  `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
const kinds = [
  ['text/plain', 'hello '.repeat(500)],
  ['application/json', '{"a":[1,2,3]}'],
  ['text/turtle', '<> a <#C> .'],
] as const;

describeStorage('Requests with a content coding', (s) => {
  for (const [coding, encode] of Object.entries(encoders))
    for (const [type, body] of kinds) {
      const fields = { 'Content-Encoding': coding };
      it(`stores the decoded ${type} of a ${coding} body (rule 10.10)`, async () => {
        const plain = await s.stored(type, body);
        const iri = s.fresh();
        expect((await s.put(iri, type, encode(body), fields)).status).to.equal(201);
        const answer = await s.get(iri);
        expect(answer.bytes).to.deep.equal((await s.get(plain.iri)).bytes);
        expect(answer.headers['content-encoding']).to.equal(undefined);
        const chunks = [...encode(body)].map((byte) => Uint8Array.of(byte));
        expect((await s.put(s.fresh(), type, chunks, fields)).status).to.equal(201);
      });

      it(`compares Content-Digest with the encoded bytes of a ${coding} body of ${type} (rule 10.6)`, async () => {
        const right = { ...fields, 'Content-Digest': digestOf(encode(body)) };
        expect((await s.put(s.fresh(), type, encode(body), right)).status).to.equal(201);
        const iri = s.fresh();
        const wrong = { ...fields, 'Content-Digest': digestOf(body) };
        expectProblem(await s.put(iri, type, encode(body), wrong), 400, s);
        await s.expectAbsent(iri);
      });

      it(`returns 400 for incomplete, damaged or continued ${coding} data of ${type} and stores nothing (rule 10.10)`, async () => {
        const whole = encode(body);
        const damaged = Buffer.from(whole).fill(0xff, whole.length >> 1);
        const iri = s.fresh();
        for (const bytes of [
          whole.subarray(0, -1),
          whole.subarray(0, 3),
          // No coding has an empty form.
          Buffer.alloc(0),
          damaged,
          Buffer.concat([whole, Buffer.alloc(9)]),
        ])
          expectProblem(await s.put(iri, type, bytes, fields), 400, s);
        await s.expectAbsent(iri);
      });
    }

  it('decodes patches, queries, linksets and forms (rule 10.10)', async () => {
    const { iri, etag } = await s.stored('text/turtle', '<> a <#C> .');
    const coded = { 'Content-Encoding': 'gzip' };
    const update = gzipSync('INSERT DATA { <#a> <#b> <#c> }');
    expect((await s.patch(iri, 'application/sparql-update', update, { ...coded, 'If-Match': etag })).status).to.equal(
      204,
    );
    const asked = gzipSync(`ASK { GRAPH <${iri}> { <${iri}#a> ?p ?o } }`);
    const found = await s.post(`${s.root}.lws/sparql`, 'application/sparql-query', asked, coded);
    expect(JSON.parse(found.text)).to.include({ boolean: true });
    const form = brotliCompressSync('query=ASK+%7B%7D');
    const fields = { 'Content-Encoding': 'br' };
    expect((await s.post(`${s.root}.lws/sparql`, 'application/x-www-form-urlencoded', form, fields)).status).to.equal(
      200,
    );
    const linkset = deflateSync('{"linkset":[{"describedby":[{"href":"https://shape.example/"}]}]}');
    const conditions = { 'Content-Encoding': 'deflate', 'If-Match': '*' };
    expect((await s.put(`${iri}.meta`, 'application/linkset+json', linkset, conditions)).status).to.equal(204);
  });

  it('accepts names of codings in any case, x-gzip and identity, and gzip data of several members (rule 10.10)', async () => {
    const parts = Buffer.concat([gzipSync('one '), gzipSync('two')]);
    for (const coding of ['GZip', 'x-gzip', ' gzip ']) {
      const iri = s.fresh();
      expect((await s.put(iri, 'text/plain', parts, { 'Content-Encoding': coding })).status, coding).to.equal(201);
      expect((await s.get(iri)).text).to.equal('one two');
    }
    expect((await s.put(s.fresh(), 'text/plain', 'a', { 'Content-Encoding': 'identity' })).status).to.equal(201);
  });

  it('returns 415 with Accept-Encoding for other and several codings (rule 10.10)', async () => {
    for (const coding of ['zstd', 'compress', 'gzip, gzip', 'gzip, br', 'identity, gzip', 'constructor']) {
      const iri = s.fresh();
      const answer = await s.put(iri, 'text/plain', gzipSync(gzipSync('a')), { 'Content-Encoding': coding });
      expectProblem(answer, 415, s);
      expect(answer.headers['accept-encoding']).to.equal('gzip, br, deflate');
      await s.expectAbsent(iri);
    }
    const raw = { 'Content-Encoding': 'deflate' };
    expectProblem(await s.put(s.fresh(), 'text/plain', deflateRawSync('a'), raw), 400, s);
  });

  it('creates a container from a coded empty body, and rejects others (rule 6.7)', async () => {
    const coded = { 'Content-Encoding': 'gzip' };
    expect((await s.send('PUT', s.fresh('/'), coded)).status).to.equal(201);
    expect((await s.send('PUT', s.fresh('/'), coded, gzipSync(''))).status).to.equal(201);
    expectProblem(await s.send('PUT', s.fresh('/'), coded, gzipSync('a')), 409, s);
  });
});
