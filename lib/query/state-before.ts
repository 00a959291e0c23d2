/** Initial states of an update: a snapshot of the store, or one graph in memory. */
import type { Algebra } from '@comunica/utils-algebra';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { graphRange } from '../storage/keys/quad-keys.js';
import { type ResourceRecord, readRecord, recordKey } from '../storage/keys/records.js';
import { keyBlocks } from '../storage/level/durable-level.js';
import { LwsError } from '../tools/errors.js';
import { type EmptyGraphs, emptyGraphs } from './access/empty-graphs.js';
import type { DatasetGraphs } from './access/graph-filter.js';
import type { QuadMatches } from './access/quad-matches.js';
import { type DatasetOptions, matchesOf, quadsWithoutIndex, subjectsOf } from './dataset.js';
import { comparedKeys, graphBlocks, recordIn, subjectPrefix } from './memory/index-data.js';
import { type GraphKeyBlocks, type MemoryView, onlyGraph, withGraphs } from './memory/memory-layers.js';
import { MemoryMatches } from './memory/memory-matches.js';
import type { UpdateTarget } from './parse/read-update.js';

export type OpenedState = Pick<DatasetOptions, 'level' | 'snapshot'>;

/** Facts about a resource before an update. */
export type RecordBefore = Pick<ResourceRecord, 'kind'> & Partial<ResourceRecord>;

export interface StateBefore {
  record(iri: string): RecordBefore | undefined;
  /** Returns true if the graph has a triple, given as its GSPO key. */
  has(key: string): boolean;
  /** Yields the GSPO keys of a graph. With `subjects`, keys of other subjects may be omitted. @throws LwsError `too-complex` */
  keysOf(graph: string, subjects?: readonly string[]): AsyncIterable<readonly string[]>;
  /**
   * Returns the dataset of a WHERE.
   * @param changed graphs that the update has changed so far, with at least the triples of `subjectsOf(where)`
   * @throws NeedsIndexError as `quadsWithoutIndex`, LwsError as `keysOf`
   */
  matches(dataset: DatasetGraphs, where: Algebra.Operation, changed: GraphKeyBlocks): Promise<QuadMatches>;
  /** Returns the empty graphs of a dataset. Absent: no graph is empty. */
  emptyGraphs?(dataset: DatasetGraphs): EmptyGraphs;
}

/** Returns the initial state of an update, in a snapshot. @param assertTime called in every block, throws to stop the work */
export const snapshotState = (
  { level, snapshot, memory }: OpenedState & { readonly memory: MemoryView | undefined },
  assertTime: () => void,
): StateBefore => ({
  record: (iri) => recordIn({ level, snapshot }, iri),
  has: (key) => level.getSync(key, { snapshot }) !== undefined,
  async *keysOf(graph, subjects) {
    for await (const keys of graphBlocks({ level, snapshot }, graph, subjects)) {
      assertTime();
      yield keys;
    }
  },
  async matches(dataset, where, changed) {
    const own = { ...dataset, level, snapshot };
    const before = memory ?? (await quadsWithoutIndex(own, where, assertTime));
    // Read only readable graphs, so that the duration does not reveal the size of other graphs.
    await dataset.readable.resolve([...changed.keys()]);
    const open = new Map([...changed].filter(([graph]) => dataset.readable.known(graph)));
    return matchesOf({ ...own, memory: open.size === 0 ? before : await withGraphs(before, open) }, assertTime);
  },
  emptyGraphs: (dataset) => emptyGraphs({ ...dataset, level, snapshot }, assertTime),
});

/** Maximum characters of keys that an operation reads: buffers of keys do not count for the memory limit of the thread. */
const maxCharacters = 192 << 20;
/** Maximum count of subjects by which the keys of a graph in memory are filtered. */
const fewSubjects = 8;

type KeysOf = StateBefore['keysOf'];

/** Returns the state of one graph that the caller may read. */
const stateOf = (
  record: RecordBefore & { readonly iri: string },
  { has, keysOf }: Pick<StateBefore, 'has' | 'keysOf'>,
  assertTime: () => void,
): StateBefore => ({
  record: (iri) => (iri === record.iri ? record : undefined),
  has,
  keysOf,
  async matches(dataset, where, changed) {
    const keys = changed.get(record.iri) ?? keysOf(record.iri, subjectsOf(where));
    return new MemoryMatches(dataset, await onlyGraph(record.iri, keys), assertTime);
  },
});

/** Returns the state of one graph whose keys are in memory. */
function stateOfKeys(
  { keys, ...record }: RecordBefore & { readonly iri: string; readonly keys: readonly string[] },
  assertTime: () => void,
): StateBefore {
  const all = new Set(keys);
  const keysOf: KeysOf = async function* (graph, subjects = []) {
    assertTime();
    const prefixes = subjects.map((subject) => subjectPrefix(graph, subject));
    const isSome = prefixes.length > 0 && prefixes.length <= fewSubjects;
    yield isSome ? keys.filter((key) => prefixes.some((prefix) => key.startsWith(prefix))) : keys;
  };
  return stateOf({ ...record, triples: keys.length }, { has: (key) => all.has(key), keysOf }, assertTime);
}

/** Returns the state of a large graph in a snapshot. Operations read only the keys that they need. */
function stateOfLarge(opened: OpenedState, record: ResourceRecord, assertTime: () => void): StateBefore {
  let all: Set<string> | undefined;
  const keysOf: KeysOf = async function* (graph, subjects) {
    const read = subjects ? undefined : new Set<string>();
    let characters = 0;
    for await (const keys of graphBlocks(opened, graph, subjects)) {
      assertTime();
      for (const key of keys) {
        characters += key.length;
        read?.add(key);
      }
      if (characters > maxCharacters)
        throw new LwsError(
          'too-complex',
          `The WHERE reads more than ${maxCharacters} characters of triples. The limit is fixed. Name the subjects of its patterns.`,
        );
      yield keys;
    }
    all ??= read;
  };
  const has = (key: string): boolean =>
    all?.has(key) ?? opened.level.getSync(key, { snapshot: opened.snapshot }) !== undefined;
  return stateOf(record, { has, keysOf }, assertTime);
}

/** Returns the state of one graph in a snapshot. `undefined` if it does not exist. */
export async function stateOfGraph(
  opened: OpenedState,
  { graph, entry }: UpdateTarget,
  assertTime: () => void,
): Promise<StateBefore | undefined> {
  const { level, snapshot } = opened;
  const value = level.getSync(entry ?? recordKey(graph), { snapshot });
  if (value === undefined) return undefined;
  if (entry !== undefined) return stateOfKeys({ iri: graph, kind: 'rdf', ...JSON.parse(value) }, assertTime);
  const record = readRecord(graph, value);
  if (record.kind !== 'rdf') return undefined;
  if (isLargeGraph(record.triples ?? 0)) return stateOfLarge(opened, record, assertTime);
  const keys: string[] = [];
  for await (const block of comparedKeys(record, keyBlocks(level, graphRange(graph), { snapshot }))) {
    assertTime();
    for (const key of block) keys.push(key);
  }
  return stateOfKeys({ ...record, keys }, assertTime);
}
