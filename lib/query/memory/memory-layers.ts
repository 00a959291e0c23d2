/**
 * Builds the view of a query in one thread. It consists of the base, which all threads share, and layers of this thread with
 * the graphs changed since, in the state of the query's snapshot.
 */
import { graphRange, sortGraphs } from '../../storage/keys/quad-keys.js';
import type { Level, LevelSnapshot } from '../../storage/level/durable-level.js';
import { OrderedRanges } from '../../storage/level/ordered-ranges.js';
import { ScopeStatistics, type ViewStatistics } from '../access/estimates.js';
import { comparedKeys, type GraphTriples, type IndexData, openIndex, readTriples, recordIn } from './index-data.js';
import { LayerNumbers } from './layer-numbers.js';
import { type QuadOrders, SortedQuads, sortQuads } from './sorted-quads.js';
import { type BaseTerms, noTerms, TermIds } from './term-ids.js';
import { TableFullError } from './term-table.js';

export interface MemoryBase {
  readonly version: number;
  /** Sequence number of the last change that the base includes. */
  readonly sequence: number;
  readonly data: IndexData;
}

/** Query thread, as seen by the index. */
export interface QueryThread {
  /** Sends the index for the next queries to the thread. `undefined`: the index was dropped. */
  call(name: 'use', base: MemoryBase | undefined): Promise<unknown>;
  readonly exited: Promise<void>;
  end(): Promise<unknown>;
}

/** Version of the index that a query uses, read before its snapshot is taken. */
export interface MemoryAsked {
  /** Version of the base to use. */
  readonly version: number;
  /** Sequence number of the last change. */
  readonly sequence: number;
}

/** Changes that a query must apply to the index, read after its snapshot is taken. */
export interface GraphChanges {
  /** Graphs changed since the last message to the thread. `isEmpty`: the last change is on disk and the graph has no quads. */
  readonly graphs: readonly (readonly [graph: string, sequence: number, isEmpty?: boolean])[];
  /** Graphs whose last change may be missing in the snapshot. */
  readonly unsettled: readonly string[];
}

/** Triples of a graph after the change `sequence`. If `sequence` is -1, the triples are valid in the current snapshot only. */
interface KnownGraph {
  readonly sequence: number;
  readonly id: number;
  readonly triples: GraphTriples;
}

/** Maximum count of concurrent readers, and count of graphs assigned to a reader at a time. */
const [lanes, graphsInRow] = [4, 64];
/** Maximum count of quads of changed graphs that are sorted for each query. Above it, the quads become a cached layer. */
const maxRecent = 1000;
/**
 * Maximum count of terms outside of the base: the larger of a count and a share of the base's terms. Above it, these terms are
 * dropped and the graphs read again, because most terms may belong to earlier contents of graphs.
 */
const [maxOwnTerms, maxOwnShare] = [250_000, 0.25];

/** Last change of a graph since the base was built. `isEmpty`: after this change, the graph has no quads. */
interface LastChange {
  readonly sequence: number;
  readonly isEmpty: boolean;
}

export class MemoryLayers {
  private base: LayersOfBase | undefined;
  private readonly changed = new Map<string, LastChange>();
  private readonly scopes = new ScopeStatistics();

  /** Uses another base for the next views. @param base `undefined` if the index was dropped */
  use(base: MemoryBase | undefined): void {
    for (const [graph, { sequence }] of this.changed)
      if (!base || sequence <= base.sequence) this.changed.delete(graph);
    this.base = base && new LayersOfBase(base, this.changed, this.scopes);
  }

  /** Records the changes of a message. Must be called for each message, even if the query does not use the index. */
  record({ graphs }: GraphChanges): void {
    for (const [graph, sequence, isEmpty = false] of graphs) {
      this.changed.set(graph, { sequence, isEmpty });
      this.base?.pending.add(graph);
      this.scopes.drop(graph);
    }
  }

  /** Count of changed graphs that the next view has to read. */
  get pending(): number {
    return this.base?.pending.size ?? 0;
  }

  /**
   * Returns the view of a snapshot, or `undefined` if the thread has another version of the base, or there are too many terms.
   * @param check called after each block of keys; throws to stop. The next view then reads the remaining graphs
   */
  async view(
    asked: MemoryAsked,
    unsettled: GraphChanges['unsettled'],
    {
      level,
      snapshot,
      check,
    }: { readonly level: Level; readonly snapshot: LevelSnapshot; readonly check?: () => void },
  ): Promise<MemoryView | undefined> {
    if (this.base?.version !== asked.version) return undefined;
    this.base.trim();
    const open = new Set(unsettled);
    const pending = [...this.base.pending].map((graph): PendingGraph => {
      const { sequence, isEmpty } = this.changed.get(graph)!;
      // Only a change that was on disk before the snapshot is certainly contained in this snapshot and in later ones.
      return { graph, sequence, isEmpty, lasts: sequence <= asked.sequence && !open.has(graph) };
    });
    try {
      return await this.base.view(pending, new GraphReader(level, snapshot, check));
    } catch (error) {
      if (error instanceof TableFullError) return undefined;
      throw error;
    }
  }
}

interface PendingGraph extends LastChange {
  readonly graph: string;
  /** True if the triples stay valid in later snapshots, until the next change of the graph. */
  readonly lasts: boolean;
}

/** Reads the triples of graphs from one snapshot. */
class GraphReader {
  constructor(
    readonly level: Level,
    readonly snapshot: LevelSnapshot,
    private readonly check: () => void = () => {},
  ) {}

  /** Reads graphs concurrently, in key order within each reader. @param done called for each graph with its triples */
  async read<T extends { readonly graph: string }>(
    graphs: readonly T[],
    terms: TermIds,
    done: (graph: T, triples: GraphTriples) => void,
  ): Promise<void> {
    if (graphs.length === 0) return;
    const byName = new Map(graphs.map((each) => [each.graph, each]));
    const sorted = sortGraphs([...byName.keys()]);
    const { lt } = graphRange(sorted.at(-1)!);
    let at = 0;
    const lane = async (): Promise<void> => {
      const ranges = new OrderedRanges(this.level, this.snapshot, lt);
      try {
        for (let from = at; from < sorted.length; from = at) {
          at += graphsInRow;
          for (const graph of sorted.slice(from, from + graphsInRow)) {
            this.check();
            done(byName.get(graph)!, await readTriples(this.blocksOf(ranges, graph), terms));
          }
        }
      } finally {
        await ranges.close();
      }
    };
    const ended = await Promise.allSettled(
      Array.from({ length: Math.min(lanes, Math.ceil(sorted.length / graphsInRow)) }, lane),
    );
    for (const result of ended) if (result.status === 'rejected') throw result.reason;
  }

  private async *blocksOf(ranges: OrderedRanges, graph: string): AsyncGenerator<readonly string[]> {
    for await (const keys of comparedKeys(recordIn(this, graph), ranges.blocksOf(graphRange(graph)))) {
      yield keys;
      this.check();
    }
  }
}

/** Base with the graphs changed since. Each base has a new object, since a query may still read graphs for the old base. */
class LayersOfBase {
  readonly version: number;
  /** Graphs to read for the next view: changed graphs, and graphs whose triples were valid in one snapshot only. */
  readonly pending: Set<string>;
  private readonly table: BaseTerms;
  private readonly quads: QuadOrders;
  private readonly masked: Uint8Array;
  private terms: TermIds;
  private readonly known = new Map<string, KnownGraph>();
  /** Cached layer of changed graphs, and these graphs. */
  private settled: (SortedLayer & { readonly graphs: ReadonlyMap<string, KnownGraph> }) | undefined;
  private last: MemoryView | undefined;

  constructor(
    { version, data }: MemoryBase,
    private readonly changed: ReadonlyMap<string, LastChange>,
    private readonly scopes: ScopeStatistics,
  ) {
    this.version = version;
    const { quads, terms } = openIndex(data);
    [this.quads, this.table] = [quads, terms];
    this.masked = new Uint8Array(this.table.size);
    this.terms = new TermIds(this.table);
    this.pending = new Set(changed.keys());
  }

  async view(pending: readonly PendingGraph[], reader: GraphReader): Promise<MemoryView> {
    if (this.last && pending.length === 0) return this.last;
    const note = ({ graph, sequence, lasts }: PendingGraph, triples: GraphTriples): void => {
      const id = this.terms.add(graph);
      if (id < this.masked.length) this.masked[id] = 1;
      if (triples.length > 0) this.known.set(graph, { sequence: lasts ? sequence : -1, id, triples });
      else this.known.delete(graph);
      if (lasts) this.pending.delete(graph);
    };
    const rest: PendingGraph[] = [];
    for (const each of pending)
      if (each.isEmpty && each.lasts) note(each, noNumbers);
      else rest.push(each);
    await reader.read(rest, this.terms, note);
    const known = { id: {}, counts: new Map() };
    this.last = { terms: this.terms, layers: this.layers(), known, scopes: this.scopes };
    return this.last;
  }

  /** Drops the triples that were read if there are too many terms outside of the base. The next view reads the graphs again. */
  trim(): void {
    if (this.terms.ownSize <= Math.max(maxOwnTerms, maxOwnShare * this.table.size)) return;
    this.terms = new TermIds(this.table);
    this.known.clear();
    for (const graph of this.changed.keys()) this.pending.add(graph);
    this.settled = undefined;
    this.last = undefined;
  }

  private layers(): Layer[] {
    const { quads, masked, terms, known } = this;
    const layers: Layer[] = [{ quads, masked: this.changed.size > 0 ? masked : undefined, numbers: undefined }];
    let recent = [...known].filter(([graph, own]) => this.settled?.graphs.get(graph) !== own);
    if (sizeOf(recent) > Math.max(maxRecent, (this.settled?.quads.count ?? 0) / 4)) {
      const lasting = [...known].filter(([, { sequence }]) => sequence >= 0);
      this.settled = { ...sorted(lasting, terms), graphs: new Map(lasting) };
      recent = recent.filter(([, { sequence }]) => sequence < 0);
    }
    if (this.settled) {
      const stale = [...this.settled.graphs].filter(([graph, own]) => known.get(graph) !== own);
      const { quads: lasting, numbers } = this.settled;
      let hidden: Uint8Array | undefined;
      if (stale.length > 0) hidden = new Uint8Array(numbers.ids.length);
      for (const [, { id }] of stale) hidden![numbers.of(id)] = 1;
      layers.push({ quads: lasting, masked: hidden, numbers });
    }
    if (sizeOf(recent) > 0) layers.push({ ...sorted(recent, terms), masked: undefined });
    return layers;
  }
}

const noNumbers = new Uint32Array(0);
const noQuads = new SortedQuads({ count: 0, most: -1, isUnique: true }, () => [
  noNumbers,
  noNumbers,
  noNumbers,
  noNumbers,
]);

/** Returns a view of some graphs without an index: a layer over an empty base. */
export const onlyGraphs = (graphs: GraphKeyBlocks): Promise<MemoryView> =>
  withGraphs(
    { terms: new TermIds(noTerms), layers: [{ quads: noQuads, masked: undefined, numbers: undefined }] },
    graphs,
  );

/**
 * Returns a view of one graph for a caller that may read the graph. Term IDs have the order of arrival: sorting the terms would
 * take a fifth of the time, and no result depends on the order of matches.
 */
export async function onlyGraph(graph: string, blocks: AsyncIterable<readonly string[]>): Promise<MemoryView> {
  const terms = new TermIds(noTerms);
  const known = { sequence: -1, triples: await readTriples(blocks, terms), id: terms.add(graph) };
  const quads = quadsOf([[graph, known]], terms.size - 1, (id) => id);
  return { terms, layers: [{ quads, masked: undefined, numbers: undefined }] };
}

/** GSPO keys in blocks, by graph. */
export type GraphKeyBlocks = ReadonlyMap<string, AsyncIterable<readonly string[]>>;

/** Returns a view with new content of some graphs. @param graphs new content as keys, or as triples with IDs of the view */
export async function withGraphs(
  { terms, layers }: MemoryView,
  graphs: GraphKeyBlocks | ReadonlyMap<string, () => Promise<GraphTriples>>,
): Promise<MemoryView> {
  const changed: [string, KnownGraph][] = [];
  for (const [graph, blocks] of graphs) {
    const triples = await (typeof blocks === 'function' ? blocks() : readTriples(blocks, terms));
    changed.push([graph, { sequence: -1, id: terms.add(graph), triples }]);
  }
  const masking = layers.map((layer): Layer => {
    const { masked, numbers } = layer;
    const own = masked ? masked.slice() : new Uint8Array(numbers ? numbers.ids.length : terms.baseSize);
    for (const [, { id }] of changed) {
      const number = numbers ? numbers.of(id) : id;
      if (number >= 0 && number < own.length) own[number] = 1;
    }
    return { ...layer, masked: own };
  });
  return { terms, layers: [...masking, { ...sorted(changed, terms), masked: undefined }] };
}

const sizeOf = (graphs: readonly (readonly [string, KnownGraph])[]): number =>
  graphs.reduce((sum, [, { triples }]) => sum + triples.length / 3, 0);

interface SortedLayer {
  readonly quads: SortedQuads;
  readonly numbers: LayerNumbers;
}

function sorted(graphs: readonly (readonly [string, KnownGraph])[], terms: TermIds): SortedLayer {
  const used = new Uint32Array(3 * sizeOf(graphs) + graphs.length);
  let at = 0;
  for (const [, { id, triples }] of graphs) {
    used.set(triples, at);
    used[at + triples.length] = id;
    at += triples.length + 1;
  }
  const ids = terms.sorted(used.sort().filter((id, index) => index === 0 || id !== used[index - 1]));
  const numbers = new Map<number, number>();
  for (let number = 0; number < ids.length; number++) numbers.set(ids[number]!, number);
  const quads = quadsOf(graphs, ids.length, (id) => numbers.get(id)!);
  return { quads, numbers: new LayerNumbers(ids, terms) };
}

/** Returns the quads of some graphs, sorted. @param most highest term ID */
function quadsOf(
  graphs: readonly (readonly [string, KnownGraph])[],
  most: number,
  numberOf: (id: number) => number,
): SortedQuads {
  const count = sizeOf(graphs);
  const all = new Uint32Array(4 * count);
  const columns = [0, 1, 2, 3].map((place) => all.subarray(place * count, (place + 1) * count));
  let at = 0;
  for (const [, { id, triples }] of graphs) {
    const graph = numberOf(id);
    for (let i = 0; i < triples.length; i += 3, at++) {
      for (let place = 0; place < 3; place++) columns[place]![at] = numberOf(triples[i + place]!);
      columns[3]![at] = graph;
    }
  }
  return sortQuads(columns, count, { most });
}

export interface Layer {
  readonly quads: QuadOrders;
  /** Mask by graph ID of the layer: 1 if the layer's quads of the graph are outdated. `undefined` if no graph is outdated. */
  readonly masked: Uint8Array | undefined;
  /** Maps term IDs to IDs of this layer. `undefined` if the quads contain IDs of `MemoryView.terms`. */
  readonly numbers: LayerNumbers | undefined;
  /** Maximum length of a scan's window, in quads (default: 4096). */
  readonly maxAhead?: number;
}

export interface MemoryView {
  readonly terms: TermIds;
  /** Layers, with the base first. At most one layer contains unmasked quads of a graph. */
  readonly layers: readonly Layer[];
  /** Statistics that later queries of the same view reuse. Absent for a view that is used by one operation only. */
  readonly known?: ViewStatistics;
  /** Statistics for callers that may read only some graphs. */
  readonly scopes?: ScopeStatistics;
}
