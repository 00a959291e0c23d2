/** Dataset of the caller over one snapshot: read from the index, or from the graphs that an operation names. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { graphPrefix, keysOfGraphs } from '../storage/keys/quad-keys.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../storage/level/durable-level.js';
import type { PastEmpty } from './access/empty-graphs.js';
import { type DatasetGraphs, graphFilter, nameOfNone } from './access/graph-filter.js';
import { graphAt, KeyReader } from './access/key-reader.js';
import type { AssertTerm, AssertTime, QuadMatches } from './access/quad-matches.js';
import { comparedKeys, graphBlocks, recordIn } from './memory/index-data.js';
import { type GraphKeyBlocks, type MemoryView, onlyGraphs } from './memory/memory-layers.js';
import { MemoryMatches } from './memory/memory-matches.js';
import { anyGraph } from './parse/graph-names.js';
import { nodesOf } from './parse/query-scopes.js';

export interface DatasetOptions extends DatasetGraphs {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  /** Quads of the snapshot. */
  readonly memory: MemoryView;
  /** Function that is called for each term that is read. Throws to stop the query. */
  readonly assertTerm?: AssertTerm | undefined;
  /** Empty graphs of an earlier state, if the query reads an earlier state. */
  readonly past?: PastEmpty | undefined;
}

/** Error if the query needs the index, because it reads many graphs. */
export class NeedsIndexError extends Error {}

/**
 * Limits of queries without the index: count of graphs, of their triples, and of characters of their keys. The memory limit of
 * the thread does not include the buffers with texts of terms.
 */
const [fewGraphs, fewTriples, fewCharacters] = [8, 50_000, 32 << 20];
/** Limits for reading all readable graphs without the index: ranges, each with an iterator, and characters of keys. */
const [fewRanges, fewReadable] = [2_000, 16 << 20];

/** Returns a function that counts keys read without the index. The function throws NeedsIndexError above a limit. */
const keyCounter = (assertTime: () => void, maxCharacters: number): ((keys: readonly string[]) => void) => {
  let [triples, characters] = [0, 0];
  return (keys) => {
    assertTime();
    triples += keys.length;
    for (const key of keys) characters += key.length;
    if (triples > fewTriples || characters > maxCharacters) throw new NeedsIndexError();
  };
};

/**
 * Returns the quads of the graphs that an operation names. If the operation does not name its graphs, returns the quads of all
 * readable graphs, if these are few. Neither result nor duration then depends on other data.
 * @throws NeedsIndexError if other graphs are needed, or there are too many triples
 */
export async function quadsWithoutIndex(
  { level, snapshot, ...dataset }: Omit<DatasetOptions, 'memory'>,
  operation: Algebra.Operation,
  assertTime: () => void,
): Promise<MemoryView> {
  const names = namesIn(dataset, operation);
  if (!names || names.size > fewGraphs)
    return onlyGraphs(await readableKeys({ level, snapshot, ...dataset }, assertTime));
  const gate = graphFilter({ readable: dataset.readable }, 'named');
  await gate.decide(names);
  const subjects = subjectsOf(operation);
  const count = keyCounter(assertTime, fewCharacters);
  async function* blocksOf(name: string): AsyncGenerator<readonly string[]> {
    for await (const keys of graphBlocks({ level, snapshot }, gate.isOpen(name) ? name : nameOfNone(name), subjects)) {
      count(keys);
      yield keys;
    }
  }
  return onlyGraphs(new Map([...names].map((name) => [name, blocksOf(name)])));
}

/**
 * Returns the keys of all graphs that a caller can read, and reads no other keys.
 * @throws NeedsIndexError if there are too many keys, or each graph must be decided separately
 */
async function readableKeys(
  { level, snapshot, readable }: Omit<DatasetOptions, 'memory'>,
  assertTime: () => void,
): Promise<GraphKeyBlocks> {
  const ranges = readable.isDecided && !readable.all ? readable.ranges?.() : undefined;
  if (!ranges || ranges.length > fewRanges) throw new NeedsIndexError();
  const count = keyCounter(assertTime, fewReadable);
  const found = new Map<string, string[]>();
  const reader = new KeyReader();
  let [prefix, keysOfGraph]: [string | undefined, string[] | undefined] = [undefined, undefined];
  for (const range of ranges) {
    assertTime();
    for await (const keys of keyBlocks(level, keysOfGraphs(range), { snapshot })) {
      count(keys);
      for (const key of keys) {
        if (prefix === undefined || !key.startsWith(prefix)) {
          reader.read(key);
          const graph = reader.token(graphAt);
          prefix = graphPrefix(graph);
          keysOfGraph = readable.known(graph) ? [] : undefined;
          if (keysOfGraph) found.set(graph, keysOfGraph);
        }
        keysOfGraph?.push(key);
      }
    }
  }
  const compared = (graph: string, keys: string[]) =>
    comparedKeys(recordIn({ level, snapshot }, graph), inOneBlock(keys));
  return new Map([...found].map(([graph, keys]) => [graph, compared(graph, keys)]));
}

async function* inOneBlock(keys: readonly string[]): AsyncGenerator<readonly string[]> {
  yield keys;
}

/** Types of operations whose result depends only on the triples that their patterns match. */
const ofPatterns = new Set(
  'project distinct reduced ask slice orderby group join leftjoin union minus filter bgp pattern extend values expression'.split(
    ' ',
  ),
);

/** Returns the subjects of all patterns of an operation. Returns `undefined` if the result may depend on other triples. */
export function subjectsOf(operation: Algebra.Operation): readonly string[] | undefined {
  const subjects = new Set<string>();
  for (const { type, subject, patterns } of nodesOf(operation)) {
    if (type !== undefined && !ofPatterns.has(type)) return undefined;
    // An empty GRAPH pattern matches all graph names. In a join, a pattern with `anyGraph` replaces it.
    if (type === 'bgp' && (patterns as unknown[]).length === 0) return undefined;
    if (type !== 'pattern') continue;
    const { termType, value } = subject as Term;
    if (termType !== 'NamedNode' || value === anyGraph) return undefined;
    subjects.add(value);
  }
  return subjects.size > 0 ? [...subjects] : undefined;
}

/** Returns the graphs that an operation names, or `undefined` if it reads other graphs. */
export function namesIn(
  { defaultGraphs, namedGraphs }: Omit<DatasetGraphs, 'readable'>,
  operation: Algebra.Operation,
): Set<string> | undefined {
  const names = new Set([...(defaultGraphs ?? []), ...(namedGraphs ?? [])]);
  return (defaultGraphs && namedGraphs) || namesGraphs(operation, names) ? names : undefined;
}

/** Returns true if every pattern names its graph. @param names set to which the graphs are added */
function namesGraphs(part: unknown, names: Set<string>): boolean {
  if (typeof part !== 'object' || part === null) return true;
  if (Array.isArray(part)) return part.every((each) => namesGraphs(each, names));
  const { type, graph, ...parts } = part as { type?: string; graph?: { termType: string; value: string } };
  if (type === 'describe') return false;
  // Another endpoint evaluates SERVICE.
  if (type === 'service') return true;
  if (type === 'pattern' || type === 'path') {
    if (graph?.termType !== 'NamedNode') return false;
    names.add(graph.value);
    return true;
  }
  if ('termType' in part) return true;
  return Object.entries(parts).every(([name, each]) => name === 'template' || namesGraphs(each, names));
}

/** @param assertTime called for every block; throws to stop the query */
export const matchesOf = (dataset: DatasetOptions, assertTime: AssertTime): QuadMatches =>
  new MemoryMatches(dataset, dataset.memory, assertTime);
