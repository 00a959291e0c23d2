/**
 * Latency of queries with our engine, without HTTP, and with Oxigraph in memory, in one run over the same quads in graphs of 20,
 * from the index, and the cost of authorization if half of the graphs are readable. Run it with `node
 * dist/spec/bench/sparql.js [quads]`. It is not a spec and asserts nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad, Term } from '@rdfjs/types';
import { Store } from 'oxigraph';
import { DataFactory } from 'rdf-data-factory';
import { answersOf } from '../../lib/query/answers.js';
import { bytesOf } from '../../lib/query/memory/index-data.js';
import type { BuilderFunctions } from '../../lib/query/memory/memory-index-builder.js';
import { MemoryLayers, type MemoryView } from '../../lib/query/memory/memory-layers.js';
import { parseQuery } from '../../lib/query/parse/parse-query.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { type Level, type LevelSnapshot, openLevel, writeBatch } from '../../lib/storage/level/durable-level.js';
import { Thread } from '../../lib/tools/threads/thread.js';

const quads = Number(process.argv[2] ?? 100_000);
const graphs = quads / 20;
const factory = new DataFactory<Quad>();
const base = 'http://example.org/';
const v = `${base}v#`;
const type = factory.namedNode('http://www.w3.org/1999/02/22-rdf-syntax-ns#type');
const integer = factory.namedNode('http://www.w3.org/2001/XMLSchema#integer');
const graphIri = (number: number): string => `${base}r${(number * 7919) % 1_000_003}`;
const personIri = (number: number): string => `${graphIri(number)}#it`;

/** Returns the 20 triples of a person with three acquaintances. */
function personTriples(number: number): Quad[] {
  const subject = factory.namedNode(personIri(number));
  const triple = (name: string, object: Term): Quad =>
    factory.quad(subject, factory.namedNode(v + name), object as never);
  const text = (value: string): Term => factory.literal(value);
  const whole = (value: number): Term => factory.literal(String(value), integer);
  return [
    factory.quad(subject, type, factory.namedNode(`${v}T${number % 50}`)),
    triple('name', text(`Name ${(number * 7919) % 10_000} x${number % 97}`)),
    triple('age', whole((number * 31) % 90)),
    triple('value', whole((number * 13) % graphs)),
    triple('city', factory.namedNode(`${base}city/${(number * 13) % 50}`)),
    triple('dept', text(`dept${number % 20}`)),
    triple('mail', text(`p${number}@example.org`)),
    ...[3, 7, 11].map((step, at) => triple('knows', factory.namedNode(personIri((number * step + at + 1) % graphs)))),
    ...Array.from({ length: 10 }, (_, at) => triple(`p${at}`, text(`text ${at} of ${number}`))),
  ];
}

const prefix = `PREFIX v: <${v}> `;
const one = 4321 % graphs;
const person = `<${personIri(one)}>`;
const queries: Readonly<Record<string, string>> = {
  'Q0 one graph': `SELECT * { GRAPH <${graphIri(one)}> { ?s ?p ?o } }`,
  'Q1 star of three':
    'SELECT ?s ?n ?a { GRAPH ?g { ?s v:city <http://example.org/city/7> ; v:dept "dept19" ; v:name ?n ; v:age ?a } }',
  'Q2 COUNT(*)': 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }',
  'Q3 join of two graphs': 'SELECT ?a ?n { GRAPH ?g { ?a a v:T7 ; v:knows ?b } GRAPH ?h { ?b v:name ?n } }',
  'Q4 numeric filter': `SELECT ?s ?x { GRAPH ?g { ?s v:value ?x } FILTER(?x >= ${graphs - 99}) }`,
  'Q5 group, count': 'SELECT ?t (COUNT(*) AS ?n) { GRAPH ?g { ?s a ?t } } GROUP BY ?t',
  'S1 one subject': `SELECT ?p ?o { ${person} ?p ?o }`,
  'S2 two hops': `SELECT ?n { ${person} v:knows ?a . ?a v:knows ?b . ?b v:name ?n }`,
  'S3 filter, order, limit':
    'SELECT ?s ?n { ?s v:city <http://example.org/city/7> ; v:age ?a ; v:name ?n FILTER(?a > 40) } ORDER BY ?n LIMIT 20',
  'S4 group, count, avg': 'SELECT ?c (COUNT(?s) AS ?n) (AVG(?a) AS ?m) { ?s v:city ?c ; v:age ?a } GROUP BY ?c',
  'S5 CONTAINS': 'SELECT ?s { ?s v:name ?n FILTER(CONTAINS(?n, "77 x7")) }',
  'S6 optional': 'SELECT ?s ?m { ?s v:dept "dept7" OPTIONAL { ?s v:mail ?m } }',
  'S7 union COUNT(*)': 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
  'S8 distinct predicates': 'SELECT DISTINCT ?p { ?s ?p ?o }',
};

const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const level = await openLevel(folder);
const oxigraph = new Store();
for (let at = 0; at < graphs; at += 500) {
  const slice = Array.from({ length: Math.min(500, graphs - at) }, (_, index) => at + index);
  await write(level, slice);
  oxigraph.load(slice.map(nquads).join(''), { format: 'application/n-quads', no_transaction: true } as never);
}
await (level as never as { compactRange(from: string, to: string): Promise<void> }).compactRange('G', 'T');

async function write(to: Level, slice: readonly number[]): Promise<void> {
  await writeBatch(
    to,
    (batch) => {
      for (const number of slice)
        for (const key of encodeGraph(graphIri(number), personTriples(number))) batch.put(key, '');
    },
    () => ['M\u0000bench', ''],
  );
}

function nquads(number: number): string {
  const write = (term: Term): string => {
    if (term.termType !== 'Literal') return `<${term.value}>`;
    const text = JSON.stringify(term.value);
    return term.datatype.value.endsWith('#string') ? text : `${text}^^<${term.datatype.value}>`;
  };
  return personTriples(number)
    .map(
      ({ subject, predicate, object }) =>
        `${[subject, predicate, object].map(write).join(' ')} <${graphIri(number)}> .\n`,
    )
    .join('');
}

const visible = new Set(
  Array.from({ length: graphs }, (_, number) => graphIri(number)).filter((_, at) => (at >> 3) % 2 === 0 || at === one),
);
const readable = (all: boolean) => ({
  all,
  known: (graph: string) => visible.has(graph),
  resolve: () => Promise.resolve(),
});

const rssBefore = process.memoryUsage().rss;
const buildBegan = performance.now();
const builder = new Thread<BuilderFunctions>({
  script: new URL('../../lib/query/memory/memory-index-builder.js', import.meta.url),
  limits: {},
});
const filesFrom = Number(process.env['QUADPOD_FILES_FROM'] ?? Number.POSITIVE_INFINITY);
const memory = Number(process.env['QUADPOD_INDEX_BYTES'] ?? 2 ** 30);
const task = { folder, filesFrom, memory, storage: '', isRenewal: false, used: [] };
const { data: index } = (await builder.call('build', task))!;
await builder.end();
const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
console.log(
  `in-memory index: built in ${(performance.now() - buildBegan).toFixed(0)} ms including the start of its thread, ` +
    `${megabytes(bytesOf(index))}, RSS ${megabytes(process.memoryUsage().rss - rssBefore)} more`,
);
const layers = new MemoryLayers();
layers.use({ version: 1, sequence: 0, data: index });
/** Index after writes: 200 graphs have changed since it was built. */
const changed = new MemoryLayers();
changed.use({ version: 1, sequence: 0, data: index });
const changedGraphs = Array.from({ length: 200 }, (_, at) => [graphIri((at * 17) % graphs), at + 1] as const);
changed.record({ graphs: changedGraphs, unsettled: [] });

type From = 'memory' | 'changed';

async function viewFrom(from: From, snapshot: LevelSnapshot): Promise<MemoryView> {
  const position = { version: 1, sequence: 1000 };
  const chosen = from === 'memory' ? layers : changed;
  return (await chosen.view(position, [], { level, snapshot }))!;
}

async function ours(text: string, all: boolean, from: From = 'memory'): Promise<number> {
  const snapshot = level.snapshot();
  const memory = await viewFrom(from, snapshot);
  const query = await parseQuery(prefix + text, base);
  const answers = answersOf(query, { level, snapshot, memory, readable: readable(all) });
  let rows = 0;
  for await (const block of answers.rows()) rows += block.length;
  await answers.close();
  await snapshot.close();
  return rows;
}

function theirs(text: string): number {
  const rows = oxigraph.query(prefix + text, { use_default_graph_as_union: true }) as Map<string, Term>[];
  for (const row of rows) for (const term of row.values()) term.value;
  return rows.length;
}

/** Returns the median of seven runs in milliseconds, after two warm-up runs. */
async function median(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const start = performance.now();
    await run();
    if (i > 1) times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[3]!;
}

console.log(`${quads} quads in ${graphs} graphs, ${visible.size} of them readable in the last columns`);
console.log(
  '| query | rows | ours ms | Oxigraph ms | ratio | half readable ms | to all | 200 graphs changed ms |\n|---|---|---|---|---|---|---|---|',
);
for (const [name, text] of Object.entries(queries)) {
  const [rows, expected] = [await ours(text, true), theirs(text)];
  const [mine, other] = [await median(() => ours(text, true)), await median(() => theirs(text))];
  const half = await median(() => ours(text, false));
  const afterChanges = await median(() => ours(text, true, 'changed'));
  const counts = [rows, await ours(text, true, 'changed'), expected];
  const note = counts.every((count) => count === rows) ? String(rows) : counts.join(', not ');
  const ratio = (of: number, to: number): string => `${(of / to).toFixed(2)}x`;
  const numbers = [
    ...[mine.toFixed(2), other.toFixed(2), ratio(mine, other), half.toFixed(2), ratio(half, mine)],
    afterChanges.toFixed(2),
  ];
  console.log(`| ${[name, note, ...numbers].join(' | ')} |`);
}
await level.close();
rmSync(folder, { recursive: true });
