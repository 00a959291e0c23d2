/** JSON patches of random documents against a model of RFC 6902 and RFC 7386, byte by byte: all digits and all members. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LwsError } from '../../lib/tools/errors.js';
import { apply } from '../support/json-patch.js';
import { enough, runs } from '../support/speed.js';
import * as model from './json-model.js';

const words = (text: string): string[] => text.split(' ');

const zeros = '0 -0 0.0 -0e9 0E-999999999';
const ones = '1 1.0 1e0 10e-1 0.1e1 1.00000000000000000000';
const large = '12345678901234567890 12345678901234567891 1.2345678901234567890e19 9007199254740993 1e21 1E+21 1e+21';
const precise = '0.1 0.10 1.234567890123456789 1.2345678901234567890 5e-324 0.0000001 1e-7';
const outside = '1e400 10e399 -1e400 1e-400 1e999999999 10e999999998 100e-1000000000 1e-999999998';
const form = fc.oneof(
  fc.constantFrom(...words(`${zeros} ${ones} ${large} ${precise} ${outside}`)),
  fc.stringMatching(/^-?(0|[1-9]\d{0,21})(\.\d{1,4})?([eE][+-]?\d{1,3})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);
const digits = form.map((text) => new model.Digits(text));

const names = [
  ...words('a b 0 1 7 10 01 -1 4294967295 __proto__ constructor prototype toString hasOwnProperty toJSON length'),
  ...words('# #1 ##1 #__proto__ #a _ __ a/b m~n ~1 größe value text known 日本 "q" \\'),
  ...['', ' ', '\n', '\ud800', '\u2028'],
];
const name = fc.constantFrom(...names);
const text = fc.oneof(name, fc.constantFrom('12345678901234567890', '1.0', '[', '{"1":1.0}', '\\"1":1.0'));
const { tree } = fc.letrec<{ tree: model.Tree; array: model.Tree; object: model.Tree }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4 }, digits, text, fc.constantFrom(null, true, false), tie('array'), tie('object')),
  array: fc.array(tie('tree'), { maxLength: 4 }),
  object: fc.array(fc.tuple(name, tie('tree')), { maxLength: 5 }).map((members) => new Map(members)),
}));
const object = fc.array(fc.tuple(name, tree), { minLength: 1, maxLength: 6 }).map((members) => new Map(members));
const document: fc.Arbitrary<model.Tree> = fc.oneof({ weight: 5, arbitrary: object }, fc.array(tree), tree);

/** Serializes a string with every character escaped. */
const escaping = (value: string): string => {
  const codes = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at).toString(16).padStart(4, '0'));
  return `"${codes.map((code) => `\\u${code}`).join('')}"`;
};
const style: fc.Arbitrary<model.Style> = fc.record({
  blank: fc.constantFrom('', ' ', '\r\n\t'),
  string: fc.constantFrom(JSON.stringify, escaping),
});

/** Operation before the document is known. Its numbers select existing locations. */
interface Draft {
  readonly op: model.Operation['op'];
  readonly at: number;
  readonly from: number;
  /** Replaces the last token of the pointer, or follows it. */
  readonly token: string | undefined;
  readonly deeper: boolean;
  readonly value: model.Tree;
  /** True for a test that holds. */
  readonly holds: boolean;
}
const draft: fc.Arbitrary<Draft> = fc.record({
  op: fc.constantFrom('add', 'add', 'remove', 'replace', 'move', 'copy', 'test'),
  at: fc.nat(),
  from: fc.nat(),
  token: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    fc.constantFrom('-', '0', '1', '2', '9', '4294967296', '1e0', '00', ...names),
  ),
  deeper: fc.boolean(),
  value: tree,
  holds: fc.boolean(),
});

const escaped = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');

function pointersIn(value: model.Tree, at = ''): string[] {
  if (Array.isArray(value)) return [at, ...value.flatMap((element, index) => pointersIn(element, `${at}/${index}`))];
  if (!(value instanceof Map)) return [at];
  return [at, ...[...value].flatMap(([member, inner]) => pointersIn(inner, `${at}/${escaped(member)}`))];
}

function operationOf(draft: Draft, before: model.Tree): model.Operation {
  const { op, token, deeper, value, holds } = draft;
  const pointers = pointersIn(before);
  const there = pointers[draft.at % pointers.length]!;
  const path = token === undefined ? there : `${deeper ? there : there.replace(/\/[^/]*$/, '')}/${escaped(token)}`;
  if (op === 'test') return holds ? { op, path: there, value: model.valueAt(before, there) } : { op, path, value };
  if (op === 'move' || op === 'copy') return { op, path, from: pointers[draft.from % pointers.length]! };
  return op === 'remove' ? { op, path } : { op, path, value };
}

/** Returns the operations of drafts, each for the result of the preceding ones. Stops after the first operation that does not apply. */
function operationsOf(drafts: readonly Draft[], given: model.Tree): model.Operation[] {
  const operations: model.Operation[] = [];
  let before = given;
  for (const draft of drafts) {
    const operation = operationOf(draft, before);
    operations.push(operation);
    const after = attempt(() => model.patched(before, [operation]));
    if (after instanceof model.Conflict) break;
    before = after;
  }
  return operations;
}

function attempt(work: () => model.Tree): model.Tree | model.Conflict {
  try {
    return work();
  } catch (error) {
    if (error instanceof model.Conflict) return error;
    throw error;
  }
}

/** Returns the expected text: the same bytes if the patch changes nothing. */
const resultText = (text: string, before: model.Tree, after: model.Tree): string =>
  model.textOf(before) === model.textOf(after) ? text : model.textOf(after);

describe('JSON patches of random documents', () => {
  it('RFC 6902 sections 4 and 5: produce the result of the model, byte by byte, or are rejected', () => {
    let applied = 0;
    let refused = 0;
    fc.assert(
      fc.property(document, style, fc.array(draft, { minLength: 1, maxLength: 4 }), (before, written, drafts) => {
        const operations = operationsOf(drafts, before);
        const text = model.textOf(before, written);
        const patch = model.operationText(operations);
        const after = attempt(() => model.patched(before, operations));
        if (after instanceof model.Conflict) {
          refused++;
          const refusal = `Operation ${operations.length} of the JSON Patch does not apply`;
          expect(() => apply(text, patch, false), `${text} with ${patch}`).to.throw(LwsError, refusal);
        } else {
          applied++;
          expect(apply(text, patch, false), `${text} with ${patch}`).to.equal(resultText(text, before, after));
        }
      }),
      { numRuns: runs(3000) },
    );
    expect([applied > enough(500), refused > enough(500)], `${applied} applied, ${refused} rejected`).to.deep.equal([
      true,
      true,
    ]);
  });

  it('RFC 7386 section 2: a merge patch produces the result of the model, byte by byte', () => {
    fc.assert(
      fc.property(document, style, fc.oneof({ weight: 5, arbitrary: object }, tree), style, (before, a, patch, b) => {
        const text = model.textOf(before, a);
        const change = model.textOf(patch, b);
        const wanted = resultText(text, before, model.merged(before, patch));
        expect(apply(text, change, true), `${text} with ${change}`).to.equal(wanted);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('RFC 6902 section 4.6: a test of two numbers holds if and only if they are numerically equal', () => {
    const shifted = fc.tuple(digits, fc.nat(30)).map(([number, zeros]): [model.Digits, model.Digits] => {
      const [mantissa, exponent = '0'] = number.form.toLowerCase().split('e');
      const longer = `${mantissa}${mantissa!.includes('.') ? '' : '.'}0${'0'.repeat(zeros)}`;
      return [number, new model.Digits(`${longer}e${exponent}`)];
    });
    const held = { equal: 0, different: 0 };
    fc.assert(
      fc.property(fc.oneof(shifted, fc.tuple(digits, digits)), ([a, b]) => {
        const holds = model.decimal(a) === model.decimal(b);
        held[holds ? 'equal' : 'different']++;
        const test = (): string => apply(`{"n":${a.form}}`, `[{"op":"test","path":"/n","value":${b.form}}]`, false);
        if (holds) expect(test(), `${a.form} is ${b.form}`).to.equal(`{"n":${a.form}}`);
        else expect(test, `${a.form} is not ${b.form}`).to.throw(LwsError, 'its test failed');
      }),
      { numRuns: runs(2000) },
    );
    expect(Math.min(held.equal, held.different)).to.be.above(enough(200));
  });
});
