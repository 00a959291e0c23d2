/**
 * CPU time of queries in the shapes of BSBM, SP2Bench and WatDiv with our engine, without HTTP and from the in-memory index, and
 * with Oxigraph in memory, alternating over the same quads. The results are compared. Run it with `node
 * dist/spec/bench/queries.js [products] [part of a name]`. A product makes about 240 quads, so 4 000 products make a million. It
 * is not a spec and asserts nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Term } from '@rdfjs/types';
import { Store } from 'oxigraph';
import { answersOf } from '../../lib/query/answers.js';
import type { BuilderFunctions } from '../../lib/query/memory/memory-index-builder.js';
import { MemoryLayers } from '../../lib/query/memory/memory-layers.js';
import { parseQuery } from '../../lib/query/parse/parse-query.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { openLevel, writeBatch } from '../../lib/storage/level/durable-level.js';
import { Thread } from '../../lib/tools/threads/thread.js';
import { graphsOf, shapeQueries } from './query-shapes.js';

const products = Number(process.argv[2] ?? 400);
const only = process.argv[3] ?? '';
/** Queries that Oxigraph does not finish. */
const unanswered = /[?]m4/;
/** Timeout of our queries, in milliseconds. */
const patience = 20_000;

const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const level = await openLevel(folder);
const oxigraph = new Store();
const writeTerm = (term: Term): string => {
  if (term.termType !== 'Literal') return `<${term.value}>`;
  const text = JSON.stringify(term.value);
  return term.datatype.value.endsWith('#string') ? text : `${text}^^<${term.datatype.value}>`;
};
let [quads, graphs] = [0, 0];
for (const [graph, own] of graphsOf(products)) {
  graphs++;
  quads += own.length;
  await writeBatch(
    level,
    (batch) => {
      for (const key of encodeGraph(graph, own)) batch.put(key, '');
    },
    () => ['M\u0000bench', ''],
  );
  const lines = own.map(
    ({ subject, predicate, object }) => `${[subject, predicate, object].map(writeTerm).join(' ')} <${graph}> .\n`,
  );
  oxigraph.load(lines.join(''), { format: 'application/n-quads', no_transaction: true } as never);
}
const builder = new Thread<BuilderFunctions>({
  script: new URL('../../lib/query/memory/memory-index-builder.js', import.meta.url),
  limits: {},
});
const filesFrom = Number(process.env['QUADPOD_FILES_FROM'] ?? Number.POSITIVE_INFINITY);
const memory = Number(process.env['QUADPOD_INDEX_BYTES'] ?? 2 ** 30);
const task = { folder, filesFrom, memory, storage: '', isRenewal: false, used: [] };
const { data: index } = (await builder.call('build', task))!;
await builder.end();
const layers = new MemoryLayers();
layers.use({ version: 1, sequence: 0, data: index });

/** Readable graphs: every second block of eight. */
const visible = new Set([...graphsOf(products)].map(([graph]) => graph).filter((_, at) => (at >> 3) % 2 === 0));
const everything = { all: true, known: (_graph: string) => true, resolve: () => Promise.resolve() };
const half: typeof everything = { ...everything, all: false, known: (graph) => visible.has(graph) };

const textOf = (term: Term | undefined): string => (term === undefined ? '' : writeTerm(term));
/** Normalizes a row: Oxigraph has other columns for `*`, and omits unbound variables. */
const rowOf = (row: readonly (Term | undefined)[]): string => row.map(textOf).sort().join(' ').trim();
const isOrdered = (text: string): boolean => /ORDER BY/.test(text);

async function ours(text: string, readable: typeof everything): Promise<string[]> {
  const snapshot = level.snapshot();
  const view = await layers.view({ version: 1, sequence: 1000 }, [], { level, snapshot });
  const end = performance.now() + patience;
  const assertTime = (): void => {
    if (performance.now() > end) throw new Error('timeout');
  };
  const answers = answersOf(await parseQuery(text, 'http://bench.example/'), {
    ...{ level, snapshot, memory: view!, readable, assertTime },
  });
  try {
    if (/ASK/.test(text)) return [String(await answers.truth())];
    const rows: string[] = [];
    for await (const block of answers.rows()) for (const row of block) rows.push(rowOf(row));
    return rows;
  } finally {
    await answers.close();
    await snapshot.close();
  }
}

function theirs(text: string): string[] {
  const found = oxigraph.query(text, { use_default_graph_as_union: true }) as Map<string, Term>[] | boolean;
  if (typeof found === 'boolean') return [String(found)];
  return found.map((row) => rowOf([...row.values()]));
}

const milliseconds = (usage: NodeJS.CpuUsage): number => (usage.user + usage.system) / 1000;

/** Returns the median CPU time in ms of the second half of the runs. Runs for 400 ms, but at least three times. */
async function cost(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let spent = 0; spent < 400 || times.length < 3; ) {
    const before = process.cpuUsage();
    await run();
    times.push(milliseconds(process.cpuUsage(before)));
    spent += times.at(-1)!;
  }
  const warm = times.slice(times.length >> 1).sort((a, b) => a - b);
  return warm[warm.length >> 1]!;
}

/** `3.0` and `3` are the same decimal. */
const sorted = (rows: string[], text: string): string =>
  (isOrdered(text) ? rows : rows.sort()).join('\n').replace(/\.0(?="\^\^<[^>]*#decimal>)/g, '');

console.log(`${quads} quads in ${graphs} graphs, ${visible.size} of them readable in the last columns, CPU time in ms`);
console.log('| query | rows | Oxigraph | ours | ratio | half readable | to all |\n|---|---|---|---|---|---|---|');
const ratios: number[] = [];
for (const [name, text] of shapeQueries.filter(([each]) => each.includes(only))) {
  try {
    const own = await ours(text, everything);
    const other = unanswered.test(text) ? undefined : theirs(text);
    const isSame = !other || sorted(own, text) === sorted(other, text);
    const mine = await cost(() => ours(text, everything));
    const peer = other && (await cost(() => theirs(text)));
    const some = await cost(() => ours(text, half));
    if (peer !== undefined) ratios.push(mine / peer);
    const numbers = [
      ...[peer?.toFixed(2) ?? '-', mine.toFixed(2), peer === undefined ? '-' : (mine / peer).toFixed(2)],
      ...[some.toFixed(2), (some / mine).toFixed(2)],
    ];
    const rows = isSame ? own.length : `${own.length}, DIFFERENT FROM ${other!.length}`;
    console.log(`| ${[name, rows, ...numbers].join(' | ')} |`);
  } catch (error) {
    console.log(`| ${name} | ${(error as Error).message} |`);
  }
}
console.log(
  `geometric mean of the ratios: ${Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length).toFixed(2)}`,
);
await level.close();
rmSync(folder, { recursive: true });
