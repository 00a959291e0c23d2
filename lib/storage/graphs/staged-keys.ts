/** Entries that mark staged graphs, which are being written or removed (see `staged-graphs`). */
import { randomUUID } from 'node:crypto';
import { getOrMake } from '../../tools/collections.js';
import type { GraphKeys } from '../keys/graph-keys.js';
import { entryKey, entryRange, type KeyRange, partsOfEntry } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../level/durable-level.js';

const space = 'hidden-graphs';
/** Returns the key of the entry that marks a graph. Its value is `dropped`, `newRemoval()`, or the name of the upload. */
export const stagedKey = (graph: string): string => entryKey(space, graph);
export const hiddenRange = entryRange(space);
/** Value that marks a graph from its deletion until its quads are removed. */
export const dropped = 'dropped';
/** Returns a new mark of a removal. A server writes it to continue a removal, and with several servers after each slice. */
export const newRemoval = (): string => `${dropped} ${randomUUID()}`;
/** Returns true for the value of a graph whose quads are being removed. */
export const isDropped = (value: string | undefined): boolean => value?.startsWith(dropped) === true;
const names = new WeakMap<object, string>();
/** Returns the value for a graph whose keys are being written: unique for the upload, with its start time. */
export const loadingName = (keys: GraphKeys): string =>
  getOrMake(names, keys, () => `loading ${randomUUID()} ${Date.now()}`);

/** Age at which an upload is considered abandoned, in milliseconds. */
const abandonedMs = 3_600_000;
/** Returns true for the value of an upload that another server may still be writing. */
export const mayBeLoading = (value: string): boolean =>
  !isDropped(value) && Date.now() - Number(value.split(' ')[2] ?? 0) < abandonedMs;

/** Returns true for the name of a deleted subtree, which ends with a slash: containers have no graphs. */
export const isSubtree = (name: string): boolean => name.endsWith('/');

/** Returns the value for a deleted subtree. Events of its removal name the actor. @param position position of the deletion */
export const subtreeMark = (actor: string | undefined, position?: number): string =>
  `${dropped} ${actor ?? ''}${position === undefined ? '' : ` ${position}`}`;
export const actorOfMark = (mark: string): string | undefined => mark.split(' ')[1] || undefined;
/** Returns the position of the deletion of a subtree, or 0 if it is not known. */
export const positionOfMark = (mark: string): number => Number(mark.split(' ')[2] ?? 0);

/** Set of staged graphs. The name of a container stands for all graphs below it. */
export class StagedNames {
  private readonly graphs = new Set<string>();
  private readonly containers: string[] = [];

  static async of(state: { keys(range: KeyRange): AsyncIterable<readonly string[]> }): Promise<StagedNames> {
    const found = new StagedNames();
    for await (const block of state.keys(hiddenRange)) for (const key of block) found.add(partsOfEntry(key)[1]!);
    return found;
  }

  get size(): number {
    return this.graphs.size + this.containers.length;
  }

  add(name: string): void {
    if (isSubtree(name)) this.containers.push(name);
    else this.graphs.add(name);
  }

  has(graph: string): boolean {
    return this.graphs.has(graph) || this.containers.some((container) => graph.startsWith(container));
  }
}

/** Returns the staged graphs of a snapshot. */
export const stagedGraphs = (level: Level, snapshot: LevelSnapshot): Promise<StagedNames> =>
  StagedNames.of({ keys: (range) => keyBlocks(level, range, { snapshot }) });
