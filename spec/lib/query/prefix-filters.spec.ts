/** STRSTARTS and REGEX below aggregates: terms with a prefix as ranges of numbers, against the texts of all objects. */
import type { Literal, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { MemoryNumbers } from '../../../lib/query/memory/memory-numbers.js';
import { base, engineAnswer, graphNames, type SpecLevel, type SpecTriple, specLevel } from './engine-dataset.js';
import { halfInFiles, halfInMemory, inMemory } from './engine-memory.js';

const factory = new DataFactory();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const starts = ['', 'a', 'ab', 'abc', 'b', 'z', '~', '1', 'http', `${base}p`, '\u00e4', 'a\u{10000}', 'a b', 'a\n'];
const texts = starts.flatMap((start) =>
  [0, 1, 2, 7, 40, 300].flatMap((length) => ['a', '~', 'z'].map((each) => start + each.repeat(length))),
);
const objects: readonly Term[] = [...new Set(texts).values()].flatMap((text, at): Term[] => [
  factory.literal(text),
  ...(at % 3 === 0 ? [factory.literal(text, 'en')] : []),
  ...(at % 4 === 0 ? [factory.literal(text, factory.namedNode(`${xsd}anyURI`))] : []),
  ...(at % 5 === 0 ? [factory.namedNode(`${base}${encodeURIComponent(text)}`)] : []),
  ...(at % 7 === 0
    ? [factory.literal(String(at), factory.namedNode(`${xsd}integer`)), factory.blankNode(`a${at}`)]
    : []),
]);

const isString = (term: Term): boolean =>
  term.termType === 'Literal' && ((term as Literal).language !== '' || term.datatype.value === `${xsd}string`);
const hasText = (term: Term): boolean => term.termType !== 'BlankNode';

/** Conditions, whether they need a string, and the prefix. */
const conditions = [
  'a',
  'ab',
  'abc',
  'aa',
  'b',
  'z',
  '~',
  '~~',
  '1',
  'x',
  'http',
  'http://',
  `${base}p`,
  base,
  'a b',
  'ab'.repeat(20),
].flatMap(
  (prefix) =>
    [
      [`STRSTARTS(?o, "${prefix}")`, isString, prefix],
      [`STRSTARTS(STR(?o), "${prefix}")`, hasText, prefix],
      ...(/[.]/.test(prefix)
        ? []
        : ([
            [`REGEX(?o, "^${prefix}")`, isString, prefix],
            [`REGEX(STR(?o), "^${prefix}")`, hasText, prefix],
          ] as const)),
    ] as const,
);

describe('Filters by a prefix below aggregates', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
    const triples = objects.map(
      (object, at): SpecTriple => ({
        subject: factory.namedNode(`${base}s${at}`),
        predicate: factory.namedNode(`${base}p`),
        object,
      }),
    );
    await store.fill(
      new Map(graphNames.map((name, at) => [name, triples.filter((_, i) => i % graphNames.length === at)])),
    );
  });
  after(() => store.close());

  for (const [name, toMemory, readable] of [
    ['an index in memory', (level, snapshot) => inMemory(level, snapshot, []), graphNames],
    ['changed graphs over an index in memory', halfInMemory, graphNames],
    ['changed graphs over an index in files', halfInFiles, graphNames],
    ['a caller of some graphs', halfInFiles, graphNames.slice(0, 4)],
  ] as const satisfies readonly (readonly [string, typeof halfInMemory, readonly string[]])[])
    it(`count what begins with it in ${name} (${conditions.length} queries; rule 14.1)`, async function () {
      this.timeout(120_000);
      const { prefixed } = MemoryNumbers.prototype;
      let found = 0;
      MemoryNumbers.prototype.prefixed = function (text) {
        const ranges = prefixed.call(this, text);
        if (ranges) found++;
        return ranges;
      };
      try {
        const own = objects.filter((_, i) => i % graphNames.length < readable.length);
        const view = { readable: new Set(readable), hasRanges: readable.length < graphNames.length, numbersFrom: 0 };
        for (const [condition, isOf, prefix] of conditions) {
          const expected = own.filter((term) => isOf(term) && term.value.startsWith(prefix)).length;
          for (const [filter, count] of [
            [condition, expected],
            [`!${condition}`, own.filter((term) => isOf(term) && !term.value.startsWith(prefix)).length],
          ] as const) {
            const query = `SELECT (COUNT(*) AS ?n) { ?s <${base}p> ?o FILTER(${filter}) }`;
            const answer = await engineAnswer(store.level, view, query, toMemory);
            expect(
              (answer as { rows: readonly ReadonlyMap<string, Term>[] }).rows[0]!.get('n')!.value,
              filter,
            ).to.equal(String(count));
          }
        }
        expect(found, 'ranges').to.equal(readable.length === graphNames.length ? conditions.length : 0);
      } finally {
        MemoryNumbers.prototype.prefixed = prefixed;
      }
    });
});
