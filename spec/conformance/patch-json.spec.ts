/** Rules 6.15 and 6.17, and the matrix: JSON patches on JSON resources. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import { mediaType } from '../support/rdf.js';

const mergePatch = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const before = '{"a":{"b":[1,2,3]},"c":"x","d/e":1,"f~g":2}';

/** RFC 7386, appendix A: original, patch, result. */
const appendixA: readonly (readonly [string, string, string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

describeStorage('PATCH of JSON resources', (s) => {
  const patched = async (original: string, type: string, patch: unknown): Promise<unknown> => {
    const { iri, etag } = await s.stored('application/json', original);
    const answer = await s.patch(iri, type, typeof patch === 'string' ? patch : JSON.stringify(patch));
    expect(answer.status, answer.text).to.equal(204);
    const read = await s.get(iri);
    expect(read.headers['etag']).to.equal(answer.headers['etag']).and.not.to.equal(etag);
    expect(mediaType(read)).to.equal('application/json');
    return JSON.parse(read.text);
  };

  for (const [original, patch, result] of appendixA)
    it(`${original} with ${patch} is ${result} (rule 6.14, RFC 7386)`, async () => {
      expect(await patched(original, mergePatch, patch)).to.deep.equal(JSON.parse(result));
    });

  for (const [what, operations, change] of [
    ['add', [{ op: 'add', path: '/n', value: [1] }], { n: [1] }],
    ['add to an array', [{ op: 'add', path: '/a/b/1', value: 9 }], { a: { b: [1, 9, 2, 3] } }],
    ['add at the end of an array', [{ op: 'add', path: '/a/b/-', value: 4 }], { a: { b: [1, 2, 3, 4] } }],
    ['remove', [{ op: 'remove', path: '/a/b/0' }], { a: { b: [2, 3] } }],
    ['replace', [{ op: 'replace', path: '/c', value: null }], { c: null }],
    ['move', [{ op: 'move', from: '/a/b/0', path: '/m' }], { a: { b: [2, 3] }, m: 1 }],
    ['copy', [{ op: 'copy', from: '/c', path: '/a/c' }], { a: { b: [1, 2, 3], c: 'x' } }],
    [
      'escaped pointers',
      [
        { op: 'replace', path: '/d~1e', value: 3 },
        { op: 'replace', path: '/f~0g', value: 4 },
      ],
      { 'd/e': 3, 'f~g': 4 },
    ],
    [
      'a test that holds',
      [
        { op: 'test', path: '/a', value: { b: [1, 2, 3] } },
        { op: 'replace', path: '/c', value: 'y' },
      ],
      { c: 'y' },
    ],
  ] as const)
    it(`PATCH matrix, RFC 6902: ${what}`, async () => {
      expect(await patched(before, jsonPatch, operations)).to.deep.equal({ ...JSON.parse(before), ...change });
    });

  it('PATCH matrix, RFC 6902: the whole document can be replaced', async () => {
    expect(await patched(before, jsonPatch, [{ op: 'replace', path: '', value: [1] }])).to.deep.equal([1]);
  });

  it('PATCH matrix: a +json resource is patched and keeps its type', async () => {
    const { iri } = await s.stored('application/geo+json', '{"a":1}');
    expect((await s.patch(iri, mergePatch, '{"a":2}')).status).to.equal(204);
    const answer = await s.get(iri);
    expect([mediaType(answer), JSON.parse(answer.text)]).to.deep.equal(['application/geo+json', { a: 2 }]);
  });

  const refused = async (type: string, patch: string, status: number | number[]): Promise<void> => {
    const { iri, etag } = await s.stored('application/json', before);
    expectProblem(await s.patch(iri, type, patch), status, s);
    const answer = await s.get(iri);
    expect([answer.text, answer.headers['etag']]).to.deep.equal([before, etag]);
  };

  for (const [what, patch] of [
    ['a failing test', '[{"op":"test","path":"/c","value":"y"}]'],
    ['a failing test after a change', '[{"op":"remove","path":"/c"},{"op":"test","path":"/a","value":1}]'],
    ['a removal of a missing member', '[{"op":"remove","path":"/z"}]'],
    ['a replacement of a missing member', '[{"op":"replace","path":"/z","value":1}]'],
    ['an addition below a missing member', '[{"op":"add","path":"/z/y","value":1}]'],
    ['an index beyond the array', '[{"op":"add","path":"/a/b/9","value":1}]'],
    ['a move from a missing member', '[{"op":"move","from":"/z","path":"/y"}]'],
    ['a test of a missing member', '[{"op":"test","path":"/z","value":null}]'],
    ['a pointer into a string', '[{"op":"add","path":"/c/d","value":1}]'],
    ['a pointer through a prototype', '[{"op":"add","path":"/constructor/prototype/p","value":1}]'],
  ] as const)
    it(`${what} is 409 and changes nothing (rule 6.17, JSON Patch)`, () => refused(jsonPatch, patch, 409));

  for (const [what, patch] of [
    ['an object', '{"op":"remove","path":"/c"}'],
    ['a scalar', '1'],
    ['an unknown operation', '[{"op":"spam","path":"/c"}]'],
    ['an operation without op', '[{"path":"/c"}]'],
    ['an operation without path', '[{"op":"remove"}]'],
    ['an addition without value', '[{"op":"add","path":"/z"}]'],
    ['a move without from', '[{"op":"move","path":"/z"}]'],
    ['an operation that is not an object', '[null]'],
    ['a path that is not a string', '[{"op":"remove","path":1}]'],
    ['a bad operation after a good one', '[{"op":"remove","path":"/c"},{"op":"spam","path":"/c"}]'],
    ['malformed JSON', '[{"op":"remove","path":"/c"}'],
    ['an empty body', ''],
  ] as const)
    it(`${what} is 400 and changes nothing (rule 6.17, JSON Patch)`, () => refused(jsonPatch, patch, 400));

  it('a pointer without its slash is rejected (rule 6.17, JSON Patch)', () =>
    refused(jsonPatch, '[{"op":"remove","path":"c"}]', [400, 409]));

  for (const [what, patch] of [
    ['malformed JSON', '{"a":'],
    ['an empty body', ''],
    ['JSON nested deeper than 64', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`],
  ] as const)
    it(`${what} is 400 and changes nothing (rule 1.6, merge patch)`, () => refused(mergePatch, patch, 400));

  it('a patch that changes nothing is 204 with the same ETag (rule 6.13)', async () => {
    const { iri, etag } = await s.stored('application/json', '{"a":1}');
    for (const [type, patch] of [
      [mergePatch, '{}'],
      [mergePatch, '{"z":null}'],
      [jsonPatch, '[]'],
      [jsonPatch, '[{"op":"test","path":"/a","value":1}]'],
    ] as const) {
      const answer = await s.patch(iri, type, patch);
      expect([answer.status, answer.headers['etag']], patch).to.deep.equal([204, etag]);
    }
  });

  it('PATCH: a member named __proto__ is stored as a normal member', async () => {
    expect(await patched('{"a":1}', mergePatch, '{"__proto__":{"polluted":true}}')).to.not.have.property('polluted');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('Conditional requests rule 3: a stale If-Match is 412; a current one patches', async () => {
    const { iri, etag } = await s.stored('application/json', '{"a":1}');
    expect((await s.patch(iri, mergePatch, '{"a":2}', { 'If-Match': etag })).status).to.equal(204);
    expectProblem(await s.patch(iri, mergePatch, '{"a":3}', { 'If-Match': etag }), 412, s);
    expect((await s.get(iri)).text).to.match(/^\{\s*"a":\s*2\s*\}\s*$/);
  });

  it('412 precedes the result of a patch test (rule 4.3)', async () => {
    const { iri } = await s.stored('application/json', '{"a":1}');
    const patch = '[{"op":"test","path":"/a","value":2}]';
    expectProblem(await s.patch(iri, jsonPatch, patch, { 'If-Match': '"stale"' }), 412, s);
  });

  for (const type of ['application/sparql-update', 'application/json', 'text/n3'])
    it(`PATCH matrix: a JSON resource rejects ${type}: 415 with Accept-Patch`, async () => {
      const { iri } = await s.stored('application/json', '{}');
      const answer = await s.patch(iri, type, 'INSERT DATA { <a> <b> <c> }');
      expectProblem(answer, 415, s);
      expect(listOf(answer, 'accept-patch')).to.have.members([jsonPatch, mergePatch]);
    });

  for (const type of ['application/sparql-update', jsonPatch, mergePatch])
    it(`PATCH matrix: a binary resource rejects ${type}: 415`, async () => {
      const { iri } = await s.stored('text/plain', '{}');
      expectProblem(await s.patch(iri, type, '{}'), [405, 415], s);
      expect((await s.get(iri)).text).to.equal('{}');
    });
});
