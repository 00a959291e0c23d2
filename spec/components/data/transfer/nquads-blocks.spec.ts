/** Fast parser of N-Quads, compared with n3, which parses the remaining lines. */
import type { NamedNode, Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { Parser } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import { DocumentFactory } from '../../../../components/data/exchange/document-factory.js';
import { nquadsBlocks } from '../../../../components/data/exchange/nquads-blocks.js';
import '../../../support/random-seed.js';
import { enough, runs } from '../../../support/speed.js';

const xsd = 'http://www.w3.org/2001/XMLSchema#';
const iris = ['<http://e.example/s>', '<urn:x>', '<http://é.example/ü?q#f>', '<mailto:a@b>', '<http://e.example/🜁>'];
const oddIris = ['<a>', '<>', '<http://e.example/a b>', '<http://e.example/\\u0061>', '<http://e.example/{>', '<1a:b>'];
const labels = ['_:b0', '_:a-b', '_:_', '_:0', '_:b0123456789abcdef01234567x0000', '_:a.b', '_:é', '_:-', '_:a.'];
const literals = [
  ...['""', '"a"', '"a\\tb\\n\\"\\\\"', '"é🜁"', '"\\u00e9\\U0001F701"', '"a\\x"', '"a"b"', `"'"`, '"\\ud800"'],
  ...['"a"@en', '"a"@de-CH-1996', '"a"@', '"a"@toolonglang', '"a"@en--ltr', '"a" @en', '"a"@en-', '"a"@EN'],
  ...[
    `"1"^^<${xsd}integer>`,
    `"a"^^<${xsd}string>`,
    '"a"^^<x>',
    '"a"^^_:b',
    `"a" ^^<${xsd}int>`,
    '"\u0000\u0085\u2028"',
  ],
  '"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>',
];
/** Returns one of the usual values, rarely one of the odd ones. */
const one = (usual: readonly string[], odd: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 60, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const space = one([' ', '\t', '  '], ['', '\u00a0']);
const gap = one(['', ' '], ['\u00a0', 'x']);
const node = one([...iris, ...labels.slice(0, 5)], [...labels, ...oddIris, '"a"', '']);
const statement = fc
  .tuple(
    ...[gap, node, space, one(iris, ['_:b', ...oddIris]), space],
    ...[fc.oneof(node, one(literals.slice(0, 4), literals), one(literals, literals)), space],
    ...[one(['', ...iris], ['_:g', '<g>', '""']), gap, one(['.'], ['', '..', ',']), gap],
    one(['', '', '# comment'], ['#', 'x', '\r', '<x:y> <x:y> <x:y> .']),
  )
  .map((parts) => parts.join(''));
const filler = fc.constantFrom('', '  ', '# <http://e.example/s>', '\t# é', '\r');
const lines = fc.array(fc.oneof({ weight: 4, arbitrary: statement }, { weight: 1, arbitrary: filler }), {
  maxLength: 12,
});

const shown = (quad: Quad): string => JSON.stringify([quad.subject, quad.predicate, quad.object, quad.graph]);

/** Returns the quads of n3, up to the first rejected line. */
function expected(
  all: readonly string[],
  factory: DataFactory<Quad>,
): { quads: string[]; refused: number | undefined } {
  const quads: string[] = [];
  for (const [index, line] of all.entries()) {
    if (/^[ \t]*(?:#.*)?\r?$/.test(line)) continue;
    const parser = new Parser({ format: 'application/n-quads', blankNodePrefix: '_:', factory: factory as never });
    try {
      const [quad, ...others] = parser.parse(`${line}\n`) as Quad[];
      if (!quad || others.length > 0) return { quads, refused: index + 1 };
      quads.push(shown(quad));
    } catch {
      return { quads, refused: index + 1 };
    }
  }
  return { quads, refused: undefined };
}

async function found(bytes: Buffer, factory: DataFactory<Quad>, chunk: number) {
  const quads: string[] = [];
  const places: number[] = [];
  let refused: number | undefined;
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += chunk)
      yield { bytes: bytes.subarray(at, at + chunk), read: Math.min(bytes.length, at + chunk) };
  };
  for await (const block of nquadsBlocks(pieces(), { name: 'x.nq', offset: 0, line: 0 }, factory)) {
    quads.push(...block.quads.map(shown));
    places.push(...block.lines.slice(0, block.quads.length));
    if (block.fault) refused = Number(/^x\.nq:(\d+): /.exec(block.fault.message)![1]);
  }
  return { quads, refused, places };
}

describe('Lines of N-Quads', () => {
  it('are parsed like by n3, up to the first rejected one', async () => {
    const rewrites = [{ from: 'http://e.example/', to: 'http://é.example/' }];
    let [read, refusals] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 300 }),
        async (all, bom, moves, chunk) => {
          const factory = (): DataFactory<Quad> =>
            moves ? new DocumentFactory(rewrites, '0'.repeat(24)) : new DataFactory();
          const bytes = Buffer.from((bom ? '\ufeff' : '') + all.join('\n'));
          // The first chunk must contain the whole byte order mark.
          const result = await found(bytes, factory(), bom ? Math.max(3, chunk) : chunk);
          const wanted = expected(all, factory());
          expect({ quads: result.quads, refused: result.refused }).to.deep.equal(wanted);
          read += wanted.quads.length;
          refusals += wanted.refused === undefined ? 0 : 1;
          const statements = all.flatMap((line, index) => (/^[ \t]*(?:#.*)?\r?$/.test(line) ? [] : [index + 1]));
          expect(result.places).to.deep.equal(statements.slice(0, result.quads.length));
        },
      ),
      { numRuns: runs(4_000) },
    );
    expect(read).to.be.above(enough(4_000));
    expect(refusals).to.be.above(enough(1_000));
  });

  it('are parsed up to their second statement only', async () => {
    class Counting extends DataFactory<Quad> {
      made = 0;
      override namedNode<T extends string>(value: T): NamedNode<T> {
        this.made++;
        return super.namedNode(value);
      }
    }
    const factory = new Counting();
    const statement = '<urn:s> <urn:p> <urn:o> .';
    const bytes = Buffer.from(`${statement}\n${`${statement} `.repeat(10_000)}\n`);
    expect(await found(bytes, factory, bytes.length)).to.deep.include({ refused: 2, places: [1] });
    expect(factory.made).to.be.below(40);
  });
});
