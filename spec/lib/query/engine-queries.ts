/** Random data, callers and queries for the specs of the query engine. */
import type { Quad, Term } from '@rdfjs/types';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { base, graphNames, type SpecData, type SpecTriple, type SpecView } from './engine-dataset.js';

const factory = new DataFactory<Quad>();
const xsd = 'http://www.w3.org/2001/XMLSchema#';

const nodes: readonly Term[] = [
  ...['s1', 's2', 's3', 's4'].map((name) => factory.namedNode(base + name)),
  factory.blankNode('b1'),
];
const predicates: readonly Term[] = ['p1', 'p2', 'p3'].map((name) => factory.namedNode(base + name));
const literals: readonly Term[] = [
  ...['1', '2', '02', '7'].map((text) => factory.literal(text, factory.namedNode(`${xsd}integer`))),
  factory.literal('2.0', factory.namedNode(`${xsd}decimal`)),
  factory.literal('7e0', factory.namedNode(`${xsd}double`)),
  factory.literal('a'),
  factory.literal('b'),
  factory.literal('b', 'en'),
  factory.literal('true', factory.namedNode(`${xsd}boolean`)),
];

const triple: fc.Arbitrary<SpecTriple> = fc.record({
  subject: fc.constantFrom(...nodes),
  predicate: fc.constantFrom(...predicates),
  object: fc.oneof(fc.constantFrom(...nodes), fc.constantFrom(...literals)),
});

export const randomData: fc.Arbitrary<SpecData> = fc
  .array(fc.array(triple, { maxLength: 9 }), { minLength: graphNames.length, maxLength: graphNames.length })
  .map((graphs) => new Map(graphs.map((triples, index) => [graphNames[index]!, triples])));

const someGraphs = fc.option(fc.subarray([...graphNames]), { nil: undefined, freq: 4 });
export const randomView: fc.Arbitrary<SpecView> = fc
  .tuple(fc.oneof(fc.constant([...graphNames]), fc.subarray([...graphNames])), someGraphs, someGraphs)
  .map(([readable, defaultGraphs, namedGraphs]) => ({
    readable: new Set(readable),
    ...(defaultGraphs ? { defaultGraphs } : {}),
    ...(namedGraphs ? { namedGraphs } : {}),
  }));

const variable = fc.constantFrom('?a', '?x', '?c', '?d');
const constantNode = fc.constantFrom('<s1>', '<s2>', '<s3>');
const constantValue = fc.constantFrom('1', '2', '02', '2.0', '7e0', '"a"', '"b"@en', 'true');
const subject = fc.oneof({ weight: 4, arbitrary: variable }, { weight: 1, arbitrary: constantNode });
const predicateWith = (paths: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('<p1>', '<p2>', '<p3>') },
    { weight: 2, arbitrary: fc.constantFrom('?p', '?x') },
    { weight: 1, arbitrary: fc.constantFrom(...paths) },
  );
// Comunica does not always terminate if a path of arbitrary length is joined with a union.
const paths = ['<p1>/<p2>', '^<p1>', '!<p1>', '!(<p1>|^<p2>)', '(<p1>/<p3>)'];
const object = fc.oneof(
  { weight: 5, arbitrary: variable },
  { weight: 1, arbitrary: constantNode },
  { weight: 1, arbitrary: constantValue },
);
const patternsWith = (some: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(
      fc.tuple(subject, predicateWith(some), object).map((terms) => `${terms.join(' ')} .`),
      { minLength: 1, maxLength: 3 },
    )
    .map((all) => all.join(' '));
const patterns = patternsWith([...paths, '<p1>|<p2>', '(<p3>|^<p1>)']);
// Comunica removes alternatives in GRAPH if the default graph lacks them.
const graphPatterns = fc
  .tuple(fc.constantFrom('?g', '?h', ...graphNames.map((name) => `<${name}>`)), patternsWith(paths))
  .map(([graph, inner]) => `GRAPH ${graph} { ${inner} }`);
const basic = fc.oneof({ weight: 2, arbitrary: patterns }, { weight: 1, arbitrary: graphPatterns });

const comparison = fc
  .tuple(variable, fc.constantFrom('=', '!=', '<', '>', '<=', '>='), fc.oneof(variable, constantValue))
  .map((parts) => parts.join(' '));
/** Maximum nesting depth with reliable results of Comunica. */
const asked = fc.record({
  exists: fc
    .tuple(fc.constantFrom('EXISTS', 'NOT EXISTS'), basic, fc.option(comparison, { nil: undefined }))
    .map(([word, inner, test]) => `${word} { ${inner} ${test ? `FILTER(${test})` : ''} }`),
  test: comparison,
});
const condition: fc.Arbitrary<string> = fc.oneof(
  comparison,
  fc.tuple(variable, fc.constantFrom('IN', 'NOT IN')).map(([name, among]) => `${name} ${among} (1, 2, <s1>, "a")`),
  variable.map((name) => `BOUND(${name})`),
  variable.map((name) => `!BOUND(${name})`),
  variable.map((name) => `isIRI(${name}) || isNumeric(${name})`),
  variable.map((name) => `CONTAINS(LCASE(STR(${name})), "s")`),
  variable.map((name) => `REGEX(STR(${name}), "^.[0-9a]$", "i")`),
  variable.map((name) => `LANGMATCHES(LANG(${name}), "*")`),
  variable.map((name) => `DATATYPE(${name}) = <${xsd}integer>`),
  fc.tuple(variable, variable).map(([a, b]) => `sameTerm(${a}, ${b})`),
  fc.tuple(comparison, comparison).map(([a, b]) => `(${a}) && !(${b})`),
  fc.tuple(comparison, comparison).map(([a, b]) => `COALESCE(${a}, ${b})`),
  fc.tuple(comparison, variable).map(([a, b]) => `IF(${a}, isLiteral(${b}), true)`),
  variable.map((name) => `SUBSTR(STR(${name}), 2) = REPLACE(STR(${name}), "^.", "")`),
  { weight: 3, arbitrary: asked.map(({ exists, test }) => `${exists} || ${test}`) },
  asked.map(({ exists, test }) => `IF(${exists}, ${test}, true)`),
);

const group = (depth: number): fc.Arbitrary<string> => {
  if (depth === 0) return basic;
  const inner = fc.oneof(basic, group(depth - 1));
  const element = fc.oneof(
    { weight: 3, arbitrary: inner.map((text) => `OPTIONAL { ${text} }`) },
    { weight: 2, arbitrary: fc.tuple(inner, inner).map(([a, b]) => `{ ${a} } UNION { ${b} }`) },
    { weight: 4, arbitrary: condition.map((text) => `FILTER(${text})`) },
    { weight: 1, arbitrary: basic.map((text) => `MINUS { ${text} }`) },
    { weight: 1, arbitrary: basic.map((text) => `FILTER NOT EXISTS { ${text} }`) },
    { weight: 1, arbitrary: basic.map((text) => `FILTER EXISTS { ${text} }`) },
    { weight: 1, arbitrary: basic },
    { weight: 1, arbitrary: fc.constant('VALUES ?a { <s1> <s2> 2 }') },
    { weight: 1, arbitrary: fc.constant('VALUES (?a ?x) { (<s1> <s2>) (<s3> 2) }') },
    { weight: 1, arbitrary: inner.map((text) => `{ SELECT DISTINCT ?a ?c { ?a ?q ?c . ${text} } }`) },
    {
      weight: 1,
      arbitrary: inner.map((text) => `{ SELECT ?a (COUNT(?x) AS ?count${depth}) { ?a ?q ?c . ${text} } GROUP BY ?a }`),
    },
  );
  return fc.tuple(inner, fc.array(element, { maxLength: 3 })).map(([first, rest]) => [first, ...rest].join(' '));
};

const where = fc.oneof(group(1), group(2));

export interface RandomQuery {
  readonly text: string;
  /** The query without LIMIT. The result must be a subset of this one's, with this number of rows. */
  readonly whole?: string;
  readonly most?: number;
}

const plain = (text: fc.Arbitrary<string>): fc.Arbitrary<RandomQuery> => text.map((query) => ({ text: query }));

export const randomQuery: fc.Arbitrary<RandomQuery> = fc.oneof(
  { weight: 5, arbitrary: plain(where.map((text) => `SELECT * { ${text} }`)) },
  { weight: 2, arbitrary: plain(where.map((text) => `SELECT DISTINCT ?a ?c { ${text} }`)) },
  { weight: 1, arbitrary: plain(where.map((text) => `ASK { ${text} }`)) },
  { weight: 2, arbitrary: plain(where.map((text) => `SELECT (COUNT(*) AS ?n) { ${text} }`)) },
  {
    weight: 2,
    arbitrary: plain(
      where.map(
        (text) =>
          `SELECT ?a (COUNT(*) AS ?n) (COUNT(DISTINCT ?x) AS ?m) { ${text} } GROUP BY ?a HAVING (COUNT(?a) < 9)`,
      ),
    ),
  },
  {
    weight: 2,
    // The minimum of 2 and 02 is undefined: they are equal as doubles.
    arbitrary: plain(
      where.map(
        (text) =>
          `SELECT ?a (SUM(?d) AS ?sum) (AVG(?d) AS ?average) (MIN(?d) * 1e0 AS ?least) (MAX(?d) + 1e0 AS ?most) { ${text} FILTER(isNumeric(?d)) } GROUP BY ?a`,
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: plain(where.map((text) => `SELECT ?a ?d (?d * 2 - 1 AS ?e) (-?d / 4 AS ?f) { ${text} }`)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(where, fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 })).map(
      ([text, offset, limit]): RandomQuery => ({
        text: `SELECT ?a ?x { ${text} } LIMIT ${limit} OFFSET ${offset}`,
        whole: `SELECT ?a ?x { ${text} }`,
        most: limit,
      }),
    ),
  },
);

/** Orders in which only identical rows are equal. */
export const randomOrder: fc.Arbitrary<string> = fc
  .tuple(
    where,
    fc.constantFrom('', 'LIMIT 3', 'LIMIT 5 OFFSET 1'),
    fc.constantFrom('ASC(?a) DESC(?x) STR(?x)', '?x STR(?x) ?a STR(?a)'),
  )
  .map(
    ([text, slice, order]) =>
      `SELECT ?a ?x { ${text} FILTER(!isBlank(?a) && !isBlank(?x)) } ORDER BY ${order} STR(?a) STR(?x) DATATYPE(?a) DATATYPE(?x) ${slice}`,
  );
