/** Iterates over the named graphs of the dataset, including empty graphs (SPARQL 1.1 18.6). */
import type { TermKey } from '../access/terms.js';
import { type Blocks, type GraphsPlan, type Row, termAt } from '../plan/plan.js';
import { distinctTerms } from './distinct-terms.js';
import { blockLength, type Execution, recall } from './execution.js';

/** Yields the distinct graph names in blocks. @param only restricts the result to one graph */
export async function* graphNames(execution: Execution, only?: TermKey): AsyncGenerator<readonly TermKey[]> {
  if (only !== undefined) return (await isGraph(execution, only)) && (yield [only]);
  yield* distinctTerms(execution, [undefined, undefined, undefined, undefined], 3, 'named');
  yield* emptyGraphNames(execution);
}

/** Yields the names of graphs without triples. */
export async function* emptyGraphNames({ emptyGraphs }: Execution): AsyncGenerator<readonly TermKey[]> {
  if (emptyGraphs) yield await emptyGraphs.all();
}

/** Returns true if a graph with this name exists. */
async function isGraph({ matches, emptyGraphs }: Execution, name: TermKey): Promise<boolean> {
  for await (const block of matches.stream([undefined, undefined, undefined, name], { part: 'named', places: [] }))
    if (block.length > 0) return true;
  return emptyGraphs?.has(name) ?? false;
}

/** Joins rows with the named graphs. A row with a bound graph is kept if the graph exists. Others are repeated per graph. */
export async function* inGraphs(execution: Execution, plan: GraphsPlan, input: Blocks): AsyncGenerator<Row[]> {
  const { graph } = plan;
  const known = recall(execution, { part: plan, as: 'graphs' }, () => new Map<TermKey, boolean>());
  const isKnown = async (name: TermKey): Promise<boolean> => {
    const found = known.get(name) ?? (await isGraph(execution, name));
    known.set(name, found);
    return found;
  };
  for await (const rows of input) {
    const kept: Row[] = [];
    const open: Row[] = [];
    for (const row of rows) {
      const name = termAt(graph, row);
      if (name === undefined) open.push(row);
      else if (await isKnown(name)) kept.push(row);
    }
    if (kept.length > 0) yield kept;
    if (open.length > 0) yield* forEachGraph(execution, plan, open);
  }
}

async function* forEachGraph(execution: Execution, { graph }: GraphsPlan, rows: Row[]): AsyncGenerator<Row[]> {
  const slot = graph && 'slot' in graph ? graph.slot : undefined;
  let out: Row[] = [];
  for await (const names of graphNames(execution)) {
    for (const name of names)
      for (const row of rows) {
        const copy = row.slice();
        if (slot !== undefined) copy[slot] = name;
        out.push(copy);
        if (out.length < blockLength) continue;
        execution.assertTime();
        yield out;
        out = [];
      }
    if (out.length > 0) yield out;
    out = [];
  }
}
