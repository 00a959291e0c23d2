/**
 * Both query engines return the same result for each W3C test on the same dataset: the stock engine of the query threads, which
 * `sparql-evaluation.spec.ts` tests over HTTP, and the smaller composition for updates and type searches.
 */
import { expect } from 'chai';
import { loadQueryEngine, loadStockEngine } from '../../lib/query/query-engine.js';
import {
  engineAnswer,
  type SpecLevel,
  type SpecTriple,
  type SpecView,
  specLevel,
} from '../lib/query/engine-dataset.js';
import { graphsOfFile } from './datasets.js';
import { type EvaluationTest, readDataFile, w3cTests } from './manifests.js';
import type { Outcome } from './outcomes.js';
import { outcomeText, sameOutcome } from './same-outcome.js';

const base = 'https://w3c.example/';
const tests = w3cTests.filter((test): test is EvaluationTest => test.kind === 'evaluation');
/** True if the result differs between calls. */
const isRandom = (text: string): boolean => /\b(?:RAND|UUID|STRUUID|NOW)\s*\(/i.test(text);

describe('W3C SPARQL tests in both engines', function () {
  this.timeout(60_000);
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  async function outcome(view: SpecView, text: string): Promise<Outcome | string> {
    try {
      const answer = await engineAnswer(store.level, view, text);
      if ('truth' in answer) return { kind: 'boolean', value: answer.truth };
      const variables = [...new Set(answer.rows.flatMap((row) => [...row.keys()]))];
      return { kind: 'solutions', variables, rows: answer.rows, isNumbered: /\bORDER\s+BY\b/i.test(text) };
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  }

  for (const { id, query, data, graphs } of tests)
    it(id, async () => {
      const text = readDataFile(query);
      if (isRandom(text)) return;
      const folder = query.slice(0, query.lastIndexOf('/') + 1);
      const from = [...text.matchAll(/\bFROM\s+(?:NAMED\s+)?<([^>]*)>/gi)].map(([, iri]) => folder + iri);
      const filled = new Map<string, readonly SpecTriple[]>();
      const inFiles: string[] = [];
      for (const path of new Set([...data, ...graphs, ...from])) {
        const { own, named } = await graphsOfFile(path, base + path);
        filled.set(base + path, own);
        for (const [name, quads] of named) filled.set(name, quads);
        inFiles.push(...named.keys());
      }
      await store.fill(filled);
      const namedGraphs = [...graphs.map((path) => base + path), ...inFiles];
      const named = { defaultGraphs: data.map((path) => base + path), namedGraphs };
      const view = { readable: new Set(filled.keys()), ...(from.length > 0 ? {} : named) };
      const sent = `BASE <${base}${query}> ${text}`;
      const composed = await outcome({ ...view, loadEngine: loadQueryEngine }, sent);
      const stock = await outcome({ ...view, loadEngine: loadStockEngine }, sent);
      if (typeof stock === 'string' || typeof composed === 'string') expect(stock).to.equal(composed);
      else {
        const isOrdered = composed.kind === 'solutions' && composed.isNumbered;
        expect(
          sameOutcome(stock, composed, { isOrdered }),
          `${outcomeText(stock)}\n---\n${outcomeText(composed)}`,
        ).to.equal(true);
      }
    });
});
