/** JSON Patch: the examples of RFC 6902, the cases that libraries get wrong, and patches that would not end. */
import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { LwsError } from '../../../lib/errors.js';
import { patchJson } from '../../../lib/json/json-patch.js';

const apply = (document: string, patch: string, merge = false): string =>
  Buffer.from(patchJson(Buffer.from(document), Buffer.from(patch), merge)).toString();

function refusal(document: string, patch: string): LwsError {
  try {
    apply(document, patch);
  } catch (error) {
    if (error instanceof LwsError) return error;
    throw error;
  }
  throw new Error(`${patch} applies to ${document}`);
}

/** A document, a patch, and the result. */
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
    '4.1: `add` replaces a member where it is',
    '{"a":1,"b":2}',
    '[{"op":"add","path":"/a","value":3}]',
    '{"a":3,"b":2}',
  ],
  ['4.1: `add` at the end by its index', '[1]', '[{"op":"add","path":"/1","value":2}]', '[1,2]'],
  ['4.1: `add` replaces the whole document', '{"a":1}', '[{"op":"add","path":"","value":[]}]', '[]'],
  ['4.3: null is a value that is there', '{"a":null}', '[{"op":"replace","path":"/a","value":1}]', '{"a":1}'],
  ['4.4: null is moved', '{"a":null}', '[{"op":"move","from":"/a","path":"/b"}]', '{"b":null}'],
  [
    '4.4: a move to where it is changes nothing',
    '{"a":1,"b":2}',
    '[{"op":"move","from":"/a","path":"/a"}]',
    '{"a":1,"b":2}',
  ],
  ['4.4: a part becomes the document', '{"a":{"b":1}}', '[{"op":"move","from":"/a","path":""}]', '{"b":1}'],
  ['4.4: a name that begins with that of `from`', '{"a":1}', '[{"op":"move","from":"/a","path":"/ab"}]', '{"ab":1}'],
  ['4.4: a move replaces what is there', '{"a":1,"b":[2]}', '[{"op":"move","from":"/a","path":"/b"}]', '{"b":1}'],
  [
    '4.5: a copy is another value than its original',
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
    '4.6: the order of members is nothing',
    '{"a":{"x":1,"y":[{}]}}',
    '[{"op":"test","path":"/a","value":{"y":[{}],"x":1}},{"op":"remove","path":"/a"}]',
    '{}',
  ],
  [
    '4.6: a member called hasOwnProperty is one like others',
    '{"a":{"hasOwnProperty":1}}',
    '[{"op":"test","path":"/a","value":{"hasOwnProperty":1}},{"op":"add","path":"/b","value":{"hasOwnProperty":1}}]',
    '{"a":{"hasOwnProperty":1},"b":{"hasOwnProperty":1}}',
  ],
  ['4.6: a name that looks like a number', '{"1e0":"a"}', '[{"op":"test","path":"/1e0","value":"a"}]', '{"1e0":"a"}'],
  [
    '4: a value is part of the patch once, not of the document twice',
    '{}',
    '[{"op":"add","path":"/a","value":{"x":1}},{"op":"add","path":"/a/y","value":2},{"op":"copy","from":"/a","path":"/b"}]',
    '{"a":{"x":1,"y":2},"b":{"x":1,"y":2}}',
  ],
];

/** Names that a JavaScript object treats in a way of its own. */
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
    'constructor and prototype are added and looked into',
    '{}',
    '[{"op":"add","path":"/constructor","value":{}},{"op":"add","path":"/constructor/prototype","value":{}},' +
      '{"op":"add","path":"/constructor/prototype/x","value":1}]',
    '{"constructor":{"prototype":{"x":1}}}',
  ],
  [
    'digits stay where they are',
    '{"b":1,"2":2,"1":{"z":0,"0":0}}',
    '[{"op":"add","path":"/1/00","value":1},{"op":"add","path":"/0","value":3},{"op":"replace","path":"/2","value":4}]',
    '{"b":1,"2":4,"1":{"z":0,"0":0,"00":1},"0":3}',
  ],
  [
    'what looks like a mark of ours is a name like others',
    '{"#1":1,"##1":2,"#__proto__":3}',
    '[{"op":"copy","from":"/#1","path":"/1"},{"op":"remove","path":"/##1"},{"op":"add","path":"/###1","value":4}]',
    '{"#1":1,"#__proto__":3,"1":1,"###1":4}',
  ],
];

const document = '{"a":{"b":[1,2,3]},"c":"text","n":1.50,"":{"x":1}}';

/** Patches of it that do not apply: the number of the operation, and the operations. */
const conflicts: readonly (readonly [what: string, patch: string, operation?: number])[] = [
  ['A.9 testing a value: error', '[{"op":"test","path":"/c","value":"bar"}]'],
  ['A.12 adding to a nonexistent target', '[{"op":"add","path":"/baz/bat","value":"qux"}]'],
  ['A.15 comparing strings and numbers', '[{"op":"test","path":"/a/b/0","value":"1"}]'],
  ['4.1: an index beyond the end', '[{"op":"add","path":"/a/b/4","value":1}]'],
  ['4.1: an index below zero', '[{"op":"add","path":"/a/b/-1","value":1}]'],
  ['4.1: a leading zero', '[{"op":"add","path":"/a/b/01","value":1}]'],
  ['4.1: an index of 2^32', '[{"op":"replace","path":"/a/b/4294967296","value":1}]'],
  ['4.1: a name in an array', '[{"op":"add","path":"/a/b/x","value":1}]'],
  ['4.1: an empty name in an array', '[{"op":"add","path":"/a/b/","value":1}]'],
  ['4.1: an exponent as an index', '[{"op":"add","path":"/a/b/1e0","value":1}]'],
  ['4.1: the length of an array', '[{"op":"add","path":"/a/b/length","value":0}]'],
  ['4.1: a pointer into a string', '[{"op":"add","path":"/c/0","value":1}]'],
  ['4.1: a pointer into a number', '[{"op":"add","path":"/n/text","value":1}]'],
  ['4.1: a pointer through `-`', '[{"op":"add","path":"/a/b/-/x","value":1}]'],
  ['4.2: what is removed already', '[{"op":"remove","path":"/c"},{"op":"remove","path":"/c"}]', 2],
  ['4.2: the whole document', '[{"op":"remove","path":""}]'],
  ['4.2: a leading zero', '[{"op":"remove","path":"/a/b/00"}]'],
  ['4.2: an exponent as an index', '[{"op":"remove","path":"/a/b/1e0"}]'],
  ['4.2: the end of an array', '[{"op":"remove","path":"/a/b/-"}]'],
  ['4.2: the length of a string', '[{"op":"remove","path":"/c/length"}]'],
  ['4.2: part of a number', '[{"op":"remove","path":"/n/text"}]'],
  ['4.2: what every object inherits', '[{"op":"remove","path":"/toString"}]'],
  ['4.3: the end of an array', '[{"op":"replace","path":"/a/b/-","value":1}]'],
  ['4.3: the element behind the end', '[{"op":"replace","path":"/a/b/3","value":1}]'],
  ['4.3: what every object inherits', '[{"op":"replace","path":"/__proto__","value":{}}]'],
  ['4.4: into its own child', '[{"op":"move","from":"/a","path":"/a/b"}]'],
  ['4.4: the document into itself', '[{"op":"move","from":"","path":"/x"}]'],
  ['4.4: an empty name into its own child', '[{"op":"move","from":"/","path":"//y"}]'],
  ['4.4: an index that the move takes away', '[{"op":"move","from":"/a/b/0","path":"/a/b/3"}]'],
  ['4.4: what is not there, to where it is', '[{"op":"move","from":"/z","path":"/z"}]'],
  ['4.4: a leading zero', '[{"op":"move","from":"/a/b/01","path":"/x"}]'],
  ['4.5: what every object inherits', '[{"op":"copy","from":"/constructor","path":"/x"}]'],
  ['4.5: what an array inherits', '[{"op":"copy","from":"/a/b/constructor","path":"/x"}]'],
  ['4.5: the end of an array', '[{"op":"copy","from":"/a/b/-","path":"/x"}]'],
  ['4.5: part of a number', '[{"op":"copy","from":"/n/text","path":"/x"}]'],
  ['4.6: one member more', '[{"op":"test","path":"","value":{}}]'],
  ['4.6: one member less', '[{"op":"test","path":"/a","value":{"b":[1,2,3],"c":1}}]'],
  ['4.6: a name that every object inherits', '[{"op":"test","path":"/","value":{"toString":1}}]'],
  ['4.6: another order of elements', '[{"op":"test","path":"/a/b","value":[3,2,1]}]'],
  ['4.6: a shorter array', '[{"op":"test","path":"/a/b","value":[1,2]}]'],
  ['4.6: an array is no object', '[{"op":"test","path":"/a/b","value":{"0":1,"1":2,"2":3}}]'],
  ['4.6: a number is no object', '[{"op":"test","path":"/n","value":{"text":"1.50"}}]'],
  ['4.6: an object is no number', '[{"op":"test","path":"/","value":1.0}]'],
  ['4.6: null is no object', '[{"op":"test","path":"/a","value":null}]'],
  ['4.6: what is not there is not null', '[{"op":"test","path":"/z","value":null}]'],
  ['5: the last of three', '[{"op":"remove","path":"/c"},{"op":"remove","path":"/n"},{"op":"remove","path":"/z"}]', 3],
];

const malformed: readonly (readonly [what: string, patch: string, operation?: number])[] = [
  ['3: an object', '{"op":"remove","path":"/c"}'],
  ['3: a number', '1.0'],
  ['3: null', 'null'],
  ['4: an operation that is a number', '[1.0]', 1],
  ['4: an operation that is an array', '[["op"]]', 1],
  ['4: no op', '[{"path":"/c"}]', 1],
  ['4: an unknown op', '[{"op":"spam","path":"/c"}]', 1],
  ['4: an op that every object inherits', '[{"op":"toString","path":"/c"}]', 1],
  ['4: an op of the library alone', '[{"op":"_get","path":"/c"}]', 1],
  ['4: an op in capitals', '[{"op":"ADD","path":"/c","value":1}]', 1],
  ['4: no path', '[{"op":"remove"}]', 1],
  ['4: a path that is null', '[{"op":"remove","path":null}]', 1],
  ['4: a path that is a number', '[{"op":"remove","path":1.0}]', 1],
  ['4: a pointer without its slash', '[{"op":"remove","path":"c"}]', 1],
  ['4: an escape that is none', '[{"op":"add","path":"/~2","value":1}]', 1],
  ['4: an escape that ends too early', '[{"op":"add","path":"/a~","value":1}]', 1],
  ['4: a bad operation behind a good one', '[{"op":"remove","path":"/c"},{"op":"spam","path":"/c"}]', 2],
  ['4: a bad operation behind one that does not apply', '[{"op":"remove","path":"/z"},{"op":"remove"}]', 2],
  ['4.1: no value', '[{"op":"add","path":"/z"}]', 1],
  ['4.3: no value', '[{"op":"replace","path":"/c"}]', 1],
  ['4.6: no value', '[{"op":"test","path":"/c"}]', 1],
  ['4.4: no from', '[{"op":"move","path":"/z"}]', 1],
  ['4.5: a from without its slash', '[{"op":"copy","from":"c","path":"/z"}]', 1],
];

describe('JSON Patch', () => {
  for (const [what, before, patch, result] of [...appendixA, ...taken])
    it(`RFC 6902 ${what}`, () => expect(apply(before, patch)).to.equal(result));

  for (const [what, before, patch, result] of named)
    it(`RFC 6902 section 4: any name is one like others: ${what}`, () => {
      expect(apply(before, patch)).to.equal(result);
      expect(Object.keys(Object.prototype)).to.deep.equal([]);
    });

  for (const [what, patch, operation = 1] of conflicts)
    it(`RFC 6902 ${what}: does not apply, and is a conflict (open-points 2.3)`, () => {
      const { code, message } = refusal(document, patch);
      expect(code).to.equal('patch-conflict');
      expect(message).to.contain(`Operation ${operation} of the JSON Patch does not apply: `);
    });

  for (const [what, patch, operation] of malformed)
    it(`RFC 6902 ${what}: is no patch (open-points 2.3)`, () => {
      const { code, message } = refusal(document, patch);
      expect(code).to.equal('malformed-body');
      expect(message).to.contain(operation ? `Operation ${operation} of the JSON Patch ` : 'is an array of operations');
    });

  it('RFC 6902 A.13: an invalid JSON Patch document: the last of two members called op counts', () => {
    const patch = '[{"op":"add","path":"/baz","value":"qux","op":"remove"}]';
    expect(refusal('{"foo":"bar"}', patch).code).to.equal('patch-conflict');
  });

  it('open-points 2.3: a patch that changes nothing gives the very same bytes, whatever their form', () => {
    const bytes = Buffer.from(' { "b" : 1.0 ,\n"1":[ -0, 1e2 ], "b":2.50, "\\u0061":"\\/" } ');
    for (const [patch, merge] of [
      ['[]', false],
      ['[{"op":"test","path":"/1","value":[0,100]}]', false],
      ['[{"op":"add","path":"/x","value":1},{"op":"remove","path":"/x"}]', false],
      ['[{"op":"replace","path":"/b","value":2.50}]', false],
      ['{}', true],
      ['{"1":[-0,1e2],"z":null}', true],
    ] as const)
      expect(patchJson(bytes, Buffer.from(patch), merge), patch).to.equal(bytes);
  });

  it('RFC 6902: of two members of one name the last counts, in documents and patches', () => {
    expect(apply('{"a":1.0,"b":2,"a":3.0}', '[{"op":"add","path":"/c","value":{"x":1,"x":2.0}}]')).to.equal(
      '{"a":3.0,"b":2,"c":{"x":2.0}}',
    );
    expect(apply('{"a":{"b":[1]},"a":{"b":[1]}}', '{"x":1.0,"x":{"y":1}}', true)).to.equal(
      '{"a":{"b":[1]},"x":{"y":1}}',
    );
  });
});

describe('JSON patches that are hostile', () => {
  const operations = (count: number, operation: (index: number) => unknown): string =>
    JSON.stringify(Array.from({ length: count }, (_, index) => operation(index)));

  /** Generous for a machine that does other things, and far below what the work would take without a bound. */
  const soon = (work: () => void): void => {
    const started = performance.now();
    work();
    expect(performance.now() - started).to.be.below(10_000);
  };

  it('RFC 6901 section 3: a pointer of many slashes and a bad escape is refused at once', () =>
    soon(() => {
      const patch = `[{"op":"remove","path":"${'/'.repeat(100_000)}~2"}]`;
      expect(refusal('{}', patch).message).to.contain('has no JSON Pointer');
    }));

  it('open-points 2.3: copies that double a value are refused, whichever values they copy', () => {
    for (const value of ['"text"', '[]', '{"name":{}}', '1.0'])
      soon(() => {
        const patch = operations(40, () => ({ op: 'copy', from: '', path: '/-' }));
        expect(refusal(`[${value}]`, patch).message).to.contain('copy too much');
      });
  });

  it('open-points 2.3: copies of one value that grow the document are refused when they outgrow the request', () => {
    const big = 'x'.repeat(50_000);
    const patch = operations(1000, () => ({ op: 'copy', from: '/0', path: '/-' }));
    expect(refusal(`["${big}"]`, patch).message).to.contain('copy too much');
    expect(refusal(`[1.${big.replaceAll('x', '1')}]`, patch).message).to.contain('copy too much');
    expect(refusal(`[{"${big}":1}]`, patch).message).to.contain('copy too much');
  });

  it('open-points 2.3: ten thousand additions at the beginning of an array apply', () => {
    const patch = operations(10_000, (value) => ({ op: 'add', path: '/0', value }));
    const result = JSON.parse(apply('[]', patch)) as number[];
    expect([result.length, result[0], result[9999]]).to.deep.equal([10_000, 9999, 0]);
  });

  for (const [what, operation] of [
    ['additions', () => ({ op: 'add', path: '/0', value: 1 })],
    ['removals', () => ({ op: 'remove', path: '/0' })],
    ['moves', () => ({ op: 'move', from: '/0', path: '/1' })],
  ] as const)
    it(`open-points 2.3: 100 000 ${what} at the beginning of a long array are refused`, () =>
      soon(() => {
        const document = `[${Array.from({ length: 200_000 }, () => 0).join()}]`;
        expect(refusal(document, operations(100_000, operation)).message).to.contain('beginning of long arrays');
      })).timeout(20_000);

  it('open-points 2.3: 100 000 operations at the end of a long array, or beside a large value, apply', () =>
    soon(() => {
      const document = `{"list":[${Array.from({ length: 200_000 }, () => 0).join()}],"a":1}`;
      const patch = operations(100_000, (index) =>
        index % 2
          ? { op: 'add', path: '/list/-', value: 1 }
          : { op: 'move', from: index % 4 ? '/b' : '/a', path: index % 4 ? '/a' : '/b' },
      );
      const result = JSON.parse(apply(document, patch)) as { list: number[] };
      expect(result.list.length).to.equal(250_000);
    })).timeout(20_000);

  it('open-points 2.3: a large value is not copied each time that another one is moved to its place', () =>
    soon(() => {
      const list = `[[${Array.from({ length: 100_000 }, () => '{}').join()}],1]`;
      const swaps = operations(20_001, () => ({ op: 'move', from: '/1', path: '/0' }));
      expect(apply(list, swaps).slice(0, 5)).to.equal('[1,[{');
    })).timeout(20_000);

  it('open-points 2.1: a value that is moved into others until the stack is full is refused', () => {
    const patch = operations(60_000, (index) =>
      index % 3 === 0
        ? { op: 'add', path: '/b', value: [] }
        : index % 3 === 1
          ? { op: 'move', from: '/a', path: '/b/0' }
          : { op: 'move', from: '/b', path: '/a' },
    );
    expect(refusal('{"a":[]}', patch).message).to.contain('nested deeper than 64');
    const copied = `${patch.slice(0, -1)},{"op":"copy","from":"/a","path":"/c"}]`;
    expect(refusal('{"a":[1.0]}', copied).message).to.contain('nested deeper than 64');
  });

  it('open-points 2.1: a patch may nest a document 64 levels deep, and no deeper', () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    expect(apply('{}', nested(64), true)).to.equal(nested(64));
    const add = (levels: number): string => `[{"op":"add","path":"/a/a","value":${nested(levels)}}]`;
    expect(apply('{"a":{}}', add(62))).to.equal(nested(64));
    expect(refusal('{"a":{}}', add(61).replace(':1}', ':[[]]}')).message).to.contain('nested deeper than 64');
  });
});
