/** SERVICE in the query engine: same results as one store with the data of the other endpoint as a graph (SPARQL 1.1 Federated Query 2). */
import { expect } from 'chai';
import fc from 'fast-check';
import { namedNode, Store } from 'oxigraph';
import { answersOf, type QueryAnswers } from '../../../lib/query/answers.js';
import { parseQuery } from '../../../lib/query/parse/parse-query.js';
import { parseRdf } from '../../../lib/rdf/parse.js';
import { parseAllowedHost } from '../../../lib/tools/outbound/address-policy.js';
import { base, graphNames, type SpecLevel, specLevel, withoutIndex } from '../../lib/query/engine-dataset.js';
import { runs } from '../../support/speed.js';

const endpoint = 'https://remote.example/sparql';
const allowed = [parseAllowedHost('remote.example')!];
const evaluate = (store: Store, query: string): string =>
  store.query(query, { base_iri: base, results_format: 'json' }) as string;

const node = fc.constantFrom('<s1>', '<s2>', '<s3>', '<s4>');
const predicate = fc.constantFrom('<p1>', '<p2>', '<p3>');
const value = fc.constantFrom('1', '2', '7', '"a"', '"b"@en', '2.5');
const triple = fc.tuple(node, predicate, fc.oneof(node, value)).map((terms) => `${terms.join(' ')} .`);
const data = fc.array(triple, { maxLength: 24 }).map((lines) => [...new Set(lines)].join('\n'));

const variable = fc.constantFrom('?a', '?b', '?c', '?d');
const pattern = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: variable }, { weight: 1, arbitrary: node }),
    fc.oneof({ weight: 3, arbitrary: predicate }, { weight: 1, arbitrary: fc.constant('?p') }),
    fc.oneof({ weight: 4, arbitrary: variable }, { weight: 1, arbitrary: fc.oneof(node, value) }),
  )
  .map((terms) => `${terms.join(' ')} .`);
const patterns = fc.array(pattern, { minLength: 1, maxLength: 2 }).map((all) => all.join(' '));
const condition = fc.oneof(
  variable.map((name) => `BOUND(${name})`),
  variable.map((name) => `!BOUND(${name})`),
  variable.map((name) => `isIRI(${name})`),
  fc.tuple(variable, variable).map(([a, b]) => `sameTerm(${a}, ${b})`),
  fc.tuple(variable, value).map(([a, b]) => `sameTerm(${a}, ${b}) || isLiteral(${a})`),
);
const values = fc.constantFrom('VALUES ?a { <s1> <s2> }', 'VALUES (?a ?b) { (<s1> UNDEF) (UNDEF 2) }');

/** Returns a group, with services in it or for an endpoint. */
const groupWith = (isFederated: boolean, depth: number): fc.Arbitrary<string> => {
  const plain: fc.Arbitrary<string> = depth === 0 ? patterns : groupWith(isFederated, depth - 1);
  const service = isFederated ? groupWith(false, 0).map((text) => `SERVICE <${endpoint}> { ${text} }`) : plain;
  const inner = isFederated
    ? fc.oneof(
        plain,
        service,
        fc.tuple(patterns, service).map((all) => all.join(' ')),
      )
    : plain;
  const element = fc.oneof(
    { weight: isFederated ? 5 : 0, arbitrary: service },
    { weight: 3, arbitrary: inner.map((text) => `OPTIONAL { ${text} }`) },
    { weight: 1, arbitrary: fc.tuple(inner, condition).map(([text, test]) => `OPTIONAL { ${text} FILTER(${test}) }`) },
    { weight: 2, arbitrary: fc.tuple(inner, inner).map(([a, b]) => `{ ${a} } UNION { ${b} }`) },
    { weight: 1, arbitrary: inner.map((text) => `MINUS { ${text} }`) },
    { weight: 1, arbitrary: inner.map((text) => `{ ${text} }`) },
    { weight: 1, arbitrary: inner.map((text) => `{ SELECT DISTINCT ?a ?c { ${text} } }`) },
    {
      weight: 1,
      arbitrary: inner.map(
        (text) => `{ SELECT ?b (COUNT(*) AS ?${isFederated ? 'n' : 'm'}${depth}) { ${text} } GROUP BY ?b }`,
      ),
    },
    { weight: 3, arbitrary: condition.map((test) => `FILTER(${test})`) },
    { weight: 1, arbitrary: values },
    { weight: 1, arbitrary: patterns },
  );
  return fc
    .array(element, { minLength: 1, maxLength: 3 })
    .chain((rest) => inner.map((first) => [first, ...rest].join(' ')));
};
const query = fc.oneof(groupWith(true, 0), groupWith(true, 1)).filter((text) => text.includes('SERVICE'));

describe('SERVICE in the query engine', function () {
  this.timeout(120_000);
  let local: SpecLevel;
  before(async () => {
    local = await specLevel();
  });
  after(() => local.close());

  it('returns the results of one store with both datasets', async () => {
    let answered = 0;
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(data, data, fc.array(query, { minLength: 8, maxLength: 8 }), async (own, others, queries) => {
        const { quads } = await parseRdf(Buffer.from(own), 'text/turtle', { base });
        await local.fill(new Map([[graphNames[0]!, quads]]));
        const [remote, both] = [new Store(), new Store()];
        remote.load(others, { format: 'text/turtle', base_iri: base });
        both.load(own, { format: 'text/turtle', base_iri: base });
        both.load(others, { format: 'text/turtle', base_iri: base, to_graph_name: namedNode(endpoint) });
        for (const text of queries) {
          asked++;
          const found = await federated(local, remote, `SELECT * { ${text} }`);
          if (!found) continue;
          answered++;
          const expected = evaluate(both, `SELECT * { ${text.replaceAll('SERVICE', 'GRAPH')} }`);
          expect(found, text).to.deep.equal(rowsOf(expected));
        }
      }),
      { numRuns: Number(process.env['ENGINE_RUNS'] ?? runs(60)) },
    );
    expect(answered / asked).to.be.above(0.9);
  });
});

/** Returns the rows of the engine, or nothing for an unsupported query. */
async function federated({ level }: SpecLevel, remote: Store, text: string): Promise<string[] | undefined> {
  const snapshot = level.snapshot();
  let answers: QueryAnswers | undefined;
  try {
    const query = await parseQuery(text, base, { allowedServices: allowed });
    answers = answersOf(query, {
      level,
      snapshot,
      memory: await withoutIndex(level, snapshot),
      readable: { all: true, known: () => true, resolve: async () => {} },
      callService: async (call) => ({ body: Buffer.from(evaluate(remote, call.query)) }),
    });
    const { variables } = query;
    const rows: string[] = [];
    for await (const block of answers.rows())
      for (const row of block) {
        const bound = variables.flatMap((name, at) => (row[at] ? [[name, row[at]] as const] : []));
        const texts = bound.map(([name, term]) => `${name}=${write(term as SpecTerm)}`);
        rows.push(texts.sort().join(' '));
      }
    return rows.sort();
  } catch (error) {
    if ((error as { code?: string }).code === 'too-complex') return undefined;
    throw new Error(text, { cause: error });
  } finally {
    await answers?.close();
    await snapshot.close();
  }
}

interface SpecTerm {
  readonly value: string;
  readonly language?: string;
  readonly datatype?: { readonly value: string };
}

const string = 'http://www.w3.org/2001/XMLSchema#string';
const write = ({ value, language, datatype }: SpecTerm): string =>
  language ? `${value}@${language}` : datatype && datatype.value !== string ? `${value}^^${datatype.value}` : value;

/** Returns the rows of a JSON result. */
function rowsOf(text: string): string[] {
  const { results } = JSON.parse(text) as {
    results: { bindings: Record<string, { value: string; datatype?: string; 'xml:lang'?: string }>[] };
  };
  return results.bindings
    .map((binding) =>
      Object.entries(binding)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { value, datatype, 'xml:lang': language }]) => {
          const term = {
            value,
            ...(language ? { language } : {}),
            ...(datatype ? { datatype: { value: datatype } } : {}),
          };
          return `${name}=${write(term)}`;
        })
        .join(' '),
    )
    .sort();
}
