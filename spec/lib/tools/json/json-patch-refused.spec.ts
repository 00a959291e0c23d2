/** JSON Patch: invalid patches and patches that do not apply, with the code and the number of the operation. */
import { expect } from 'chai';
import { refusal } from '../../../support/json-patch.js';

const document = '{"a":{"b":[1,2,3]},"c":"text","n":1.50,"":{"x":1}}';

/** Patches that do not apply: the number of the operation, and the operations. */
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
  ['4.2: a member that is already removed', '[{"op":"remove","path":"/c"},{"op":"remove","path":"/c"}]', 2],
  ['4.2: the whole document', '[{"op":"remove","path":""}]'],
  ['4.2: a leading zero', '[{"op":"remove","path":"/a/b/00"}]'],
  ['4.2: an exponent as an index', '[{"op":"remove","path":"/a/b/1e0"}]'],
  ['4.2: the end of an array', '[{"op":"remove","path":"/a/b/-"}]'],
  ['4.2: the length of a string', '[{"op":"remove","path":"/c/length"}]'],
  ['4.2: part of a number', '[{"op":"remove","path":"/n/text"}]'],
  ['4.2: an inherited property of objects', '[{"op":"remove","path":"/toString"}]'],
  ['4.3: the end of an array', '[{"op":"replace","path":"/a/b/-","value":1}]'],
  ['4.3: the element after the end', '[{"op":"replace","path":"/a/b/3","value":1}]'],
  ['4.3: an inherited property of objects', '[{"op":"replace","path":"/__proto__","value":{}}]'],
  ['4.4: into its own child', '[{"op":"move","from":"/a","path":"/a/b"}]'],
  ['4.4: the document into itself', '[{"op":"move","from":"","path":"/x"}]'],
  ['4.4: an empty name into its own child', '[{"op":"move","from":"/","path":"//y"}]'],
  ['4.4: an index that the move invalidates', '[{"op":"move","from":"/a/b/0","path":"/a/b/3"}]'],
  ['4.4: a nonexistent member to its own position', '[{"op":"move","from":"/z","path":"/z"}]'],
  ['4.4: a leading zero', '[{"op":"move","from":"/a/b/01","path":"/x"}]'],
  ['4.5: an inherited property of objects', '[{"op":"copy","from":"/constructor","path":"/x"}]'],
  ['4.5: an inherited property of arrays', '[{"op":"copy","from":"/a/b/constructor","path":"/x"}]'],
  ['4.5: the end of an array', '[{"op":"copy","from":"/a/b/-","path":"/x"}]'],
  ['4.5: part of a number', '[{"op":"copy","from":"/n/text","path":"/x"}]'],
  ['4.6: one member more', '[{"op":"test","path":"","value":{}}]'],
  ['4.6: one member less', '[{"op":"test","path":"/a","value":{"b":[1,2,3],"c":1}}]'],
  ['4.6: the name of an inherited property', '[{"op":"test","path":"/","value":{"toString":1}}]'],
  ['4.6: another order of elements', '[{"op":"test","path":"/a/b","value":[3,2,1]}]'],
  ['4.6: a shorter array', '[{"op":"test","path":"/a/b","value":[1,2]}]'],
  ['4.6: an array is not an object', '[{"op":"test","path":"/a/b","value":{"0":1,"1":2,"2":3}}]'],
  ['4.6: a number is not an object', '[{"op":"test","path":"/n","value":{"text":"1.50"}}]'],
  ['4.6: an object is not a number', '[{"op":"test","path":"/","value":1.0}]'],
  ['4.6: null is not an object', '[{"op":"test","path":"/a","value":null}]'],
  ['4.6: a nonexistent member is not null', '[{"op":"test","path":"/z","value":null}]'],
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
  ['4: an op with the name of an inherited property', '[{"op":"toString","path":"/c"}]', 1],
  ['4: an op that only the library supports', '[{"op":"_get","path":"/c"}]', 1],
  ['4: an op in capitals', '[{"op":"ADD","path":"/c","value":1}]', 1],
  ['4: no path', '[{"op":"remove"}]', 1],
  ['4: a path that is null', '[{"op":"remove","path":null}]', 1],
  ['4: a path that is a number', '[{"op":"remove","path":1.0}]', 1],
  ['4: a pointer without its slash', '[{"op":"remove","path":"c"}]', 1],
  ['4: an invalid escape', '[{"op":"add","path":"/~2","value":1}]', 1],
  ['4: a truncated escape', '[{"op":"add","path":"/a~","value":1}]', 1],
  ['4: an invalid operation after a valid one', '[{"op":"remove","path":"/c"},{"op":"spam","path":"/c"}]', 2],
  ['4: an invalid operation after one that does not apply', '[{"op":"remove","path":"/z"},{"op":"remove"}]', 2],
  ['4.1: no value', '[{"op":"add","path":"/z"}]', 1],
  ['4.3: no value', '[{"op":"replace","path":"/c"}]', 1],
  ['4.6: no value', '[{"op":"test","path":"/c"}]', 1],
  ['4.4: no from', '[{"op":"move","path":"/z"}]', 1],
  ['4.5: a from without its slash', '[{"op":"copy","from":"c","path":"/z"}]', 1],
];

describe('Rejected JSON patches', () => {
  for (const [what, patch, operation = 1] of conflicts)
    it(`RFC 6902 ${what}: returns a conflict, because it does not apply (rule 6.17)`, () => {
      const { code, message } = refusal(document, patch);
      expect(code).to.equal('patch-conflict');
      expect(message).to.contain(`Operation ${operation} of the JSON Patch does not apply: `);
    });

  for (const [what, patch, operation] of malformed)
    it(`RFC 6902 ${what}: is not a valid patch (rule 6.17)`, () => {
      const { code, message } = refusal(document, patch);
      expect(code).to.equal('malformed-body');
      expect(message).to.contain(operation ? `Operation ${operation} of the JSON Patch ` : 'is an array of operations');
    });

  it('RFC 6902 A.13: an invalid JSON Patch document: uses the last of two members called op', () => {
    const patch = '[{"op":"add","path":"/baz","value":"qux","op":"remove"}]';
    expect(refusal('{"foo":"bar"}', patch).code).to.equal('patch-conflict');
  });
});
