/**
 * Graphs as an update has changed them so far, over one state: which triples come and go, and which graphs there are. It must not
 * know operations, or who may change what.
 */
import { LwsError } from '../errors.js';
import { graphPrefix } from '../storage/keys/quad-keys.js';
import type { KeyChanges } from './access/changed-keys.js';
import type { RecordBefore, StateBefore } from './state-before.js';

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
  readonly before: RecordBefore | undefined;
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
    this.note(this.removed, key, false);
    this.note(this.added, key, !this.had(key));
  }

  remove(key: string): void {
    this.note(this.added, key, false);
    this.note(this.removed, key, this.had(key));
  }

  /** Whether the graph had the triple before the update, and was not cleared since. */
  private had(key: string): boolean {
    return !this.isCleared && this.graphs.had(this, key);
  }

  private note(keys: Set<string>, key: string, isIn: boolean): void {
    if (isIn === keys.has(key)) return;
    if (isIn) keys.add(key);
    else keys.delete(key);
    this.graphs.spend(isIn ? key.length : -key.length);
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
  readonly state: StateBefore;
  /** Characters of keys that may come or go: the storage holds them several times while it writes them. */
  readonly maxChanged: number;
  /** Throws for a name that no graph can have which is changed here; absent: any can be. */
  readonly assertName?: (iri: string) => void;
  /** Which graphs, if they exist, the caller may know of; absent: all. Others are as if they were absent. */
  readonly mayKnow?: Decide | undefined;
  /** Which graphs the caller may make where there are none; absent: it may read whatever there is. */
  readonly mayMake?: Decide | undefined;
}

export class ChangedGraphs {
  private readonly states = new Map<string, ChangedGraph>();
  private characters = 0;

  constructor(private readonly options: ChangedGraphsOptions) {}

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
      throw new LwsError(
        'too-complex',
        `One update may change ${maxGraphs} graphs, which no setting changes. Split it.`,
      );
    const { assertName, mayKnow, mayMake } = this.options;
    if (assertName) for (const iri of fresh) assertName(iri);
    const known = mayKnow && (await mayKnow(fresh));
    const makeable = mayMake && (await mayMake(fresh));
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

  record(iri: string): RecordBefore | undefined {
    return this.options.state.record(iri);
  }

  /** Whether the graph had the triple before the update. */
  had({ before }: ChangedGraph, key: string): boolean {
    return before?.kind === 'rdf' && this.options.state.has(key);
  }

  /** @throws LwsError `too-complex` */
  spend(characters: number): void {
    this.characters += characters;
    if (this.characters > this.options.maxChanged) throw this.tooMuch();
  }

  /** The GSPO keys of a graph as it was, in blocks. */
  private keysBefore(iri: string): AsyncGenerator<readonly string[]> {
    return this.options.state.keys().blocks(graphPrefix(iri));
  }

  /** The GSPO keys of a graph as it is now, in no order. */
  async *keysOf(iri: string): AsyncGenerator<readonly string[]> {
    const state = this.states.get(iri);
    if (!state || (state.before && !state.isCleared))
      for await (const keys of this.keysBefore(iri))
        yield state && state.removed.size > 0 ? keys.filter((key) => !state.removed.has(key)) : keys;
    if (state) yield [...state.added];
  }

  /** The graphs whose triples are others than before, each with its GSPO keys in blocks, in no order. */
  changed(): ReadonlyMap<string, AsyncIterable<readonly string[]>> {
    const others = this.all.filter(({ added, removed, isCleared }) => isCleared || added.size + removed.size > 0);
    return new Map(others.map(({ iri }) => [iri, this.keysOf(iri)]));
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
          if (characters > this.options.maxChanged) throw this.tooMuch();
          if (!state.added.has(key)) removed.add(key);
        }
    }
    return { added, removed };
  }

  private tooMuch(): LwsError {
    return new LwsError(
      'too-complex',
      `The update changes more than ${this.options.maxChanged} characters of triples, which no setting changes. Make its WHERE narrower, or send its operations one by one.`,
    );
  }
}
