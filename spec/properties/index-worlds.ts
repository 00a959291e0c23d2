/**
 * A database with an index in files that is read in short windows: graphs change, the index is merged with them, and a restarted server opens it
 * again. Beside it, the quads of each graph, for a naive scan.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { KeyReader, type Terms } from '../../lib/query/access/key-reader.js';
import type { IndexData } from '../../lib/query/memory/index-data.js';
import { MemoryLayers, type MemoryView } from '../../lib/query/memory/memory-layers.js';
import { SegmentRun } from '../../lib/query/memory/segment-run.js';
import { mergeInputs, mergeSegments } from '../../lib/query/segments/merge.js';
import { PageCache, pageBytes } from '../../lib/query/segments/page-file.js';
import { openSegment, Segment, type SegmentName } from '../../lib/query/segments/segment.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { type ResourceRecord, recordKey, writeRecord } from '../../lib/storage/keys/records.js';
import { type Level, type LevelSnapshot, openLevel, writeBatch } from '../../lib/storage/level/durable-level.js';
import type { Random } from './sparql-random.js';

const factory = new DataFactory<Quad>();
const reader = new KeyReader();

export const storage = 'http://s.example/';
export const vocabulary = 'http://e.example/';
export const containers = ['a/', 'b/', 'b/in/', 'c/'].map((path) => storage + path);
/** Owner of every third resource. */
export const creator = 'did:example:creator';
const resourcesOf = 8;
export const resources = containers.flatMap((container) =>
  Array.from({ length: resourcesOf }, (_, at) => `${container}${at}`),
);
export const ownerOf = (iri: string): string | undefined => (resources.indexOf(iri) % 3 === 0 ? creator : undefined);
/** Graphs of the resources, and of the linksets of some of them. */
const graphs = resources.flatMap((iri, at) => (at % 4 === 0 ? [iri, `${iri}.meta`] : [iri]));
/** More quads than are sorted again for each query, so that they become a layer of their own. */
const manyQuads = 1200;

export class IndexWorld {
  /** Quads of each graph. */
  private readonly content = new Map<string, readonly Terms[]>();
  private readonly keys = new Map<string, readonly string[]>();
  private readonly folder = mkdtempSync(join(tmpdir(), 'quadpod-callers-'));
  private level!: Level;
  private layers = new MemoryLayers();
  private version = 0;
  private sequence = 0;
  private files = 0;
  private file!: SegmentName;
  /** Graphs that have changed since the index was built, with the number of the last change. */
  private changed = new Map<string, number>();
  /** Number of the last change that the layers know. */
  private told = 0;

  private constructor(private readonly random: Random) {}

  static async open(random: Random): Promise<IndexWorld> {
    const world = new IndexWorld(random);
    world.level = await openLevel(join(world.folder, 'level'));
    const records = resources.map((iri) => [recordKey(iri), writeRecord(recordOf(iri))] as const);
    await writeBatch(
      world.level,
      (batch) => {
        for (const [key, value] of records) batch.put(key, value);
      },
      () => ['M\u0000spec', ''],
    );
    await world.change(graphs, () => random.pick([0, 1, 3, 10, 40]));
    world.write([...world.keys.values()].flat());
    return world;
  }

  async close(): Promise<void> {
    await this.level.close();
    rmSync(this.folder, { recursive: true });
  }

  get quads(): readonly Terms[] {
    return [...this.content.values()].flat();
  }

  /** Replaces some graphs. */
  async changeSome(): Promise<void> {
    const { random } = this;
    const some = new Set(random.some(1, 5, () => random.pick(graphs)));
    await this.change([...some], () => random.pick([0, 1, 2, 5, 30]));
  }

  /** Replaces a graph by one that queries keep sorted. */
  changeMuch(): Promise<void> {
    return this.change([this.random.pick(graphs)], () => manyQuads);
  }

  /** Merges the index with the changed graphs. */
  merge(): void {
    const cache = new PageCache(0);
    const inputs = [this.file, this.run(this.changed.keys())];
    const segments = inputs.map((each) => new Segment(openSegment(each, 0), () => cache));
    this.file = mergeSegments(mergeInputs(segments), { name: this.name() });
    for (const segment of segments) segment.close();
    this.changed = new Map();
    this.use();
  }

  /** Opens the files as after a restart: all graphs that have changed since are read again. */
  restart(): void {
    this.layers = new MemoryLayers();
    this.told = 0;
    this.use();
  }

  /** Returns the snapshot with its index, for a query. A window has a few quads, where that of an index has thousands. */
  async view(): Promise<{ readonly level: Level; readonly snapshot: LevelSnapshot; readonly memory: MemoryView }> {
    const { level, random, version, sequence } = this;
    const snapshot = level.snapshot();
    // A change that is under way is a change since the last message.
    const unsettled = random.chance(0.3) ? [...this.changed.keys()].slice(0, 2) : [];
    const graphs = [...this.changed].filter(([graph, at]) => at > this.told || unsettled.includes(graph));
    this.told = sequence;
    this.layers.record({ graphs, unsettled });
    const memory = await this.layers.view({ version, sequence }, unsettled, { level, snapshot });
    const maxAhead = random.pick([1, 2, 3, 7, 50]);
    const layers = memory!.layers.map((layer) => ({ ...layer, maxAhead }));
    return { level, snapshot, memory: { terms: memory!.terms, layers } };
  }

  private async change(some: readonly string[], countOf: () => number): Promise<void> {
    const before = some.flatMap((graph) => this.keys.get(graph) ?? []);
    for (const graph of some) {
      const keys = [...new Set(this.keysOf(graph, countOf()))];
      this.keys.set(graph, keys);
      this.content.set(graph, keys.map(termsOf));
      this.changed.set(graph, ++this.sequence);
    }
    await writeBatch(
      this.level,
      (batch) => {
        for (const key of before) batch.del(key);
        for (const key of some.flatMap((graph) => this.keys.get(graph) ?? [])) batch.put(key, '');
      },
      () => ['M\u0000spec', ''],
    );
  }

  /** Most graphs have triples of other graphs too, and some a predicate of their own. */
  private keysOf(graph: string, count: number): string[] {
    const { random } = this;
    const iri = (name: string) => factory.namedNode(vocabulary + name);
    const own = random.chance(0.5) ? [`p${graphs.indexOf(graph)}`] : [];
    const predicates = [...own, 'p', 'q', 'r'];
    const objects = [...Array(6).keys()].map((at) => iri(`o${at}`));
    const quads = Array.from({ length: count }, (_, at) =>
      factory.quad(
        iri(`s${random.below(count > 100 ? count : 8)}`),
        iri(random.pick(predicates)),
        random.chance(0.5) ? random.pick(objects) : factory.literal(String(at)),
      ),
    );
    return encodeGraph(graph, quads);
  }

  /** Builds the index from all quads. */
  private write(keys: readonly string[]): void {
    const run = new SegmentRun();
    for (const key of keys) run.add(key);
    this.file = run.write(this.name(), { graphs: [] });
    this.changed = new Map();
    this.use();
  }

  private run(some: Iterable<string>): SegmentName {
    const [run, all] = [new SegmentRun(), [...some]];
    for (const graph of all) for (const key of this.keys.get(graph) ?? []) run.add(key);
    return run.write(this.name(), { graphs: all });
  }

  private use(): void {
    const data: IndexData = openSegment(this.file, this.random.pick([0, 40 * pageBytes, 1 << 30]));
    // After a restart the layers are told of all changed graphs again.
    const sequence = this.changed.size === 0 ? this.sequence : 0;
    this.layers.use({ version: ++this.version, sequence, data });
  }

  private name(): string {
    return join(this.folder, `${++this.files}.seg`);
  }
}

const termsOf = (key: string): Terms => {
  reader.read(key);
  return [0, 1, 2, 3].map((place) => reader.token(place)) as never;
};

const recordOf = (iri: string): ResourceRecord => {
  const owner = ownerOf(iri);
  const facts = { revision: 'spec', mediaType: 'text/turtle', size: 0, created: 0, modified: 0 };
  return { iri, kind: 'rdf', ...facts, triples: 1, ...(owner !== undefined && { owner }) };
};
