/**
 * Validates the oracle of the differential specs, a naive evaluator of SPARQL 1.1 section 18, against the W3C evaluation tests.
 * Numbers are compared by value, CSV by the text of its terms.
 */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { type GraphStore, type NaiveResult, naiveResult, unionOf } from '../support/naive-sparql/index.js';
import { graphsOfFile } from './datasets.js';
import { type EvaluationTest, readDataFile, w3cTests } from './manifests.js';
import { isNumbered, mediaTypeOf, type Outcome, readOutcome } from './outcomes.js';
import { outcomeText, sameOutcome } from './same-outcome.js';
import { comparedWithoutOrder, otherwise } from './skipped.js';

const base = 'https://w3c.example/';
const tests = w3cTests.filter((test): test is EvaluationTest => test.kind === 'evaluation');

/** Failing tests by reason. */
const skipped: Readonly<Record<string, readonly string[]>> = {
  '17.4.2.9: BNODE with an argument depends on the identity of solutions, which the evaluator does not track': [
    'data-sparql11/functions#bnode01',
  ],
};
const reasons = new Map(
  [otherwise, skipped].flatMap((each) =>
    Object.entries(each).flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)),
  ),
);

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

async function storeOf({ query, data, graphs }: EvaluationTest, text: string): Promise<GraphStore> {
  const read = (path: string) => graphsOfFile(path, base + path);
  const from = [...text.matchAll(/\bFROM\s+(?:NAMED\s+)?<([^>]*)>/gi)].map(([, iri]) => folderOf(query) + iri);
  const named = new Map<string, readonly Quad[]>();
  for (const path of [...graphs, ...from]) named.set(base + path, (await read(path)).own);
  const defaults: (readonly Quad[])[] = [];
  for (const path of data) {
    const { own, named: others } = await read(path);
    defaults.push(own);
    for (const [name, quads] of others) named.set(name, quads);
  }
  return { graphs: named, defaultGraph: unionOf(defaults) };
}

/** Term as read from CSV, which distinguishes blank nodes only. */
const asInCsv = (term: Term): Term => (term.termType === 'BlankNode' ? term : ({ ...literalOf(term.value) } as Term));
const literalOf = (value: string) => ({
  termType: 'Literal' as const,
  value,
  language: '',
  datatype: { termType: 'NamedNode' as const, value: 'http://www.w3.org/2001/XMLSchema#string' },
});

const outcomeOf = (result: NaiveResult, type: string): Outcome =>
  result.kind === 'solutions' && type === 'text/csv'
    ? { ...result, rows: result.rows.map((row) => new Map([...row].map(([name, term]) => [name, asInCsv(term)]))) }
    : result;

async function check(test: EvaluationTest): Promise<void> {
  const text = readDataFile(test.query);
  const type = mediaTypeOf(test.result);
  const result = await naiveResult(text, await storeOf(test, text), base + test.query);
  const expected = await readOutcome(readDataFile(test.result), type, base + test.result);
  const isSorted = isNumbered(expected) || /\bORDER\s+BY\b/i.test(text.slice(text.lastIndexOf('}')));
  const isOrdered = isSorted && !comparedWithoutOrder.includes(test.id);
  const actual = outcomeOf(result, type);
  expect(
    sameOutcome(actual, expected, { isLax: test.isLax, byValue: true, isOrdered }),
    `${text}\n--- returned\n${outcomeText(actual)}\n--- expected\n${outcomeText(expected)}`,
  ).to.equal(true);
}

// The evaluator shares the blank nodes of a document between its graphs, as these tests require.
for (const id of [
  'data-r2/graph#dawg-graph-10',
  'data-sparql12/eval-triple-terms#graphs-2',
  'data-sparql12/eval-triple-terms#expr-1',
])
  reasons.delete(id);
// Rule 14.14 applies to the server. The evaluator follows section 18.6.
reasons.delete('data-r2/graph#graph-variable-scope');

describe('Naive evaluator of SPARQL 1.1, section 18', () => {
  for (const test of tests) {
    const title = `${test.id}: ${test.name}`;
    const reason = reasons.get(test.id);
    if (reason === undefined) it(title, () => check(test));
    else
      it(`${title} [fails: ${reason}]`, async () => {
        const passes = await check(test).then(
          () => true,
          () => false,
        );
        expect(passes, 'passes: remove it from the list').to.equal(false);
      });
  }
});
