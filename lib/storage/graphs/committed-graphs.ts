/** Reads graphs from disk, with a cache of small ones: recently read and recently written. */
import { LRUCache } from 'lru-cache';
import { charactersOf, type GraphKeys } from '../keys/graph-keys.js';
import { graphPrefix } from '../keys/quad-keys.js';
import { type KeyRange, type ResourceRecord, rangeOf, readRecord, recordKey } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../level/durable-level.js';

/** Larger graphs are not worth prefetching. */
const prefetchedTriples = 2_000;
/** Cache size in bytes of keys: some two thousand graphs of 20 triples. */
const keptBytes = 8 << 20;
/** Overhead of a key in memory, in bytes. */
const keyOverhead = 32;

/** Range of the keys of a graph with subjects that begin with a string. */
export function subjectRange(graph: string, beginning: string): KeyRange {
  if (beginning === '') return rangeOf(graphPrefix(graph));
  const gte = graphPrefix(graph) + beginning;
  // Last character of Unicode: all keys with this prefix sort before it.
  return { gte, lt: `${gte}\u{10ffff}` };
}

export class CommittedGraphs {
  /** Small graphs by resource, valid for one revision. */
  private readonly cache = new LRUCache<string, { revision: string; keys: readonly string[] }>({
    maxSize: keptBytes,
    maxEntrySize: keptBytes >> 4,
    sizeCalculation: ({ keys }, iri) => iri.length + charactersOf(keys) + (keys.length + 4) * keyOverhead,
  });

  constructor(private readonly level: Level) {}

  /** Returns an RDF resource and the GSPO keys of its graph, from one committed state. */
  async withRecord(
    iri: string,
    known: ResourceRecord | undefined,
  ): Promise<{ record: ResourceRecord; keys: readonly string[] } | undefined> {
    const cached = this.cache.get(iri);
    if (known && cached?.revision === known.revision) return { record: known, keys: cached.keys };
    const snapshot = this.level.snapshot();
    try {
      const value = this.level.getSync(recordKey(iri), { snapshot });
      if (value === undefined) return undefined;
      const record = readRecord(iri, value);
      const keys = await this.read(iri, snapshot);
      this.cache.set(iri, { revision: record.revision, keys });
      return { record, keys };
    } finally {
      await snapshot.close();
    }
  }

  /** True if reading the graph now saves a later transaction a disk read. */
  isWorthPrefetching({ kind, triples = 0 }: ResourceRecord): boolean {
    return kind === 'rdf' && triples < prefetchedTriples;
  }

  /** Returns the keys of the graph of a record. */
  async keysOf({ iri, revision }: ResourceRecord): Promise<readonly string[]> {
    const cached = this.cache.get(iri);
    return cached?.revision === revision ? cached.keys : this.read(iri);
  }

  /** Yields the keys with subjects that begin with a string, in blocks. */
  blocks(graph: string, beginning: string): AsyncGenerator<readonly string[]> {
    return keyBlocks(this.level, subjectRange(graph, beginning));
  }

  has(keys: readonly string[]): Promise<boolean[]> {
    return this.level.hasMany([...keys]);
  }

  /**
   * Updates the cache after a commit: recently written graphs are likely to be read, changed or deleted next.
   * @param keys absent: the graph is deleted, or only a part of it is known
   */
  replaced(iri: string, revision: string | undefined, keys: GraphKeys | undefined): void {
    if (revision !== undefined && Array.isArray(keys)) this.cache.set(iri, { revision, keys });
    else this.cache.delete(iri);
  }

  private async read(iri: string, snapshot?: LevelSnapshot): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of keyBlocks(this.level, rangeOf(graphPrefix(iri)), snapshot ? { snapshot } : {}))
      for (const key of keys) found.push(key);
    return found;
  }
}
