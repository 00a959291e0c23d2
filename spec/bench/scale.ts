/**
 * Index for queries at scale: CPU time and size of a build, and CPU time of queries below HTTP with the index in memory and in
 * files, beside Oxigraph in memory for up to a million quads. Run it with `node dist/spec/bench/scale.js [quads]`. It is not a spec
 * and asserts nothing.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
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
import { openSegment, type SegmentData } from '../../lib/query/segments/segment.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { openLevel, writeBatch } from '../../lib/storage/level/durable-level.js';
import { Thread } from '../../lib/tools/threads/thread.js';
import { Random } from '../properties/sparql-random.js';

const quads = Number(process.argv[2] ?? 1_000_000);
const graphs = Math.round(quads / 20);
const [root, v] = ['http://localhost/', 'http://example.org/v#'];
const factory = new DataFactory<Quad>();
const words = 'river stone light paper window garden winter letter music bread north signal harbour copper field'.split(
  ' ',
);
const graphIri = (at: number): string =>
  `${root}c${String(Math.floor(at / 500)).padStart(6, '0')}/d${String(at).padStart(9, '0')}`;

/** A document of twenty triples about itself and a part, with links to others. */
function documentQuads(at: number): Quad[] {
  const random = new Random(at + 1);
  const [graph, subject] = [factory.namedNode(graphIri(at)), factory.namedNode(`${graphIri(at)}#it`)];
  const part = factory.namedNode(`${graphIri(at)}#part`);
  const text = (value: string): Term => factory.literal(value);
  const number = (value: number): Term =>
    factory.literal(String(value), factory.namedNode('http://www.w3.org/2001/XMLSchema#integer'));
  const link = (): Term => factory.namedNode(`${graphIri(random.below(graphs))}#it`);
  const person = (): Term => factory.namedNode(`${root}people/p${random.below(20_000)}#me`);
  const ofSubject: [string, Term][] = [
    ...[
      ['name', text(`${random.pick(words)} ${at}`)],
      ['type', factory.namedNode(`${v}T${random.below(8)}`)],
    ],
    ...[['description', text(`${random.some(6, 11, () => random.pick(words)).join(' ')} ${random.below(100_000)}`)]],
    ...[
      ['keywords', text(random.pick(words))],
      ['keywords', text(`${random.pick(words)} ${random.pick(words)}`)],
    ],
    ...[
      ['created', number(random.below(200_000))],
      ['modified', number(random.below(200_000))],
    ],
    ...[
      ['creator', person()],
      ['author', person()],
      ['knows', link()],
      ['knows', link()],
      ['isPartOf', part],
    ],
    ['about', factory.namedNode(`http://www.wikidata.org/entity/Q${random.below(100_000)}`)],
  ] as [string, Term][];
  const ofPart: [string, Term][] = [
    ...[
      ['type', factory.namedNode(`${v}T${random.below(8)}`)],
      ['position', number(random.below(1000))],
    ],
    ...[
      ['value', number(random.below(100_000))],
      ['unit', text(random.pick(['m', 's', 'kg', 'K']))],
    ],
    ...[
      ['location', text(`place ${random.below(5000)}`)],
      ['version', number(random.below(20))],
    ],
    ['url', factory.namedNode(`http://example.org/${random.below(1_000_000)}`)],
  ] as [string, Term][];
  const quad = (of: Term, [name, object]: [string, Term]): Quad =>
    factory.quad(of as never, factory.namedNode(v + name), object as never, graph);
  return [...ofSubject.map((each) => quad(subject, each)), ...ofPart.map((each) => quad(part, each))];
}

const [graph, person] = [graphIri(1234 % graphs), `<${root}people/p777#me>`];
const queries: Readonly<Record<string, string>> = {
  'one graph': `SELECT * { GRAPH <${graph}> { ?s ?p ?o } }`,
  'one subject': `SELECT ?p ?o { <${graph}#it> ?p ?o }`,
  'two hops': `SELECT ?n { <${graph}#it> v:knows ?a . ?a v:knows ?b . ?b v:name ?n }`,
  'star of four': `SELECT ?s ?n ?k ?t { ?s v:creator ${person} ; v:name ?n ; v:keywords ?k ; v:type ?t }`,
  'two stars, filter': `SELECT ?s ?l { ?s v:creator ${person} ; v:isPartOf ?q . ?q v:location ?l ; v:value ?x FILTER(?x > 500) }`,
  'object, join, order':
    'SELECT ?s ?n { ?q v:location "place 17" . ?s v:isPartOf ?q ; v:name ?n } ORDER BY ?n LIMIT 20',
  'COUNT(*)': 'SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }',
  'group, count': 'SELECT ?u (COUNT(?q) AS ?n) { ?q v:unit ?u } GROUP BY ?u',
  'distinct predicates': 'SELECT DISTINCT ?p { ?s ?p ?o }',
  'join of all, STRSTARTS': 'SELECT (COUNT(*) AS ?c) { ?s v:creator ?p ; v:name ?n FILTER(STRSTARTS(?n, "river 1")) }',
};

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const folder = mkdtempSync(join(tmpdir(), 'quadpod-scale-'));
const level = await openLevel(join(folder, 'level'));
const oxigraph = quads <= 1_000_000 ? new Store() : undefined;
for (let at = 0; at < graphs; at += 500) {
  const some = Array.from({ length: Math.min(500, graphs - at) }, (_, i) => documentQuads(at + i));
  const fill = (batch: { put(key: string, value: string): void }): void => {
    for (const own of some) for (const key of encodeGraph(own[0]!.graph.value, own)) batch.put(key, '');
  };
  await writeBatch(level, fill, () => ['M\u0000bench', '']);
  for (const quad of oxigraph ? some.flat() : []) oxigraph!.add(quad as never);
}

const builder = new Thread<BuilderFunctions>({
  script: new URL('../../lib/query/memory/memory-index-builder.js', import.meta.url),
  limits: {},
});
const began = cpu();
const task = {
  folder: join(folder, 'level'),
  filesFrom: 0,
  memory: 2 ** 31,
  storage: root,
  isRenewal: false,
  used: [],
};
const built = (await builder.call('build', task))!.data as SegmentData;
const used = cpu() - began;
await builder.end();
const perQuad = (amount: number): string => (amount / quads).toFixed(1);
console.log(
  `${quads} quads: build ${perQuad(used)} us of CPU per quad, file ${perQuad(statSync(built.name).size)} bytes per quad, ` +
    `in memory ${(bytesOf(built) / 2 ** 20).toFixed(0)} MiB`,
);

async function viewOf(data: SegmentData): Promise<MemoryView> {
  const layers = new MemoryLayers();
  layers.use({ version: 1, sequence: 0, data });
  return (await layers.view({ version: 1, sequence: 1 }, [], { level, snapshot: level.snapshot() }))!;
}
const [memory, files] = [await viewOf(built), await viewOf(openSegment(built, 0))];
const prefix = `PREFIX v: <${v}> `;
const readable = { all: true, known: () => true, resolve: () => Promise.resolve() };

async function ours(text: string, view: MemoryView): Promise<number> {
  const snapshot = level.snapshot();
  const answers = answersOf(await parseQuery(prefix + text, root), { level, snapshot, memory: view, readable });
  let rows = 0;
  for await (const block of answers.rows()) rows += block.length;
  await answers.close();
  await snapshot.close();
  return rows;
}

function theirs(text: string): number {
  const rows = oxigraph!.query(prefix + text, { use_default_graph_as_union: true }) as Map<string, Term>[];
  for (const row of rows) for (const term of row.values()) term.value;
  return rows.length;
}

/** Returns the median CPU time in milliseconds of up to 200 runs within 3 seconds, after a warm-up run. */
async function median(run: () => unknown): Promise<string> {
  await run();
  const times: number[] = [];
  for (const end = Date.now() + 3000; times.length < 5 || (times.length < 200 && Date.now() < end); ) {
    const before = cpu();
    await run();
    times.push(cpu() - before);
  }
  return (times.sort((a, b) => a - b)[times.length >> 1]! / 1000).toFixed(2);
}

console.log('| query | rows | in memory, ms | in files, ms | Oxigraph, ms |\n|---|---|---|---|---|');
for (const [name, text] of Object.entries(queries)) {
  const rows = await ours(text, memory);
  if (oxigraph && theirs(text) !== rows) throw new Error(`${name}: ${rows} rows, Oxigraph has ${theirs(text)}.`);
  const times = [await median(() => ours(text, memory)), await median(() => ours(text, files))];
  console.log(`| ${[name, rows, ...times, oxigraph ? await median(() => theirs(text)) : '–'].join(' | ')} |`);
}
await level.close();
rmSync(folder, { recursive: true });
process.exit();
