/**
 * State of graphs during an update, as differences to an initial state: added and removed triples, created and dropped graphs.
 * Must not depend on operations or permissions.
 */
import { LwsError } from '../tools/errors.js';
import type { GraphKeyBlocks } from './memory/memory-layers.js';
import type { RecordBefore, StateBefore } from './state-before.js';

/** Maximum count of changed graphs, because each is authorized and written. */
const maxGraphs = 250;

/** Effects of an update on a named graph, which determine permissions and preconditions. Empty after removals only. */
export interface GraphNeeds {
  /** True if the update inserts triples or creates the graph. */
  puts?: true;
  /** True if the update clears or drops the graph, which must exist. */
  finds?: true;
  /** True if the update creates the graph, which must not exist. */
  makes?: true;
  /** True if the update drops the graph. */
  drops?: true;
}

/** Current state of a graph that an update names. */
export class ChangedGraph {
  readonly needs: GraphNeeds = {};
  /** Added GSPO keys, which are not in the initial state. */
  readonly added = new Set<string>();
  /** Removed GSPO keys of the initial state. */
  readonly removed = new Set<string>();
  /** True if the content of the initial state was removed. */
  isCleared = false;
  exists: boolean;
  /** Record of the graph in the initial state. `undefined` if the graph did not exist. */
  readonly before: RecordBefore | undefined;
  /**
   * True if the graph is new and later operations may read its triples. If the caller may not create the graph, the update
   * fails later. Until then, it must not reveal whether an unreadable graph has this name.
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

  /** Returns true if the initial state of the graph contains the triple and was not cleared. */
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

  /** Count of triples in the current state. */
  get triples(): number {
    const had = this.isCleared || this.before?.kind !== 'rdf' ? 0 : (this.before.triples ?? 0);
    return had + this.added.size - this.removed.size;
  }
}

type Decide = (iris: readonly string[]) => Promise<readonly boolean[]>;

export interface ChangedGraphsOptions {
  readonly state: StateBefore;
  /** Maximum length of added and removed keys, in characters. The store has several copies in memory while it writes them. */
  readonly maxChanged: number;
  /** Throws if a graph with this name must not be changed. Absent: any name is allowed. */
  readonly assertName?: (iri: string) => void;
  /** Decides which graphs the caller may know to exist (default: all). Other graphs are treated as nonexistent. */
  readonly mayKnow?: Decide | undefined;
  /** Decides which nonexistent graphs the caller may create. Absent if the caller can read all graphs. */
  readonly mayMake?: Decide | undefined;
}

export class ChangedGraphs {
  private readonly states = new Map<string, ChangedGraph>();
  private characters = 0;

  constructor(private readonly options: ChangedGraphsOptions) {}

  /** Loaded graphs, in order of their IRIs. */
  get all(): readonly ChangedGraph[] {
    return [...this.states.values()].sort((a, b) => (a.iri < b.iri ? -1 : 1));
  }

  known(iri: string): ChangedGraph | undefined {
    return this.states.get(iri);
  }

  /** Loads graphs before they are changed. @throws LwsError `too-complex` for too many graphs, and errors of `assertName` */
  async meet(iris: Iterable<string>): Promise<void> {
    const fresh = [...new Set(iris)].filter((iri) => !this.states.has(iri));
    if (fresh.length === 0) return;
    if (this.states.size + fresh.length > maxGraphs)
      throw new LwsError(
        'too-complex',
        `The update exceeds the limit of ${maxGraphs} changed graphs. The limit is fixed. Split the update.`,
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

  /** Returns the state of a loaded graph. */
  graph(iri: string): ChangedGraph {
    return this.states.get(iri)!;
  }

  record(iri: string): RecordBefore | undefined {
    return this.options.state.record(iri);
  }

  /** Returns true if the graph contained the triple before the update. */
  had({ before }: ChangedGraph, key: string): boolean {
    return before?.kind === 'rdf' && this.options.state.has(key);
  }

  /** Charges characters of changed keys. @throws LwsError `too-complex` above the limit */
  spend(characters: number): void {
    this.characters += characters;
    if (this.characters > this.options.maxChanged)
      throw new LwsError(
        'too-complex',
        `The update changes more than ${this.options.maxChanged} characters of triples. The limit is fixed. Make its WHERE more selective, or send its operations separately.`,
      );
  }

  /** Yields the current GSPO keys of a graph, unordered. With `subjects`, keys of other subjects may be omitted. */
  async *keysOf(iri: string, subjects?: readonly string[]): AsyncGenerator<readonly string[]> {
    const state = this.states.get(iri);
    if (!state || (state.before && !state.isCleared))
      for await (const keys of this.options.state.keysOf(iri, subjects))
        yield state && state.removed.size > 0 ? keys.filter((key) => !state.removed.has(key)) : keys;
    if (state) yield [...state.added];
  }

  /** Returns the graphs with changed triples. Each has the GSPO keys that `keysOf` yields. */
  changed(subjects?: readonly string[]): GraphKeyBlocks {
    const others = this.all.filter(({ added, removed, isCleared }) => isCleared || added.size + removed.size > 0);
    return new Map(others.map(({ iri }) => [iri, this.keysOf(iri, subjects)]));
  }
}
