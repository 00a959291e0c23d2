/** JSON Patch: the examples of RFC 6902 that apply, and cases that libraries get wrong. */
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Documents } from '../../../../lib/documents/documents.js';
import { patchJson } from '../../../../lib/tools/json/json-patch.js';
import { apply } from '../../../support/json-patch.js';

/** Document, patch, and result. */
type Case = readonly [what: string, document: string, patch: string, result: string];

const appendixA: readonly Case[] = [
  [
    'A.1 adding an object member',
    '{"foo":"bar"}',
    '[{"op":"add","path":"/baz","value":"qux"}]',
    '{"foo":"bar","baz":"qux"}',
  ],
  [
    'A.2 adding an array element',
    '{"foo":["bar","baz"]}',
    '[{"op":"add","path":"/foo/1","value":"qux"}]',
    '{"foo":["bar","qux","baz"]}',
  ],
  ['A.3 removing an object member', '{"baz":"qux","foo":"bar"}', '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}'],
  [
    'A.4 removing an array element',
    '{"foo":["bar","qux","baz"]}',
    '[{"op":"remove","path":"/foo/1"}]',
    '{"foo":["bar","baz"]}',
  ],
  [
    'A.5 replacing a value',
    '{"baz":"qux","foo":"bar"}',
    '[{"op":"replace","path":"/baz","value":"boo"}]',
    '{"baz":"boo","foo":"bar"}',
  ],
  [
    'A.6 moving a value',
    '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
    '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
    '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
  ],
  [
    'A.7 moving an array element',
    '{"foo":["all","grass","cows","eat"]}',
    '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
    '{"foo":["all","cows","eat","grass"]}',
  ],
  [
    'A.8 testing a value: success',
    '{"baz":"qux","foo":["a",2,"c"]}',
    '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
    '{"baz":"qux","foo":["a",2,"c"]}',
  ],
  [
    'A.10 adding a nested member object',
    '{"foo":"bar"}',
    '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
    '{"foo":"bar","child":{"grandchild":{}}}',
  ],
  [
    'A.11 ignoring unrecognized elements',
    '{"foo":"bar"}',
    '[{"op":"add","path":"/baz","value":"qux","xyz":123}]',
    '{"foo":"bar","baz":"qux"}',
  ],
  ['A.14 escape ordering', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":10}]', '{"/":9,"~1":10}'],
  [
    'A.16 adding an array value',
    '{"foo":["bar"]}',
    '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
    '{"foo":["bar",["abc","def"]]}',
  ],
];

const taken: readonly Case[] = [
  ['4.1: an empty name is a name', '{}', '[{"op":"add","path":"/","value":1}]', '{"":1}'],
  ['4.1: a slash at the end is an empty name', '{"a":{}}', '[{"op":"add","path":"/a/","value":1}]', '{"a":{"":1}}'],
  ['4.1: digits may be a name', '{"foo":1}', '[{"op":"add","path":"/0","value":"bar"}]', '{"foo":1,"0":"bar"}'],
  ['4.1: `-` may be a name', '{"foo":1}', '[{"op":"add","path":"/-","value":"bar"}]', '{"foo":1,"-":"bar"}'],
  ['4.1: 01 may be a name', '{}', '[{"op":"add","path":"/01","value":1}]', '{"01":1}'],
  [
    '4.1: `add` replaces a member in its position',
    '{"a":1,"b":2}',
    '[{"op":"add","path":"/a","value":3}]',
    '{"a":3,"b":2}',
  ],
  ['4.1: `add` at the end by its index', '[1]', '[{"op":"add","path":"/1","value":2}]', '[1,2]'],
  ['4.1: `add` replaces the whole document', '{"a":1}', '[{"op":"add","path":"","value":[]}]', '[]'],
  ['4.3: null is an existing value', '{"a":null}', '[{"op":"replace","path":"/a","value":1}]', '{"a":1}'],
  ['4.4: null is moved', '{"a":null}', '[{"op":"move","from":"/a","path":"/b"}]', '{"b":null}'],
  [
    '4.4: a move to its own position changes nothing',
    '{"a":1,"b":2}',
    '[{"op":"move","from":"/a","path":"/a"}]',
    '{"a":1,"b":2}',
  ],
  ['4.4: a part becomes the document', '{"a":{"b":1}}', '[{"op":"move","from":"/a","path":""}]', '{"b":1}'],
  ['4.4: a name that begins with that of `from`', '{"a":1}', '[{"op":"move","from":"/a","path":"/ab"}]', '{"ab":1}'],
  ['4.4: a move replaces the target', '{"a":1,"b":[2]}', '[{"op":"move","from":"/a","path":"/b"}]', '{"b":1}'],
  [
    '4.5: a copy is independent of its original',
    '{"a":{"x":[1]}}',
    '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/x/-","value":2}]',
    '{"a":{"x":[1]},"b":{"x":[1,2]}}',
  ],
  [
    '4.5: the document is copied into itself',
    '{"a":1}',
    '[{"op":"copy","from":"","path":"/b"}]',
    '{"a":1,"b":{"a":1}}',
  ],
  [
    '4.6: the order of members is not significant',
    '{"a":{"x":1,"y":[{}]}}',
    '[{"op":"test","path":"/a","value":{"y":[{}],"x":1}},{"op":"remove","path":"/a"}]',
    '{}',
  ],
  [
    '4.6: a member called hasOwnProperty has no special meaning',
    '{"a":{"hasOwnProperty":1}}',
    '[{"op":"test","path":"/a","value":{"hasOwnProperty":1}},{"op":"add","path":"/b","value":{"hasOwnProperty":1}}]',
    '{"a":{"hasOwnProperty":1},"b":{"hasOwnProperty":1}}',
  ],
  ['4.6: a name that looks like a number', '{"1e0":"a"}', '[{"op":"test","path":"/1e0","value":"a"}]', '{"1e0":"a"}'],
  [
    '4: a value that is used twice is not shared in the document',
    '{}',
    '[{"op":"add","path":"/a","value":{"x":1}},{"op":"add","path":"/a/y","value":2},{"op":"copy","from":"/a","path":"/b"}]',
    '{"a":{"x":1,"y":2},"b":{"x":1,"y":2}}',
  ],
];

/** Names with a special meaning in JavaScript objects. */
const named: readonly Case[] = [
  [
    '__proto__ is added, replaced, copied and moved',
    '{"a":1}',
    '[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"add","path":"/__proto__/y","value":2},' +
      '{"op":"copy","from":"/__proto__","path":"/b"},{"op":"move","from":"/b/x","path":"/b/__proto__"}]',
    '{"a":1,"__proto__":{"x":1,"y":2},"b":{"y":2,"__proto__":1}}',
  ],
  [
    '__proto__ is removed and tested',
    '{"__proto__":[1],"a":{"__proto__":{}}}',
    '[{"op":"test","path":"/__proto__","value":[1]},{"op":"remove","path":"/__proto__"},' +
      '{"op":"test","path":"","value":{"a":{"__proto__":{}}}}]',
    '{"a":{"__proto__":{}}}',
  ],
  [
    'constructor and prototype are added and traversed',
    '{}',
    '[{"op":"add","path":"/constructor","value":{}},{"op":"add","path":"/constructor/prototype","value":{}},' +
      '{"op":"add","path":"/constructor/prototype/x","value":1}]',
    '{"constructor":{"prototype":{"x":1}}}',
  ],
  [
    'digits keep their position',
    '{"b":1,"2":2,"1":{"z":0,"0":0}}',
    '[{"op":"add","path":"/1/00","value":1},{"op":"add","path":"/0","value":3},{"op":"replace","path":"/2","value":4}]',
    '{"b":1,"2":4,"1":{"z":0,"0":0,"00":1},"0":3}',
  ],
  [
    'a name like an internal mark has no special meaning',
    '{"#1":1,"##1":2,"#__proto__":3}',
    '[{"op":"copy","from":"/#1","path":"/1"},{"op":"remove","path":"/##1"},{"op":"add","path":"/###1","value":4}]',
    '{"#1":1,"#__proto__":3,"1":1,"###1":4}',
  ],
];

describe('JSON Patch', () => {
  for (const [what, before, patch, result] of [...appendixA, ...taken])
    it(`RFC 6902 ${what}`, () => expect(apply(before, patch)).to.equal(result));

  for (const [what, before, patch, result] of named)
    it(`RFC 6902 section 4: gives no name a special meaning: ${what}`, () => {
      expect(apply(before, patch)).to.equal(result);
      expect(Object.keys(Object.prototype)).to.deep.equal([]);
    });

  it('returns the same bytes for a patch that changes nothing, in any form (rule 6.13)', () => {
    const bytes = Buffer.from(' { "b" : 1.0 ,\n"1":[ -0, 1e2 ], "b":2.50, "\\u0061":"\\/" } ');
    for (const [patch, merge] of [
      ['[]', false],
      ['[{"op":"test","path":"/1","value":[0,100]}]', false],
      ['[{"op":"add","path":"/x","value":1},{"op":"remove","path":"/x"}]', false],
      ['[{"op":"replace","path":"/b","value":2.50}]', false],
      ['{}', true],
      ['{"1":[-0,1e2],"z":null}', true],
    ] as const)
      expect(patchJson({ bytes, patch: Buffer.from(patch), merge }), patch).to.equal(bytes);
  });

  it('RFC 6902: uses the last of two members of one name, in documents and patches', () => {
    expect(apply('{"a":1.0,"b":2,"a":3.0}', '[{"op":"add","path":"/c","value":{"x":1,"x":2.0}}]')).to.equal(
      '{"a":3.0,"b":2,"c":{"x":2.0}}',
    );
    expect(apply('{"a":{"b":[1]},"a":{"b":[1]}}', '{"x":1.0,"x":{"y":1}}', true)).to.equal(
      '{"a":{"b":[1]},"x":{"y":1}}',
    );
  });
});

describe('A patch of JSON that is applied in a thread', () => {
  it('is moved to the thread with the document, and can be applied again (rule 1.10)', async () => {
    const documents = new Documents({ updateTimeoutMs: 10_000 });
    const { postMessage } = Worker.prototype;
    const moved: number[] = [];
    Worker.prototype.postMessage = function (value: unknown, moves: readonly ArrayBuffer[] = []) {
      // Their length is 0 afterwards.
      moved.push(...moves.map(({ byteLength }) => byteLength));
      return postMessage.call(this, value, moves as never);
    };
    try {
      const text = 'x'.repeat(100_000);
      const [bytes, patch] = [Buffer.from('{"a":1}'), Buffer.from(JSON.stringify({ b: text }))];
      for (let attempt = 0; attempt < 2; attempt++)
        expect(JSON.parse(Buffer.from(await documents.patchJson(bytes, patch, true)).toString())).to.deep.equal({
          a: 1,
          b: text,
        });
      expect(moved).to.deep.equal([bytes, patch, bytes, patch].map(({ length }) => length));
    } finally {
      Worker.prototype.postMessage = postMessage;
      await documents.close();
    }
  }).timeout(30_000);
});
