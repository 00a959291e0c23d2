/** Numbers of JSON resources keep their digits through patches (rules 1.9, 6.13; RFC 8259 section 6; RFC 6902 section 4.6). */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

const type = 'application/json';
const mergePatch = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';

/** Numbers that JavaScript would write in another form. */
const numbers = [
  '12345678901234567890',
  '12345678901234567890.123',
  '-0',
  '1.0',
  '1.50',
  '1e400',
  '-1E-400',
  '1e2',
  '0.1000000000000000055511151231257827',
  '1e999999999',
];

describeStorage('Numbers of patched JSON resources', (s) => {
  const patched = async (before: string, patchType: string, patch: string): Promise<string> => {
    const { iri } = await s.stored(type, before);
    const answer = await s.patch(iri, patchType, patch);
    expect(answer.status, answer.text).to.equal(204);
    return (await s.get(iri)).text;
  };

  for (const number of numbers) {
    it(`RFC 8259 section 6: ${number} is preserved when another member is patched`, async () => {
      const before = `{"id":${number},"list":[{"n":${number}}],"x":1}`;
      const after = `{"id":${number},"list":[{"n":${number}}],"x":2}`;
      expect(await patched(before, jsonPatch, '[{"op":"replace","path":"/x","value":2}]')).to.equal(after);
      expect(await patched(before, mergePatch, '{"x":2}')).to.equal(after);
    });

    it(`RFC 8259 section 6: ${number} is stored as written in a patch`, async () => {
      const add = `[{"op":"add","path":"/n","value":[${number}]}]`;
      expect(await patched('{"x":1}', jsonPatch, add)).to.equal(`{"x":1,"n":[${number}]}`);
      expect(await patched('{"x":1}', mergePatch, `{"n":[${number}]}`)).to.equal(`{"x":1,"n":[${number}]}`);
    });
  }

  it('RFC 6902 sections 4.4 and 4.5: numbers keep their digits when they are moved and copied', async () => {
    const operations = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'move', from: '/a/0', path: '/c' },
    ];
    expect(await patched('{"a":[1.00,{"n":12345678901234567890}]}', jsonPatch, JSON.stringify(operations))).to.equal(
      '{"a":[{"n":12345678901234567890}],"b":[1.00,{"n":12345678901234567890}],"c":1.00}',
    );
  });

  it('RFC 8259 section 6: a document above the size limit of the HTTP thread keeps its digits too', async () => {
    const members = Array.from(
      { length: 5000 },
      (_, index) => `"m${index}":${index}.10,"${index}":1234567890123456789`,
    );
    const before = `{${members.join()},"x":1}`;
    const after = before.replace('"x":1', '"x":2.0');
    // Avoids a diff of 100 kB on failure.
    expect((await patched(before, mergePatch, '{"x":2.0}')) === after).to.equal(true);
    expect((await patched(before, jsonPatch, '[{"op":"add","path":"/x","value":2.0}]')) === after).to.equal(true);
  });

  it('RFC 7386 and RFC 6902: members keep their order, for any names', async () => {
    const before = '{"b":1,"2":2,"__proto__":{"z":1,"0":2},"1":3,"a":4}';
    const after = '{"b":1,"2":2,"__proto__":{"z":1,"0":2,"y":5},"1":3,"a":4}';
    expect(await patched(before, jsonPatch, '[{"op":"add","path":"/__proto__/y","value":5}]')).to.equal(after);
    expect(await patched(before, mergePatch, '{"__proto__":{"y":5}}')).to.equal(after);
  });

  for (const [number, value] of [
    ['-0', '0'],
    ['0', '-0.0'],
    ['1', '1.0'],
    ['100', '1e2'],
    ['12345678901234567890', '1.234567890123456789e19'],
    ['1e999999999', '10.0e999999998'],
  ] as const)
    it(`RFC 6902 section 4.6: a test of ${number} against ${value} succeeds and changes nothing`, async () => {
      const { iri, etag } = await s.stored(type, `{"n": ${number}}`);
      const answer = await s.patch(iri, jsonPatch, `[{"op":"test","path":"","value":{"n":${value}}}]`);
      expect([answer.status, answer.headers['etag']], answer.text).to.deep.equal([204, etag]);
      expect((await s.get(iri)).text).to.equal(`{"n": ${number}}`);
    });

  for (const [number, value] of [
    ['12345678901234567890', '12345678901234567891'],
    ['1e400', '1e401'],
    ['0', '1e-400'],
    ['1', '-1'],
    ['0.1', '0.1000000000000000055511151231257827'],
    ['1', '"1"'],
    ['1.0', '{"value":"1.0"}'],
  ] as const)
    it(`RFC 6902 section 4.6: a test of ${number} against ${value} fails: 409, nothing changed`, async () => {
      const { iri, etag } = await s.stored(type, `{"n":${number}}`);
      const patch = `[{"op":"remove","path":"/n"},{"op":"add","path":"/n","value":${number}},
        {"op":"test","path":"/n","value":${value}}]`;
      expectProblem(await s.patch(iri, jsonPatch, patch), 409, s);
      expect(await s.tag(iri)).to.equal(etag);
    });

  it('a patch that changes nothing returns 204 with the same ETag and the same bytes (rule 6.13)', async () => {
    const body = '{ "2": 1.0,\n  "1": [ -0, 1e400 ] }';
    const { iri, etag } = await s.stored(type, body);
    for (const [patchType, patch] of [
      [jsonPatch, '[{"op":"replace","path":"/2","value":1.0},{"op":"move","from":"/1","path":"/1"}]'],
      [mergePatch, '{"1":[-0,1e400]}'],
    ] as const) {
      const answer = await s.patch(iri, patchType, patch);
      expect([answer.status, answer.headers['etag']], answer.text).to.deep.equal([204, etag]);
    }
    expect((await s.get(iri)).text).to.equal(body);
  });

  it('RFC 6902 section 3, rule 6.13: a patch with superlinear cost is rejected and changes nothing', async () => {
    const { iri, etag } = await s.stored(type, '["x"]');
    const copies = Array.from({ length: 40 }, () => ({ op: 'copy', from: '', path: '/-' }));
    expectProblem(await s.patch(iri, jsonPatch, JSON.stringify(copies)), 400, s);
    expectProblem(await s.patch(iri, jsonPatch, `[{"op":"remove","path":"${'/'.repeat(5000)}~"}]`), 400, s);
    expectProblem(await s.patch(iri, jsonPatch, '[{"op":"remove","path":""}]'), 409, s);
    expect(await s.tag(iri)).to.equal(etag);
  });
});
