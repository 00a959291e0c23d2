/**
 * Data and queries of `queries` over HTTP: our server, Oxigraph in memory behind `node:http`, and Virtuoso if `virtuoso-t` is
 * installed. Each is a separate process, and its CPU time is read from `/proc`. Our results are compared with Oxigraph's. Run it
 * with `node dist/spec/bench/endpoints.js [products] [part of a name] [open | owner | user]`: 4 000 products are a million quads, and
 * the last argument is the caller (default: `open`). It is not a spec and asserts nothing.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Term } from '@rdfjs/types';
import { graphsOf, shapeQueries } from './query-shapes.js';
import {
  ask,
  type BenchCaller,
  cpuOf,
  type Endpoint,
  hasVirtuoso,
  ours,
  oxigraph,
  ready,
  virtuoso,
} from './sparql-servers.js';

const products = Number(process.argv[2] ?? 400);
const only = process.argv[3] ?? '';
const caller = (process.argv[4] ?? 'open') as BenchCaller;
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
/** Queries that Oxigraph does not finish. */
const unanswered = /[?]m4/;

const writeTerm = (term: Term): string => {
  if (term.termType !== 'Literal') return `<${term.value}>`;
  const text = JSON.stringify(term.value);
  return term.datatype.value.endsWith('#string') ? text : `${text}^^<${term.datatype.value}>`;
};
let [quads, graphs] = [0, 0];
const file = join(folder, 'data.nq');
const triplesOf = new Map<string, string[]>();
for (const [graph, own] of graphsOf(products)) {
  graphs++;
  quads += own.length;
  triplesOf.set(
    graph,
    own.map((quad) => [quad.subject, quad.predicate, quad.object].map((term) => writeTerm(term as Term)).join(' ')),
  );
}
writeFileSync(
  file,
  [...triplesOf].map(([graph, lines]) => lines.map((line) => `${line} <${graph}> .\n`).join('')).join(''),
);

interface Cost {
  readonly cpu: number;
  readonly rows: readonly string[];
}

/** Returns rows in a normal form for comparisons between engines. */
function rowsOf(text: string): readonly string[] {
  const { boolean, results } = JSON.parse(text) as {
    boolean?: boolean;
    results?: { bindings: Record<string, { value: string }>[] };
  };
  if (boolean !== undefined) return [String(boolean)];
  const plain = (value: string): string => (/^-?\d+\.\d+$/.test(value) ? String(Number(value)) : value);
  return results!.bindings
    .map((row) =>
      Object.values(row)
        .map(({ value }) => plain(value))
        .sort()
        .join(' '),
    )
    .sort();
}

/** Returns the mean CPU time of a query in milliseconds, over one second of CPU time after a warm-up of the same length. */
async function cost(endpoint: Endpoint, query: string): Promise<Cost | string> {
  let rows: readonly string[] = [];
  const run = async (most: number): Promise<number> => {
    const [began, start] = [cpuOf(endpoint.pid), performance.now()];
    let count = 0;
    for (let spent = 0; spent < most && performance.now() - start < 8 * most; spent = cpuOf(endpoint.pid) - began) {
      const { status, text } = await ask(endpoint, query);
      if (status !== 200) throw new Error(`${status}: ${text.slice(0, 60).replace(/\s+/g, ' ')}`);
      if (count++ === 0) rows = rowsOf(text);
    }
    return (cpuOf(endpoint.pid) - began) / count;
  };
  try {
    await run(1000);
    return { cpu: await run(1000), rows };
  } catch (error) {
    return (error as Error).message;
  }
}

const endpoints = [
  await ours(triplesOf, {}, caller),
  await oxigraph(file),
  ...(hasVirtuoso ? [await virtuoso(file, folder)] : []),
];
for (const endpoint of endpoints) await ready(endpoint);
// Warm-up: the first queries load modules, and so does the idle server afterwards.
for (let round = 0; round < 3000; round++)
  for (const endpoint of endpoints) await ask(endpoint, shapeQueries[round % 12]![1]);
await sleep(5_000);

console.log(
  `${quads} quads in ${graphs} graphs, caller: ${caller}, CPU time of the server in ms for a query over HTTP`,
);
console.log(`| query | rows | ${endpoints.map(({ name }) => name).join(' | ')} | to Oxigraph |`);
console.log(`|---|---|${endpoints.map(() => '---|').join('')}---|`);
const ratios: number[] = [];
for (const [name, text] of shapeQueries.filter(([each]) => each.includes(only))) {
  const costs: (Cost | string)[] = [];
  for (const endpoint of endpoints)
    costs.push(endpoint.name === 'Oxigraph' && unanswered.test(text) ? 'not run' : await cost(endpoint, text));
  const [own, other] = costs as [Cost | string, Cost | string];
  const isBoth = typeof own !== 'string' && typeof other !== 'string';
  const isSame = !isBoth || own.rows.join('\n') === other.rows.join('\n');
  if (isBoth) ratios.push(own.cpu / other.cpu);
  const count = typeof own === 'string' ? '-' : own.rows.length;
  const shown = costs.map((each) => (typeof each === 'string' ? each : each.cpu.toFixed(2)));
  const ratio = isBoth ? (own.cpu / other.cpu).toFixed(2) : '-';
  console.log(`| ${[name, isSame ? count : `${count}, DIFFERENT ROWS`, ...shown, ratio].join(' | ')} |`);
}
const mean = Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length);
console.log(`geometric mean of the ratios: ${mean.toFixed(2)}`);
rmSync(folder, { recursive: true, force: true });
process.exit();
