/** Reads graphs from disk, with a cache of small graphs that were recently read or written. */

import { LRUCache } from 'lru-cache';
import { yieldToEventLoop } from '../../tools/event-loop.js';
import { charactersOf, type GraphKeys } from '../keys/graph-keys.js';
import { graphPrefix, graphRange, sortGraphs } from '../keys/quad-keys.js';
import { type KeyRange, type ResourceRecord, readRecord, recordKey } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../level/durable-level.js';
import { OrderedRanges } from '../level/ordered-ranges.js';
import { type ReturnedKeys, returnedKeys, withoutReturned } from './graph-digests.js';

/** Maximum number of triples of a graph that is read in advance. */
const prefetchedTriples = 2_000;
/** Size of the cache in bytes: about two thousand graphs of 20 triples. */
const keptBytes = 8 << 20;
/** Overhead of a key in memory, in bytes. */
const keyOverhead = 32;
/** Count of graphs that are read before other events of the thread are handled. */
const graphsAtATime = 250;

/** Returns the range of the keys of a graph whose subjects begin with a string. */
export function subjectRange(graph: string, beginning: string): KeyRange {
  if (beginning === '') return graphRange(graph);
  const gte = graphPrefix(graph) + beginning;
  // U+10FFFF is the last character of Unicode: all keys with this prefix sort before it.
  return { gte, lt: `${gte}\u{10ffff}` };
}

/** Keys of a graph, in the state of a revision. */
interface Content {
  readonly revision: string;
  readonly keys: readonly string[];
}

export class CommittedGraphs {
  /** Small graphs by resource. An entry is used only if its revision is the current one. */
  private readonly cache = new LRUCache<string, Content>({
    maxSize: keptBytes,
    maxEntrySize: keptBytes >> 4,
    sizeCalculation: ({ keys }, iri) => iri.length + charactersOf(keys) + (keys.length + 4) * keyOverhead,
  });

  /** Graphs that were read in advance for transactions in progress. */
  private readonly readAhead = new Set<ReadonlyMap<string, Content>>();
  private charactersAhead = 0;

  /** @param onReturned called if LevelDB returns deleted keys of a graph (decision 168), which readers do not get */
  constructor(
    private readonly level: Level,
    private readonly onReturned: (returned: ReturnedKeys) => void,
  ) {}

  /** Returns an RDF resource and the GSPO keys of its graph, from one committed state. */
  async withRecord(
    iri: string,
    known: ResourceRecord | undefined,
  ): Promise<{ record: ResourceRecord; keys: readonly string[] } | undefined> {
    const keys = known && this.inMemory(known);
    if (known && keys) return { record: known, keys };
    const snapshot = this.level.snapshot();
    try {
      const value = this.level.getSync(recordKey(iri), { snapshot });
      if (value === undefined) return undefined;
      const record = readRecord(iri, value);
      const keys = await this.read(record, snapshot);
      this.cache.set(iri, { revision: record.revision, keys });
      return { record, keys };
    } finally {
      await snapshot.close();
    }
  }

  /** Returns true if reading the graph in advance saves the transaction a read from disk. */
  isWorthPrefetching({ kind, triples = 0 }: ResourceRecord): boolean {
    return kind === 'rdf' && triples < prefetchedTriples;
  }

  /** Returns the keys of a graph. @param record the committed record @throws DamagedGraphError */
  async keysOf(record: ResourceRecord): Promise<readonly string[]> {
    return this.inMemory(record) ?? this.read(record);
  }

  private inMemory(record: ResourceRecord): readonly string[] | undefined {
    const { iri, revision } = record;
    const cached = this.cache.get(iri);
    if (cached?.revision === revision) return cached.keys;
    for (const graphs of this.readAhead) {
      const known = graphs.get(iri);
      if (known?.revision === revision) return this.compared(record, known.keys);
    }
    return undefined;
  }

  /**
   * Reads small graphs ahead for a transaction that changes many resources, with few iterators instead of one per graph. Other
   * transactions would otherwise wait for these reads.
   * @param records committed records; the content of a resource that changes later is not used
   * @param most maximum characters of keys in memory, for all such transactions; more graphs are not read
   * @returns a function that releases the memory
   */
  async readMany(records: readonly ResourceRecord[], most: number): Promise<() => void> {
    const found = new Map<string, Content>();
    const snapshot = this.level.snapshot();
    const byIri = new Map(records.map((record) => [record.iri, record]));
    const graphs = sortGraphs([...byIri.keys()]);
    const ranges = new OrderedRanges(this.level, snapshot, graphRange(graphs.at(-1) ?? '').lt);
    let own = 0;
    try {
      let read = 0;
      for (const iri of graphs) {
        // A block of LevelDB has many small graphs, so reading a graph rarely waits: yield explicitly.
        if (++read % graphsAtATime === 0) await yieldToEventLoop();
        const keys: string[] = [];
        for await (const block of ranges.blocksOf(graphRange(iri))) keys.push(...block);
        const characters = charactersOf(keys);
        if (this.charactersAhead + characters > most) break;
        own += characters;
        this.charactersAhead += characters;
        found.set(iri, { revision: byIri.get(iri)!.revision, keys });
      }
    } catch (error) {
      this.charactersAhead -= own;
      throw error;
    } finally {
      await ranges.close();
      await snapshot.close();
    }
    this.readAhead.add(found);
    return () => {
      this.readAhead.delete(found);
      this.charactersAhead -= own;
    };
  }

  /** Yields blocks of the keys whose subjects begin with a string. */
  blocks(graph: string, beginning: string): AsyncGenerator<readonly string[]> {
    return keyBlocks(this.level, subjectRange(graph, beginning));
  }

  has(keys: readonly string[]): Promise<boolean[]> {
    return this.level.hasMany([...keys]);
  }

  /**
   * Updates the cache after a commit, because recently written graphs are likely to be read or changed next.
   * @param keys undefined if the graph was deleted, or only a part of it is known
   */
  replaced(iri: string, revision: string | undefined, keys: GraphKeys | undefined): void {
    if (revision !== undefined && Array.isArray(keys)) this.cache.set(iri, { revision, keys });
    else this.cache.delete(iri);
  }

  /** Reads a graph from disk. @throws DamagedGraphError */
  private async read(record: ResourceRecord, snapshot?: LevelSnapshot): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const keys of keyBlocks(this.level, graphRange(record.iri), snapshot ? { snapshot } : {}))
      for (const key of keys) found.push(key);
    return this.compared(record, found);
  }

  private compared<T extends readonly string[]>(record: ResourceRecord, keys: T): T | string[] {
    const returned = returnedKeys(record, keys);
    if (!returned) return keys;
    this.onReturned(returned);
    return withoutReturned(keys, returned);
  }
}
