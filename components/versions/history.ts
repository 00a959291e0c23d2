/** Reads the history of a resource. */
import { DamagedGraphError, digestIn } from '../../lib/storage/graphs/graph-digests.js';
import { isLargeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { applied } from '../../lib/storage/keys/graph-changes.js';
import type { KeyRange, ResourceRecord } from '../../lib/storage/keys/records.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { tooBusy } from '../../lib/tools/errors.js';
import { yieldInLine } from '../../lib/tools/event-loop.js';
import {
  dataRange,
  type EndedState,
  type Head,
  headIn,
  headKey,
  positionOf,
  readVersion,
  unpacked,
  versionsBetween,
} from './entries.js';
import type { Reach } from './permissions.js';

/** A state of a resource: a version, or the present state, without an end. */
export type HistoryState = Omit<EndedState, 'ended'> & { readonly ended?: number };

/** Maximum versions between two with all triples, and attempts to read them while the resource changes. */
const [maxChain, maxAttempts] = [64, 5];

async function versionsIn(
  store: Store,
  range: KeyRange,
  options: { readonly limit: number; readonly reverse?: boolean },
): Promise<EndedState[]> {
  const found: EndedState[] = [];
  for await (const block of store.entries(range, options))
    for (const [key, value] of block) found.push(readVersion(key, value));
  return found;
}

export class History {
  constructor(
    private readonly store: Store,
    private readonly iri: string,
    /** False if the present state will not be kept and is no version. */
    private readonly isKept = true,
  ) {}

  /** Returns the head of a resource; `undefined` if its present state has no recorded beginning. */
  head({ iri, revision }: ResourceRecord): Head | undefined {
    const head = headIn(this.store.entry(headKey(iri)));
    return head?.revision === revision ? head : undefined;
  }

  async present(record: ResourceRecord | undefined): Promise<HistoryState | undefined> {
    if (!record || !this.isKept) return undefined;
    const head = this.head(record);
    if (head) return { began: head.began, record, actor: head.actor };
    const [last] = await versionsIn(this.store, versionsBetween(this.iri, 0), { limit: 1, reverse: true });
    return { began: Math.max(positionOf(record.modified), (last?.ended ?? 0) + 1), record };
  }

  /** Returns the state that began at a position, if the caller may read it. */
  async beganAt(position: number, reach: Reach, record: ResourceRecord | undefined): Promise<HistoryState | undefined> {
    const [found] = await versionsIn(this.store, versionsBetween(this.iri, position), { limit: 1 });
    const state: HistoryState | undefined = found ?? (await this.present(record));
    return state?.began === position && isIn(reach, state) ? state : undefined;
  }

  /** Returns the state at a position that the caller may read; before the first one, the first. */
  async at(position: number, reach: Reach, record: ResourceRecord | undefined): Promise<HistoryState | undefined> {
    const from = Math.max(position, reach.after);
    const [found] = await versionsIn(this.store, versionsBetween(this.iri, from), { limit: 1 });
    const state: HistoryState | undefined = found ?? (await this.present(record));
    if (!state || !isIn(reach, state)) return undefined;
    if (state.began <= from) return state;
    // The resource did not exist, or that version was erased.
    const [earlier] = await versionsIn(this.store, versionsBetween(this.iri, reach.after, from), { limit: 1 });
    return earlier ? undefined : state;
  }

  /** Returns the readable states before a position, latest first. */
  async before(
    position: number,
    reach: Reach,
    { record, limit }: { readonly record: ResourceRecord | undefined; readonly limit: number },
  ): Promise<HistoryState[]> {
    const present = await this.present(record);
    const range = versionsBetween(this.iri, reach.after, position);
    const found = range.gte < range.lt ? await versionsIn(this.store, range, { limit, reverse: true }) : [];
    const all = present && present.began < position ? [present, ...found] : found;
    return all.filter((state) => isIn(reach, state)).slice(0, limit);
  }

  /**
   * Returns the keys of a state of an RDF resource.
   * @returns `undefined` if they are not kept, or the state was erased
   * @throws DamagedGraphError, LwsError `too-busy`
   */
  async keys(state: HistoryState): Promise<readonly string[] | undefined> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const found = await this.read(state);
      if (found === 'changed') continue;
      if (!found || digestIn(state.record)?.toggle(found).isZero !== false) return found;
      // Unless a version of the chain was erased while it was read.
      if (attempt === maxAttempts - 1) throw new DamagedGraphError(this.iri);
    }
    throw tooBusy('The resource is being replaced again and again. Retry in a second.', 1);
  }

  private async read({ ended, record }: HistoryState): Promise<readonly string[] | undefined | 'changed'> {
    const { store, iri } = this;
    if (ended === undefined) return this.presentKeys(record.revision);
    const chain: EndedState[] = [];
    for (const version of await versionsIn(store, versionsBetween(iri, ended - 1), { limit: maxChain })) {
      const previous = chain.at(-1);
      if (previous ? previous.next !== version.record.revision : version.ended !== ended) break;
      chain.push(version);
      if (version.graph !== 'delta') break;
    }
    const last = chain.at(-1);
    if (!last?.graph) return undefined;
    let keys = last.graph === 'delta' ? await this.presentKeys(last.next) : undefined;
    // The present state was replaced meanwhile, and has become a version.
    if (last.graph === 'delta' && !keys) return 'changed';
    for (const version of chain.reverse()) {
      const [first = [], removed = []] = unpacked(await this.text(version));
      keys = version.graph === 'whole' ? first : applied(keys!, { added: first, removed }).keys;
      await yieldInLine();
    }
    return keys;
  }

  private async presentKeys(revision: string | undefined): Promise<readonly string[] | undefined> {
    const record = this.store.record(this.iri);
    if (record?.revision !== revision || isLargeGraph(record?.triples ?? 0)) return undefined;
    const found = await this.store.graph(this.iri);
    return found?.record.revision === revision ? found?.keys : undefined;
  }

  private async text({ ended }: EndedState): Promise<string> {
    let text = '';
    for await (const block of this.store.entries(dataRange(this.iri, ended)))
      for (const [, value] of block) text += value;
    return text;
  }
}

/** True if a state is in the part of a history that a caller may read. */
export const isIn = ({ isController, after, owner }: Reach, { ended, record }: HistoryState): boolean =>
  isController || ended === undefined || (ended > after && (owner === undefined || record.owner === owner));
