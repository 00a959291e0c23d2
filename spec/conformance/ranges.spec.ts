/** Rule 7.4. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

const body = '0123456789';

describeStorage(
  'Byte ranges',
  (s) => {
    let iri = '';
    let etag = '';
    before(async () => {
      ({ iri, etag } = await s.stored('text/plain', body));
    });

    it('Byte ranges: a binary resource has Accept-Ranges: bytes', async () => {
      for (const answer of [await s.get(iri), await s.head(iri)])
        expect(answer.headers['accept-ranges']).to.equal('bytes');
    });

    for (const [range, text, place] of [
      ['bytes=0-3', '0123', '0-3'],
      ['bytes=4-', '456789', '4-9'],
      ['bytes=-3', '789', '7-9'],
      ['bytes=9-9', '9', '9-9'],
      ['bytes=5-500', '56789', '5-9'],
      ['bytes=-500', body, '0-9'],
      ['BYTES=1-2', '12', '1-2'],
    ] as const)
      it(`Byte ranges: ${range} is 206 with its bytes and Content-Range`, async () => {
        const answer = await s.get(iri, { Range: range });
        expect([answer.status, answer.text]).to.deep.equal([206, text]);
        expect(answer.headers['content-range']).to.equal(`bytes ${place}/10`);
        expect(answer.headers['content-length']).to.equal(String(text.length));
        expect(answer.headers['content-type']).to.equal('text/plain');
        expect(answer.headers['etag']).to.equal(etag);
      });

    for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=999999999999999999999-', 'bytes=-0'])
      it(`Byte ranges: ${range} cannot be satisfied: 416 with the length`, async () => {
        const answer = await s.get(iri, { Range: range });
        expectProblem(answer, 416, s);
        expect(answer.headers['content-range']).to.equal('bytes */10');
      });

    for (const range of ['bytes=0-1,4-5', 'bytes=0-0, -1', 'bytes=0-,0-'])
      it(`Byte ranges, rule 7.4: several ranges (${range}) return the whole: 200`, async () => {
        const answer = await s.get(iri, { Range: range });
        expect([answer.status, answer.text]).to.deep.equal([200, body]);
        expect(answer.headers['content-range']).to.equal(undefined);
      });

    for (const range of [
      'bytes',
      'bytes=',
      'bytes=a-b',
      'bytes=5-2',
      'bytes=-',
      'bytes=1--2',
      'lines=1-2',
      '0-3',
      'bytes 0-3',
      'bytes=0x1-2',
    ])
      it(`Bad input, Range: "${range}" is malformed or has another unit and is ignored (RFC 9110, 14.2)`, async () => {
        const answer = await s.get(iri, { Range: range });
        expect([answer.status, answer.text]).to.deep.equal([200, body]);
      });

    it('Byte ranges: a JSON resource is stored as bytes and supports them too', async () => {
      const { iri: json } = await s.stored('application/json', '{"a":1}');
      const answer = await s.get(json, { Range: 'bytes=1-3' });
      expect([answer.status, answer.text]).to.deep.equal([206, '"a"']);
    });

    it('Byte ranges: an RDF resource is not stored as bytes: 200', async () => {
      const { iri: rdf } = await s.stored('text/turtle', '<> a <#C> .');
      const answer = await s.get(rdf, { Range: 'bytes=0-3' });
      expect(answer.status).to.equal(200);
      expect(answer.text).to.equal((await s.get(rdf)).text);
    });

    it('Byte ranges: an empty resource has no satisfiable range', async () => {
      const { iri: empty } = await s.stored('text/plain', '');
      const answer = await s.get(empty, { Range: 'bytes=0-0' });
      expectProblem(answer, 416, s);
      expect(answer.headers['content-range']).to.equal('bytes */0');
    });

    it('Byte ranges, rule 7.4: If-Range with the current ETag returns the range', async () => {
      expect((await s.get(iri, { Range: 'bytes=0-1', 'If-Range': etag })).status).to.equal(206);
    });

    for (const value of ['"other"', 'weak', 'Thu, 01 Jan 1970 00:00:00 GMT', 'garbage'])
      it(`Byte ranges, rule 7.4: If-Range with ${value} returns the whole`, async () => {
        const answer = await s.get(iri, { Range: 'bytes=0-1', 'If-Range': value === 'weak' ? `W/${etag}` : value });
        expect([answer.status, answer.text]).to.deep.equal([200, body]);
      });

    it('Byte ranges: a failed If-Range prevents 416 for an unsatisfiable range', async () => {
      expect((await s.get(iri, { Range: 'bytes=99-', 'If-Range': '"other"' })).status).to.equal(200);
    });

    it('Conditional requests rule 2: a satisfied If-None-Match precedes the range', async () => {
      expect((await s.get(iri, { Range: 'bytes=0-1', 'If-None-Match': etag })).status).to.equal(304);
    });

    it('Byte ranges: ranges of a large resource return its bytes', async () => {
      const bytes = Buffer.alloc(1 << 20, 0).map((_, i) => (i * 7 + (i >> 8)) & 255);
      const { iri: large } = await s.stored('application/octet-stream', bytes);
      const answer = await s.get(large, { Range: 'bytes=65530-200000' });
      expect(answer.status).to.equal(206);
      expect(answer.bytes.equals(bytes.subarray(65530, 200001))).to.equal(true);
      expect((await s.get(large)).bytes.equals(bytes)).to.equal(true);
    });

    it('RFC 9110 13.1.5: an If-Range date matches only if the content changed once in that second', async () => {
      const { iri: made, etag: first } = await s.stored('text/plain', 'one');
      const range = { Range: 'bytes=0-0' };
      const date = (await s.get(made)).headers['last-modified']!;
      expect((await s.get(made, { ...range, 'If-Range': date })).status).to.equal(206);
      let [etag, before, isOfOneSecond] = [first, date, false];
      // Repeats until two changes happen within one second.
      for (let i = 0; i < 20 && !isOfOneSecond; i++) {
        etag = (await s.put(made, 'text/plain', `${i}00`, { 'If-Match': etag })).headers['etag']!;
        const now = (await s.get(made)).headers['last-modified']!;
        isOfOneSecond = now === before;
        before = now;
        if (!isOfOneSecond) continue;
        const answer = await s.get(made, { ...range, 'If-Range': now });
        expect([answer.status, answer.text]).to.deep.equal([200, `${i}00`]);
      }
      expect(isOfOneSecond).to.equal(true);
      expect((await s.get(made, { ...range, 'If-Range': etag })).status).to.equal(206);
    });
  },
  { isOverHttp2: true },
);
