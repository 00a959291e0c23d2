/** Functions of the query engine with every kind of argument: results equal Comunica's except for its known bugs. */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { compileQuery } from '../../../lib/query/plan/compile-query.js';
import {
  type Answer,
  base,
  engineAnswer,
  graphNames,
  plainAnswer,
  queryWithAlgebra,
  type SpecData,
  type SpecLevel,
  type SpecView,
  specLevel,
  writeTerm,
} from './engine-dataset.js';
import { type Cell, exceptions } from './engine-function-exceptions.js';

const factory = new DataFactory<Quad>();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const typed = (type: string, texts: readonly string[]): Term[] =>
  texts.map((text) => factory.literal(text, factory.namedNode(xsd + type)));

const strings = [
  ...['', 'abc', '010', ' 42 ', '-5', '1e400', 'INF', 'NaN', 'true', 'ab\u{1f600}c', "Los Angeles/~\u00e9('x')!"],
  ...['2024-02-29', '2024-02-29T12:30:15.5+05:30', '12:30:15Z', 'P1Y2M', 'P3DT4H', 'http://example.org/x?y#z'],
  ...['a/../b', 'a b', 'en', '*'],
];
const dated = [
  ...typed('dateTime', ['2011-01-10T14:45:13.815-05:00', '2011-01-10T14:45:13', '2011-01-10T14:45:13Z']),
  ...typed('dateTime', ['1999-12-31T24:00:00Z', '0044-03-15T00:00:00Z']),
  ...typed('date', ['2000-02-29', '2000-02-29Z', '2011-01-10+14:00']),
  ...typed('time', ['23:12:00+03:00', '11:12:00', '24:00:00Z']),
];
const durations = [
  ...typed('duration', ['P1Y2M3DT4H5M6.5S']),
  ...typed('yearMonthDuration', ['P13M', '-P1Y', 'P0M']),
  ...typed('dayTimeDuration', ['PT36H', '-P1DT0.5S', 'PT0S']),
];
const everything: readonly (Term | undefined)[] = [
  ...[undefined, factory.namedNode(`${base}a/../b`), factory.namedNode(`${xsd}integer`), factory.blankNode('b1')],
  ...[factory.literal('chat', 'fr'), factory.literal('abc', 'en'), factory.literal('', 'en')],
  ...strings.map((text) => factory.literal(text)),
  ...typed('token', ['abc']),
  ...typed('boolean', ['true', '0', 'x']),
  ...typed('integer', ['1', '010', '-7', '0', '2', '9007199254740993', `1${'0'.repeat(25)}`, '1e400', 'x']),
  ...typed('byte', ['5']),
  ...typed('decimal', ['1.50', '-2.5', '0.5', '.5', '-0.4', '2.4999', '1e400']),
  ...typed('double', ['1e0', '2.5', '-2.5', '-0.4', '-0', '1e3', '1e21', '1e-7', '1e400', 'INF', '-INF', 'NaN', 'x']),
  ...typed('float', ['1.5', 'NaN']),
  ...dated,
  ...typed('dateTime', ['2011-13-10T14:45:13Z', 'x']),
  ...typed('date', ['2001-02-29']),
  ...typed('time', ['x']),
  ...durations,
  ...typed('duration', ['P']),
  ...typed('anyURI', ['http://example.org/']),
];
const some = everything.filter(
  (term) =>
    term?.termType !== 'Literal' ||
    /^(?:|abc|chat|-5|ab.c|en|\*|x|0|2|-2.5|0.5|1e0|INF|NaN|010)$/u.test(term.value) ||
    /anyURI/.test(term.datatype.value),
);

/** Functions of `?a`, or of `?a` and `?b`, and the arguments. */
const groups: readonly {
  readonly calls: string;
  readonly first: typeof everything;
  readonly second?: typeof everything;
}[] = [
  { calls: 'STRLEN(?a) UCASE(?a) SUBSTR(?a,2) CONCAT(?a) ENCODE_FOR_URI(?a) STRDT(?a,xsd:integer)', first: everything },
  {
    calls: '+?a -?a ABS(?a) ROUND(?a) CEIL(?a) FLOOR(?a) IRI(?a) isBlank(BNODE(?a)) STRLANG("a",?a)',
    first: everything,
  },
  { calls: 'YEAR(?a) MONTH(?a) DAY(?a) HOURS(?a) MINUTES(?a) SECONDS(?a) TIMEZONE(?a) TZ(?a)', first: everything },
  { calls: 'MD5(?a) SHA1(?a) SHA256(?a) SHA384(?a) SHA512(?a) LANGMATCHES(?a,"*")', first: everything },
  { calls: 'xsd:boolean(?a) xsd:integer(?a) xsd:decimal(?a) xsd:double(?a) xsd:float(?a)', first: everything },
  { calls: 'xsd:string(?a) xsd:dateTime(?a) xsd:date(?a) xsd:time(?a)', first: everything },
  { calls: 'xsd:duration(?a) xsd:yearMonthDuration(?a) xsd:dayTimeDuration(?a)', first: everything },
  { calls: 'STRBEFORE(?a,?b) STRAFTER(?a,?b) CONCAT(?a,?b) STRDT(?a,?b) STRLANG(?a,?b)', first: some, second: some },
  { calls: 'LANGMATCHES(?a,?b) SUBSTR("ab\u{1f600}c",?a,?b) SUBSTR(?a,?b)', first: some, second: some },
  { calls: '?a+?b ?a-?b', first: dated, second: [...dated, ...durations] },
  {
    calls: 'REGEX(?a,?b) REGEX(?a,?b,"i") REGEX(?a,?b,"q") REPLACE(?a,?b,"<$0>") REPLACE(?a,?b,"","i")',
    first: everything,
    second: ['b', '[A-C]', '^.', '[^a-z]+', '(a)(b)', 'c$', '\u{1f600}', '\\p{Lu}'].map((text) =>
      factory.literal(text),
    ),
  },
];

const predicate = factory.namedNode(`${base}p`);
/** Each argument has its own node. */
const dataOf = (terms: typeof everything, name: string): { subject: Term; predicate: Term; object: Term }[] =>
  terms.flatMap((object, at) =>
    object ? [{ subject: factory.namedNode(`${base}${name}${at}`), predicate, object }] : [],
  );
const nodesOf = (terms: typeof everything, name: string): string =>
  `VALUES ?${name}n { ${terms.map((_term, at) => `<${name}${at}>`).join(' ')} } OPTIONAL { ?${name}n <p> ?${name} }`;

const view: SpecView = { readable: new Set(graphNames) };

describe('Query functions with every kind of argument', function () {
  this.timeout(120_000);
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  const used = new Set<string>();
  for (const { calls, first, second } of groups)
    it(`returns the same as Comunica: ${calls}`, async () => {
      const all = calls.split(' ');
      const data: SpecData = new Map([[graphNames[0]!, [...dataOf(first, 'a'), ...dataOf(second ?? [], 'b')]]]);
      await store.fill(data);
      const columns = all.map((call, at) => `(${call} AS ?r${at})`).join(' ');
      const where = `${nodesOf(first, 'a')} ${second ? nodesOf(second, 'b') : ''}`;
      const query = `PREFIX xsd: <${xsd}> SELECT ?an ?bn ${columns} { ${where} }`;
      const { algebra, base: own } = await queryWithAlgebra(query);
      expect(() => compileQuery(algebra as never, own)).not.to.throw();
      const [found, expected] = [
        tableOf(await engineAnswer(store.level, view, query)),
        tableOf(await plainAnswer(data, view, query)),
      ];
      expect(found.size).to.equal(first.length * (second?.length ?? 1));
      expect([...found.keys()]).to.have.members([...expected.keys()]);
      for (const [key, row] of found)
        all.forEach((call, at) => {
          const [left, right] = key.split(' ').map(Number) as [number, number];
          const args = second ? [first[left], second[right]] : [first[left]];
          const write = (term: Term | undefined): string => (term ? writeTerm(term) : 'error').replaceAll(xsd, 'xsd:');
          const cell: Cell = {
            ...{ call, args },
            ...{ found: write(row.get(`r${at}`)), other: write(expected.get(key)!.get(`r${at}`)) },
          };
          if (cell.found === cell.other) return;
          const covering = exceptions.find(({ covers }) => covers(cell));
          expect(covering, `${call} of ${args.map(write).join()}: ${cell.found}, not ${cell.other}`).to.exist;
          used.add(covering!.why);
        });
    });

  it('lists no obsolete exceptions', () => {
    expect(exceptions.map(({ why }) => why).filter((why) => !used.has(why))).to.deep.equal([]);
  });
});

/** Rows by the numbers of their arguments. */
function tableOf(answer: Answer): ReadonlyMap<string, ReadonlyMap<string, Term>> {
  const number = (term: Term | undefined): string => term?.value.replace(/^.*\D/, '') ?? '0';
  const rows = 'rows' in answer ? answer.rows : [];
  return new Map(rows.map((row) => [`${number(row.get('an'))} ${number(row.get('bn'))}`, row]));
}
