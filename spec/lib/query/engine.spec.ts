/** Query engine: results equal those of Comunica over the readable graphs in memory. */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../../../lib/tools/errors.js';
import { runs } from '../../support/speed.js';
import {
  type Answer,
  base,
  engineAnswer,
  graphNames,
  plainAnswer,
  type SpecData,
  type SpecLevel,
  type SpecTriple,
  type SpecView,
  specLevel,
  type ToMemory,
  writeAnswer,
} from './engine-dataset.js';
import { halfInFiles, halfInMemory } from './engine-memory.js';
import { randomData, randomOrder, randomQuery, randomView } from './engine-queries.js';

const factory = new DataFactory<Quad>();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const iri = (name: string): Term => factory.namedNode(base + name);
const literal = (value: string, type?: string): Term =>
  type === undefined ? factory.literal(value) : factory.literal(value, factory.namedNode(xsd + type));

/** Literals that are easily confused in keys, numbers and strings. */
const nasty: readonly Term[] = [
  ...['1', '10', '010', '100', '9007199254740992', '9007199254740993', 'abc'].map((text) => literal(text, 'integer')),
  ...['1.0', '10.0', '0.5', '99.9'].map((text) => literal(text, 'decimal')),
  ...['1e1', '1E0', 'INF', '-INF', 'NaN', '1e300'].map((text) => literal(text, 'double')),
  ...['1', 'INF'].map((text) => literal(text, 'float')),
  ...['1', 'x', `${base}s1`, '', 'a\u0000\u0000b', 'a', '\u{1f600}', '\uffee'].map((text) => literal(text)),
  factory.literal('x', 'en'),
  factory.literal('x', 'EN'),
  factory.literal('x', 'fr'),
  literal('true', 'boolean'),
  literal('1', 'boolean'),
  literal('2024-01-01', 'date'),
  literal('2024-01-01T00:00:00', 'dateTime'),
  literal('2024-01-01T00:00:00Z', 'dateTime'),
  literal('2024-01-01T02:00:00+02:00', 'dateTime'),
  literal(`${base}s1`, 'anyURI'),
  factory.namedNode(`${base}s1`),
  factory.blankNode('b1'),
];

const data: SpecData = new Map(
  graphNames.map((graph, index): [string, SpecTriple[]] => [
    graph,
    [
      ...nasty
        .filter((_term, at) => at % 5 !== index)
        .map((object, at) => ({ subject: iri(`s${at % 4}`), predicate: iri('p1'), object })),
      { subject: factory.blankNode('b1'), predicate: iri('p2'), object: iri('s1') },
      { subject: iri('s1'), predicate: iri('p2'), object: factory.blankNode('b1') },
      { subject: iri(`s${index}`), predicate: iri('p1'), object: iri(`s${index}`) },
    ],
  ]),
);

for (const [name, toMemory] of [
  ['Query engine', undefined],
  ['Query engine with the index in memory', halfInMemory],
  ['Query engine with the index in files', halfInFiles],
] as const)
  describe(name, () => itAnswers(toMemory));

function itAnswers(toMemory: ToMemory | undefined): void {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
    await store.fill(data);
  });
  after(() => store.close());

  const everything: SpecView = { readable: new Set(graphNames) };
  const some: SpecView = { readable: new Set([graphNames[1]!, graphNames[3]!]) };

  const same = async (query: string, view: SpecView): Promise<void> => {
    const [found, expected] = [
      await engineAnswer(store.level, view, query, toMemory),
      await plainAnswer(data, view, query),
    ];
    expect(writeAnswer(found), query).to.deep.equal(writeAnswer(expected));
  };

  const queries = [
    'SELECT * { ?s ?p ?o }',
    'SELECT * { GRAPH ?g { ?s ?p ?o } }',
    'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
    'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }',
    'SELECT (COUNT(*) AS ?n) { GRAPH <graphs/d> { ?s ?p ?o } }',
    'SELECT (COUNT(*) AS ?n) { ?s <p1> ?o }',
    'SELECT (COUNT(?o) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { ?s <p1> ?o }',
    'SELECT ?p (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p',
    'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g HAVING (COUNT(*) > 3)',
    'SELECT * { ?s <p1> ?o . ?s <p2> ?b }',
    'SELECT * { GRAPH ?g { ?s <p1> ?o } GRAPH ?h { ?o <p2> ?b } }',
    'SELECT * { ?x ?p ?x }',
    'SELECT * { ?x <p2> ?y . ?y <p2> ?x }',
    'SELECT * { ?s <p1> ?o OPTIONAL { ?o <p2> ?b } }',
    'SELECT * { ?s <p2>+ ?o }',
    'SELECT * { ?s <p2>* ?o . ?s <p1> ?x }',
    'SELECT * { GRAPH ?g { ?s <p2>? ?o } }',
    'SELECT ?s { <s1> <p2>/<p1>* ?s }',
    'SELECT * { ?s (<p1>|<p2>)+ <s1> }',
    'SELECT * { GRAPH ?g { <s1> <p2>+ ?o } }',
    'SELECT * { GRAPH ?g { <s1> <p9>* ?o } }',
    'SELECT * { <s9> <p2>? ?o }',
    'ASK { <s1> <p2>* <s1> }',
    'SELECT * { ?s <p1> ?o FILTER EXISTS { ?s <p2> ?z OPTIONAL { ?z <p1> ?y } } }',
    'SELECT * { ?s <p1> ?o FILTER NOT EXISTS { { SELECT ?s (COUNT(*) AS ?n) { ?s <p2> ?z } GROUP BY ?s } } }',
    'SELECT DISTINCT ?p { ?s ?p ?o }',
    'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }',
    'SELECT DISTINCT ?p { <s1> ?p ?o }',
    'SELECT * { GRAPH ?g {} }',
    'SELECT * { GRAPH <graphs/a> {} GRAPH ?g { OPTIONAL { ?s <p9> ?o } } }',
    'SELECT * { GRAPH <graphs/zz> {} }',
    'SELECT * { ?s !(<p1>|^<p2>) ?o }',
    'SELECT * { GRAPH <graphs/d> { ?d !<p1> ?b . ?a <p2> ?b } }',
    'SELECT * { VALUES (?s ?o) { (<s1> UNDEF) (UNDEF 10) } ?s <p1> ?o }',
    'CONSTRUCT { ?o <p3> ?s } { ?s <p1> ?o FILTER(isIRI(?o)) }',
    'SELECT (GROUP_CONCAT(?p) AS ?all) { <s1> ?p <s1> }',
    'SELECT * { ?s <p1>|^<p2> ?o }',
    'SELECT * { ?s <p2>/<p1> ?o }',
    'ASK { ?s <p1> 1 }',
    'ASK { ?s <p1> 2 }',
    'SELECT * { ?s <p1> ?o MINUS { ?s <p2> ?z } }',
    'SELECT * { ?s <p1> ?o FILTER NOT EXISTS { ?s <p2> ?z } }',
    'SELECT * { VALUES ?o { 1 10 1.0 "x" "x"@en <s1> } ?s <p1> ?o }',
    'SELECT * { ?s <p1> ?o { SELECT ?s (COUNT(*) AS ?n) { ?s <p1> ?o } GROUP BY ?s } }',
    'SELECT (COUNT(DISTINCT *) AS ?n) { GRAPH ?g { ?s ?p ?o } }',
    'SELECT ?s (COUNT(DISTINCT *) AS ?n) { ?s <p1> ?o OPTIONAL { ?o <p2> ?b } } GROUP BY ?s',
  ];
  const asking = [
    'SELECT * { ?s <p1> ?o FILTER(EXISTS { ?s <p2> ?z } || isNumeric(?o)) }',
    'SELECT * { ?s <p1> ?o FILTER(!EXISTS { ?o <p2> ?z }) }',
    'SELECT ?s (EXISTS { ?s <p2> ?z } AS ?e) { ?s <p1> ?o }',
    'SELECT * { ?s <p1> ?o BIND(IF(NOT EXISTS { ?s <p2> ?o }, 1, ?o) AS ?e) }',
    'SELECT * { ?s <p1> ?o OPTIONAL { ?o <p2> ?b FILTER(EXISTS { ?b <p2> ?s } || ?s = ?o) } }',
    'SELECT ?s (COUNT(*) AS ?n) { ?s <p1> ?o } GROUP BY ?s HAVING (EXISTS { ?s <p2> ?z } && COUNT(*) > 1)',
    'SELECT (SUM(IF(EXISTS { ?o <p2> ?z }, 1, 0)) AS ?n) { ?s <p1> ?o }',
    'SELECT ?s ?o { ?s <p1> ?o FILTER(EXISTS { ?o <p2> ?z FILTER(EXISTS { ?z <p1> ?s } || ?z = ?s) } || ?o = 1) }',
    'SELECT * { GRAPH ?g { ?s <p1> ?o FILTER(EXISTS { ?s <p2> ?z } || ?o = 10) } }',
    'SELECT * { GRAPH ?g { ?s <p1> ?o } FILTER(EXISTS { GRAPH ?g { ?s <p2> ?z } } || ?o = 10) }',
    'SELECT * { ?s <p1> ?o FILTER(EXISTS { ?s <p2>+ ?z } || ?o = 10) }',
    'SELECT * { ?s <p1> ?o FILTER(NOT EXISTS { ?z <p2> ?s } && NOT EXISTS { ?s <p2> ?z } || ?o = 10) }',
    'SELECT * { ?s <p1> ?o FILTER EXISTS { OPTIONAL { ?s <p2> ?z } FILTER(BOUND(?z)) } }',
    'SELECT * { ?s <p1> ?o FILTER EXISTS { ?z <p2> ?y OPTIONAL { ?y <p2> ?x FILTER(?x = ?o) } FILTER(BOUND(?x)) } }',
    'SELECT * { ?s <p1> ?o FILTER EXISTS { ?s <p2> ?z FILTER NOT EXISTS { ?z <p1> ?o } } }',
    'SELECT * { ?s <p1> ?o FILTER NOT EXISTS { { SELECT ?s { ?s <p2> ?z } LIMIT 1 } } }',
    'SELECT * { ?s <p1> ?o FILTER EXISTS { ?z <p2> ?y BIND(?o AS ?x) FILTER(?x = ?y) } }',
    'SELECT * { ?s <p1> ?o FILTER EXISTS { { ?o <p2> ?z } UNION { ?z <p1> ?o FILTER(?s != ?z) } } }',
    'ASK { ?s <p1> ?o FILTER(EXISTS { ?o <p9> ?z } || EXISTS { ?o <p2> ?s }) }',
    // Substitutions for outer variables also apply in nested EXISTS.
    'SELECT * { ?b <p2> ?c FILTER EXISTS { ?a <p1> ?d FILTER EXISTS { ?c <p2> ?x BIND(EXISTS { ?k ?l ?m } AS ?e) } } }',
    'SELECT * { ?b <p2> ?c FILTER EXISTS { ?a <p1> ?d FILTER EXISTS { SELECT ?c { ?c <p2> ?x } LIMIT 1 } } }',
    'SELECT * { ?b <p2> ?c FILTER NOT EXISTS { ?a <p1> ?d FILTER NOT EXISTS { ?c <p2> ?x { SELECT * { ?q ?w ?e } LIMIT 1 } } } }',
    // Path that is evaluated by itself, as one side of another operator.
    'SELECT * { ?b <p2> ?a OPTIONAL { ?a <p2> ?d } MINUS { ?d <p2>+ ?x } }',
    'SELECT * { { SELECT * { ?x <p2>+ ?y } } { SELECT * { ?x <p1>+ ?y } } }',
    'SELECT * { ?a <p1> ?b FILTER EXISTS { SELECT * { ?a <p2>+ ?b } } }',
    'SELECT (COUNT(DISTINCT *) AS ?n) { ?s <p1> ?o FILTER(!isTriple("abc") && !isTriple(?o)) }',
    'SELECT (SUBJECT(?o) AS ?t) (hasLANG(?o) AS ?l) (LANGDIR(?o) AS ?d) { VALUES ?o { "x" "x"@en 1 } ?s <p1> ?o }',
  ];

  const nested = (levels: number): string => `${'<<( <s1> <p1> '.repeat(levels)}<s2>${' )>>'.repeat(levels)}`;
  for (const [query, what, code = 'too-complex'] of [
    [`SELECT * { ?s <p1> ${nested(17)} }`, /16 levels/],
    [`SELECT * { VALUES ?t { ${nested(17)} } }`, /16 levels/],
    [`SELECT (TRIPLE(<s1>, <p1>, ${nested(16)}) AS ?t) { ?s <p1> ?o }`, /16 levels/, 'query-limit'],
    [`SELECT * { BIND(${nested(16)} AS ?t) BIND(TRIPLE(<s1>, <p1>, ?t) AS ?u) }`, /16 levels/, 'query-limit'],
  ] as const)
    it(`rejects triple terms that are too deep: ${query}`, async () => {
      const error = await engineAnswer(store.level, everything, query, toMemory).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(error, query).to.be.instanceOf(LwsError).with.property('code', code);
      expect((error as Error).message).to.match(what);
    });

  for (const query of [...queries, ...asking])
    it(`answers ${query}`, async () => {
      await same(query, everything);
      await same(query, some);
      await same(query, { ...everything, defaultGraphs: [graphNames[0]!, graphNames[4]!], namedGraphs: [] });
    });

  it('finds only equal terms', async () => {
    for (const term of nasty.filter(({ termType }) => termType !== 'BlankNode'))
      for (const pattern of [`?s ?p ${sparqlOf(term)}`, `GRAPH ?g { ?s <p1> ${sparqlOf(term)} }`])
        await same(`SELECT * { ${pattern} }`, some);
  });

  it('compares values like Comunica', async () => {
    // Comunica stores integers as doubles, which are equal beyond 2^53, compares strings by locale and anyURI with strings, and
    // returns an error for an ill-typed number and an IRI.
    const constants = nasty.filter(
      (term) =>
        term.termType !== 'BlankNode' &&
        !/^90|[^ -~]|anyURI$/.test(`${term.value}${'datatype' in term ? term.datatype.value : ''}`),
    );
    for (const constant of constants)
      for (const operator of ['=', '!=', '<', '>', '<=', '>='])
        await same(
          `SELECT ?o { ?s <p1> ?o FILTER(?o ${operator} ${sparqlOf(constant)}) FILTER(REGEX(STR(?o), "^[ -~]*$") && DATATYPE(?o) != <${xsd}anyURI> && STR(?o) NOT IN ("abc", "9007199254740993")) }`,
          everything,
        );
  });

  it('evaluates filters on a match once per match, and other filters on rows', async function () {
    this.timeout(60_000);
    const many = Array.from({ length: 1500 }, (_, at) => iri(`m${at}`)).flatMap((subject, at) => [
      { subject, predicate: iri('p1'), object: literal(String(at % 100), 'integer') },
      { subject, predicate: iri('p2'), object: literal(String(at % 7), 'integer') },
      ...(at % 10 === 0 ? [{ subject, predicate: iri('p3'), object: literal('x') }] : []),
    ]);
    const big = new Map([[graphNames[0]!, many]]);
    await store.fill(big);
    const pattern = '?s <p1> ?x . ?s <p2> ?y';
    for (const text of [
      `SELECT ?s { ${pattern} FILTER(?y > 5) }`,
      `SELECT ?s { ${pattern} FILTER(?y > 3 && ?x < 30) FILTER(?x < ?y) }`,
      `SELECT ?s { ${pattern} FILTER(RAND() < 2 && ?y = 6 && REGEX(STR(?x), "1")) }`,
      `SELECT ?s { ${pattern} FILTER(?y = 6 || EXISTS { ?s <p3> ?z }) }`,
      `SELECT ?s { ${pattern} FILTER(?y = 6 && NOT EXISTS { ?s <p3> ?y }) }`,
      `SELECT ?s { ${pattern} FILTER(!bound(?z) && ?y < 2) OPTIONAL { ?s <p3> ?z } }`,
      `SELECT ?s { ?s <p1> ?x OPTIONAL { ?s <p2> ?y FILTER(?y = 6) } FILTER(!bound(?y)) }`,
    ]) {
      const [found, expected] = [
        await engineAnswer(store.level, everything, text, toMemory),
        await plainAnswer(big, everything, text),
      ];
      expect(writeAnswer(found), text).to.deep.equal(writeAnswer(expected)).and.not.to.have.length(0);
    }
    await store.fill(data);
  });

  describe('with random data, callers and queries', function () {
    const numRuns = Number(process.env['ENGINE_RUNS'] ?? runs(60));
    this.timeout(numRuns * 2000);
    const parameters = { numRuns };

    it('returns the same results as Comunica', () =>
      fc.assert(
        fc.asyncProperty(
          randomData,
          fc.array(fc.tuple(randomView, randomQuery), { minLength: 6, maxLength: 6 }),
          async (random, asked) => {
            await store.fill(random);
            for (const [view, { text, whole, most }] of asked) {
              const oracle = await withinTime(plainAnswer(random, view, text)).catch(ifUnable);
              if (!oracle || isPruned(text, oracle)) continue;
              const answer = await withinTime(engineAnswer(store.level, view, text, toMemory), 15_000).catch(
                (error: Error) => {
                  throw new Error(text, { cause: error });
                },
              );
              const [found, expected] = [writeAnswer(answer), writeAnswer(oracle)];
              if (whole === undefined) expect(found, text).to.deep.equal(expected);
              else {
                expect(found.length, text).to.equal(expected.length).and.to.be.at.most(most!);
                expect(writeAnswer(await plainAnswer(random, view, whole)), text).to.include.members([...found]);
              }
            }
          },
        ),
        parameters,
      ));

    it('returns the same order as Comunica', () =>
      fc.assert(
        fc.asyncProperty(
          randomData,
          fc.array(fc.tuple(randomView, randomOrder), { minLength: 4, maxLength: 4 }),
          async (random, asked) => {
            await store.fill(random);
            for (const [view, text] of asked) {
              const oracle = await withinTime(plainAnswer(random, view, text)).catch(ifUnable);
              if (!oracle) continue;
              const found = writeAnswer(await engineAnswer(store.level, view, text, toMemory), true);
              expect(found, text).to.deep.equal(writeAnswer(oracle, true));
            }
          },
        ),
        parameters,
      ));
  });
}

/** Comunica cannot join some optional parts. */
function ifUnable(error: Error): undefined {
  if (!/RDF joining failed|no end/.test(error.message)) throw error;
}

/** Comunica waits forever for some unions. */
async function withinTime(answer: Promise<Answer>, ms = 1500): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no end')), ms);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Comunica removes a count together with the empty union that it counts. */
const isPruned = (text: string, answer: Answer): boolean =>
  text.startsWith('SELECT (COUNT(*)') && 'rows' in answer && answer.rows.length === 0;

function sparqlOf(term: Term): string {
  if (term.termType === 'NamedNode') return `<${term.value}>`;
  if (term.termType !== 'Literal') return `?${term.value}`;
  const text = JSON.stringify(term.value);
  return term.language ? `${text}@${term.language}` : `${text}^^<${term.datatype.value}>`;
}
