/** Bad input: malformed JSON (rule 1.6). Malformed patches: patch-*.spec.ts. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

const malformed: Readonly<Record<string, string | Uint8Array>> = {
  'an empty body': '',
  blanks: ' \n',
  'an open object': '{"a":1',
  'an open string': '"abc',
  'a trailing comma': '[1,]',
  'single quotes': "{'a':1}",
  'an unquoted name': '{a:1}',
  NaN: 'NaN',
  'a leading zero': '01',
  'a comment': '{} // x',
  'two documents': '{}{}',
  'a control character in a string': '"a\u0001"',
  'a bad escape': '"\\x"',
  'bytes that are no UTF-8': Uint8Array.of(0x22, 0xff, 0xfe, 0x22),
  'a truncated UTF-8 sequence': Uint8Array.of(0x22, 0xe2, 0x82, 0x22),
  'UTF-16': Buffer.from('{"a":1}', 'utf16le'),
  'a NUL': Uint8Array.of(0),
};
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describeStorage('Bad input: JSON', (s) => {
  let container = '';
  before(async () => {
    container = await s.container();
  });

  for (const type of ['application/json', 'application/vnd.example+json; charset=utf-8'])
    for (const [what, body] of Object.entries(malformed))
      it(`Bad input, rule 1.6: ${type} that is ${what} is 400 and stores nothing`, async () => {
        expectProblem(await s.put(`${container}x`, type, body), 400, s);
        expectProblem(await s.post(container, type, body), 400, s);
        expect(await s.members(container)).to.deep.equal([]);
      });

  it('Bad input, rule 1.6: a malformed replacement leaves the document unchanged', async () => {
    const { iri, etag } = await s.stored('application/json', '{"a":1}');
    expectProblem(await s.put(iri, 'application/json', '{"a":', { 'If-Match': etag }), 400, s);
    const answer = await s.get(iri);
    expect([answer.text, answer.headers['etag']]).to.deep.equal(['{"a":1}', etag]);
  });

  it('JSON nested 64 levels deep is stored, 65 is 400 (rule 1.9)', async () => {
    expect((await s.put(s.fresh(), 'application/json', nested(64))).status).to.equal(201);
    expectProblem(await s.put(s.fresh(), 'application/json', nested(65)), 400, s);
    expectProblem(await s.put(s.fresh(), 'application/json', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`), 400, s);
  });

  it('Bad input, extreme lengths: JSON nested a million levels deep is 400', async () => {
    expectProblem(await s.put(s.fresh(), 'application/json', nested(1_000_000)), 400, s);
  });

  it('brackets in strings do not count as nesting (rule 1.9)', async () => {
    const body = JSON.stringify({ a: `${'['.repeat(200)}"\\`, b: ['[[[['] });
    expect((await s.put(s.fresh(), 'application/json', body)).status).to.equal(201);
  });

  it('a patch may not nest a document deeper than 64 levels (rule 1.9)', async () => {
    const { iri, etag } = await s.stored('application/json', '{}');
    let deep: unknown = 1;
    for (let i = 0; i < 63; i++) deep = [deep];
    const add = JSON.stringify([
      { op: 'add', path: '/a', value: deep },
      { op: 'copy', from: '/a', path: `/a${'/0'.repeat(62)}/-` },
    ]);
    const answer = await s.patch(iri, 'application/json-patch+json', add);
    expectProblem(answer, [400, 409], s);
    expect(await s.tag(iri)).to.equal(etag);
  });

  it('Bad input: Content-Type application/ld+json is RDF, not generic JSON', async () => {
    expectProblem(await s.put(s.fresh(), 'application/ld+json', '{"@id":{}}'), 400, s);
  });
});
