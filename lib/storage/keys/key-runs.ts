/** Sorts the keys of a large graph by an external merge sort, whose packed sorted runs are in memory. */
import { type KeyChunk, type PackedKeys, packChunk, packedOf, packKeys } from './graph-keys.js';
import { compareKeys, orderOf, sortKeys } from './key-order.js';

const keysOfRun = 40_000;
/** Count of keys that the merge unpacks at a time from each run. */
const keysOfBlock = 200;
const keysOfChunk = 1_000;

export class KeyRuns {
  private readonly runs: PackedKeys[] = [];
  private run: string[] = [];
  private order = orderOf([]);

  add(key: string): void {
    if (this.run.push(key) === keysOfRun) this.endRun();
  }

  /** Returns all keys in order without duplicates. No keys can be added afterwards. @param take called with each key */
  merged(take: (key: string) => void): PackedKeys {
    return packedOf([...this.chunks(take)]);
  }

  /** Yields the merged keys in chunks (see `merged`). */
  *chunks(take: (key: string) => void): Generator<KeyChunk> {
    this.endRun();
    const heads = this.runs.splice(0).map((run) => new Head(run));
    let chunk: string[] = [];
    let last = '';
    for (let least = leastOf(heads, this.order); least; least = leastOf(heads, this.order)) {
      const key = least.key!;
      least.next();
      if (key === last) continue;
      last = key;
      take(key);
      if (chunk.push(key) < keysOfChunk) continue;
      yield packChunk(chunk);
      chunk = [];
    }
    if (chunk.length > 0) yield packChunk(chunk);
  }

  private endRun(): void {
    // If one run needs the slow comparison, all runs must be merged by it.
    if (this.order !== compareKeys) this.order = orderOf(this.run);
    if (this.run.length > 0) this.runs.push(packKeys(sortKeys(this.run), keysOfBlock));
    this.run = [];
  }
}

/** Cursor over a run during the merge. */
class Head {
  key: string | undefined;
  private readonly blocks: Iterator<string[]>;
  private block: string[] = [];
  private at = 0;

  constructor(run: PackedKeys) {
    this.blocks = run.blocks();
    this.next();
  }

  next(): void {
    if (this.at === this.block.length) {
      const found = this.blocks.next();
      this.block = found.done ? [] : found.value;
      this.at = 0;
    }
    this.key = this.block[this.at++];
  }
}

function leastOf(heads: readonly Head[], order: typeof compareKeys): Head | undefined {
  let least: Head | undefined;
  for (const head of heads) if (head.key !== undefined && (!least || order(head.key, least.key!) < 0)) least = head;
  return least;
}
