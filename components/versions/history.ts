/** Reads the history of a resource. */
import type { KeyRange, ResourceRecord } from '../../lib/storage/keys/records.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import {
  type EndedState,
  type Head,
  type HistoryState,
  headIn,
  headKey,
  positionOf,
  readVersion,
  versionsBetween,
} from './entries.js';
import type { Reach } from './permissions.js';

export type { HistoryState } from './entries.js';

/** Parts of a store that histories are read from. */
export type HistoryStore = Pick<Store, 'entry' | 'record' | 'entries'>;

async function versionsIn(
  store: HistoryStore,
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
    private readonly store: HistoryStore,
    private readonly iri: string,
    /** False if the present state will not be kept, so that it is no version. */
    private readonly isKept = true,
  ) {}

  /** Returns the head of a resource; `undefined` if the beginning of its present state was not recorded. */
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

  /** Returns the state at a position if the caller may read it. Before the first readable state, returns the first one. */
  async at(position: number, reach: Reach, record: ResourceRecord | undefined): Promise<HistoryState | undefined> {
    const from = Math.max(position, reach.after);
    const [found] = await versionsIn(this.store, versionsBetween(this.iri, from), { limit: 1 });
    const state: HistoryState | undefined = found ?? (await this.present(record));
    if (!state || !isIn(reach, state)) return undefined;
    if (state.began <= from) return state;
    // The resource did not exist at the position, or the version was erased.
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
}

/** Returns true if a state is in the readable part of a history. */
export const isIn = (
  { isController, after, owner }: Reach,
  { ended, record }: { readonly ended?: number; readonly record: { readonly owner?: string | undefined } },
): boolean => isController || ended === undefined || (ended > after && (owner === undefined || record.owner === owner));
