/** Compares graphs with the digests in their records, while the index builder reads all keys. */
import { KeyDigest } from '../keys/key-digest.js';
import { graphPrefix } from '../keys/quad-keys.js';
import { readRecord, recordKey } from '../keys/records.js';
import type { Level, LevelSnapshot } from '../level/durable-level.js';
import { digestIn } from './graph-digests.js';
import { type StagedNames, stagedGraphs } from './staged-keys.js';

const nameAt = graphPrefix('').indexOf('\u0000') + 2;

export class GraphComparison {
  /** Graphs that differ from their digest, or have no record. */
  readonly differing: string[] = [];
  private staged: StagedNames | undefined;
  private prefix = '';
  private graph = '';
  private digest = new KeyDigest();

  constructor(
    private readonly level: Level,
    private readonly snapshot: LevelSnapshot,
  ) {}

  /** Yields the blocks unchanged, and compares their graphs with the digests. The blocks must have all keys of each graph. */
  async *watched(blocks: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    this.staged ??= await stagedGraphs(this.level, this.snapshot);
    this.prefix = '';
    for await (const keys of blocks) {
      this.add(keys);
      yield keys;
    }
    this.end();
  }

  private add(keys: readonly string[]): void {
    for (let from = 0, at = 0; at <= keys.length; at++) {
      if (at < keys.length && this.prefix !== '' && keys[at]!.startsWith(this.prefix)) continue;
      if (at > from) this.digest.toggle(keys.slice(from, at));
      from = at;
      if (at < keys.length) this.begin(keys[at]!);
    }
  }

  private begin(key: string): void {
    this.end();
    this.graph = key.slice(nameAt, key.indexOf('\u0000', nameAt));
    [this.prefix, this.digest] = [graphPrefix(this.graph), new KeyDigest()];
  }

  private end(): void {
    if (this.prefix !== '' && this.isOther()) this.differing.push(this.graph);
    this.prefix = '';
  }

  private isOther(): boolean {
    const { level, snapshot, graph } = this;
    const value = level.getSync(recordKey(graph), { snapshot });
    if (value !== undefined) return digestIn(readRecord(graph, value))?.combine(this.digest).isZero === false;
    // The graph of a linkset has no record: it belongs to the resource.
    if (
      graph.endsWith('.meta') &&
      level.getSync(recordKey(graph.slice(0, -'.meta'.length)), { snapshot }) !== undefined
    )
      return false;
    return !this.staged!.has(graph);
  }
}
