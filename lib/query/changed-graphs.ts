/**
 * Graphs as an update has changed them so far, over one snapshot: which triples come and go, and which graphs there are. It must not
 * know operations, or who may change what.
 */
import { LwsError } from '../errors.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../storage/engine/durable-level.js';
import { graphPrefix } from '../storage/graphs/quad-keys.js';
import { type ResourceRecord, rangeOf, readRecord, recordKey } from '../storage/state/records.js';
import type { KeyChanges } from './access/changed-keys.js';

/** Characters of keys that come or go: the storage holds them several times while it writes them. */
const maxCharacters = 16 << 20;
/** Graphs that are named as changed: each is authorized and written. */
const maxGraphs = 250;

/** What an update does to a graph that it names. Without any of these triples are removed, of what is not there none. */
export interface GraphNeeds {
  /** Triples are inserted, or an empty graph is made. */
  puts?: true;
  /** It is cleared or dropped, and has to be there. */
  finds?: true;
  /** It is made, and must not be there. */
  makes?: true;
  /** It is dropped. */
  drops?: true;
}

/** A graph that an update names, as it is so far. */
export class ChangedGraph {
  readonly needs: GraphNeeds = {};
  /** GSPO keys that the state before lacks. */
  readonly added = new Set<string>();
  /** GSPO keys that the state before has. */
  readonly removed = new Set<string>();
  /** Nothing counts of what was there before. */
  isCleared = false;
  exists: boolean;
  /** The state before. */
  readonly before: ResourceRecord | undefined;
  /**
   * It is new, and later operations see what the update has put into it. Where the caller may make nothing the update will be refused,
   * whether or not there is something hidden of that name, and must not show which.
   */
  readonly isSeen: boolean;

  constructor(
    readonly iri: string,
    { before, isSeen }: Pick<ChangedGraph, 'before' | 'isSeen'>,
    private readonly graphs: ChangedGraphs,
  ) {
    this.before = before;
    this.isSeen = isSeen;
    this.exists = before?.kind === 'rdf';
  }

  insert(key: string): void {
    this.exists = true;
    if (this.removed.delete(key)) this.graphs.spend(-key.length);
    else if ((this.isCleared || !this.graphs.had(this, key)) && !this.added.has(key)) {
      this.added.add(key);
      this.graphs.spend(key.length);
    }
  }

  remove(key: string): void {
    if (this.added.delete(key)) this.graphs.spend(-key.length);
    else if (!this.isCleared && !this.removed.has(key) && this.graphs.had(this, key)) {
      this.removed.add(key);
      this.graphs.spend(key.length);
    }
  }

  clear(): void {
    for (const keys of [this.added, this.removed]) {
      for (const key of keys) this.graphs.spend(-key.length);
      keys.clear();
    }
    this.isCleared = true;
  }

  /** Triples that it has now. */
  get triples(): number {
    const had = this.isCleared || this.before?.kind !== 'rdf' ? 0 : (this.before.triples ?? 0);
    return had + this.added.size - this.removed.size;
  }
}

type Decide = (iris: readonly string[]) => Promise<readonly boolean[]>;

export interface ChangedGraphsOptions {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  /** Called in every block; throws when the work has to end. */
  readonly assertTime: () => void;
  /** Throws for a name that no graph can have which is changed here. */
  readonly assertName: (iri: string) => void;
  /** Which graphs, if they exist, the caller may know of; absent: all. Others are as if they were absent. */
  readonly mayKnow?: Decide | undefined;
  /** Which graphs the caller may make where there are none; absent: it may read whatever there is. */
  readonly mayMake?: Decide | undefined;
}

export class ChangedGraphs {
  private readonly states = new Map<string, ChangedGraph>();
  private characters = 0;

  private readonly level: Level;
  private readonly snapshot: LevelSnapshot;
  private readonly assertTime: () => void;

  constructor(private readonly options: ChangedGraphsOptions) {
    const { level, snapshot, assertTime } = options;
    this.level = level;
    this.snapshot = snapshot;
    this.assertTime = assertTime;
  }

  /** Those that were named, in order of their IRIs. */
  get all(): readonly ChangedGraph[] {
    return [...this.states.values()].sort((a, b) => (a.iri < b.iri ? -1 : 1));
  }

  known(iri: string): ChangedGraph | undefined {
    return this.states.get(iri);
  }

  /**
   * Looks at graphs that are to be changed.
   * @throws LwsError `too-complex` for too many, and what `assertName` throws
   */
  async meet(iris: Iterable<string>): Promise<void> {
    const fresh = [...new Set(iris)].filter((iri) => !this.states.has(iri));
    if (fresh.length === 0) return;
    if (this.states.size + fresh.length > maxGraphs)
      throw new LwsError('too-complex', `One update may change ${maxGraphs} graphs. Split it.`);
    const { assertName, mayKnow, mayMake } = this.options;
    for (const iri of fresh) assertName(iri);
    const [known, makeable] = [await mayKnow?.(fresh), await mayMake?.(fresh)];
    for (const [index, iri] of fresh.entries()) {
      const record = this.record(iri);
      const isHidden = record !== undefined && known?.[index] === false;
      const isSeen = !record && makeable?.[index] !== false;
      this.states.set(iri, new ChangedGraph(iri, { before: isHidden ? undefined : record, isSeen }, this));
    }
  }

  /** One that was met. */
  graph(iri: string): ChangedGraph {
    return this.states.get(iri)!;
  }

  record(iri: string): ResourceRecord | undefined {
    const value = this.level.getSync(recordKey(iri), { snapshot: this.snapshot });
    return value === undefined ? undefined : readRecord(iri, value);
  }

  /** Whether the graph had a triple before. */
  had({ before }: ChangedGraph, key: string): boolean {
    return before?.kind === 'rdf' && this.level.getSync(key, { snapshot: this.snapshot }) !== undefined;
  }

  /** @throws LwsError `too-complex` */
  spend(characters: number): void {
    this.characters += characters;
    if (this.characters > maxCharacters) throw tooMuch();
  }

  /** The GSPO keys of a graph as it was, in blocks. */
  async *keysBefore(iri: string): AsyncGenerator<readonly string[]> {
    for await (const keys of keyBlocks(this.level, rangeOf(graphPrefix(iri)), { snapshot: this.snapshot })) {
      this.assertTime();
      yield keys;
    }
  }

  /** The GSPO keys of a graph as it is now, in no order. */
  async *keysOf(iri: string): AsyncGenerator<readonly string[]> {
    const state = this.states.get(iri);
    if (!state?.isCleared)
      for await (const keys of this.keysBefore(iri))
        yield state && state.removed.size > 0 ? keys.filter((key) => !state.removed.has(key)) : keys;
    if (state) yield [...state.added];
  }

  /**
   * All that comes and goes.
   * @throws LwsError `too-complex` when graphs that were cleared hold more than can be looked past
   */
  async changes(): Promise<KeyChanges> {
    const [added, removed] = [new Set<string>(), new Set<string>()];
    let characters = 0;
    for (const state of this.states.values()) {
      // What was cleared and inserted again is there already.
      for (const key of state.added) if (!state.isCleared || !this.had(state, key)) added.add(key);
      for (const key of state.removed) removed.add(key);
      if (!state.isCleared || state.before?.kind !== 'rdf') continue;
      for await (const keys of this.keysBefore(state.iri))
        for (const key of keys) {
          characters += key.length;
          if (characters > maxCharacters) throw tooMuch();
          if (!state.added.has(key)) removed.add(key);
        }
    }
    return { added, removed };
  }
}

const tooMuch = (): LwsError =>
  new LwsError(
    'too-complex',
    `The update changes more than ${maxCharacters} characters of triples. Make its WHERE narrower, or send its operations one by one.`,
  );
