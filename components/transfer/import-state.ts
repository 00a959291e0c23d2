/** How far an import is, as it is kept in the store and told to people. */
import { entryKey, entryRange } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import type { Told } from './blocks.js';
import type { Rewrite } from './member.js';

export const importSpace = 'import';
/** Short names of what an import has stored, by block, until it has ended. */
export const seenSpace = 'import-seen';

export type Conflict = 'fail' | 'skip' | 'replace';
export const conflicts: readonly Conflict[] = ['fail', 'skip', 'replace'];

export interface ImportState {
  readonly id: string;
  /** The file or folder on this machine. */
  readonly source: string;
  /** What people call it. */
  readonly name: string;
  readonly format?: string;
  readonly mediaType?: string;
  readonly into: string;
  readonly rewrite: readonly Rewrite[];
  readonly conflict: Conflict;
  /** Milliseconds since the epoch. */
  readonly began: number;
  /** Behind the last block that was stored; empty before the first. */
  cursor: string;
  blocks: number;
  /** Of the source: read so far, and in all where that is known. */
  bytes: number;
  total?: number | undefined;
  quads: number;
  created: number;
  replaced: number;
  merged: number;
  skipped: number;
  leftOut: number;
  /** The first of what was left out, and why. */
  told: readonly Told[];
  /** `interrupted`: it can go on. */
  status: 'running' | 'done' | 'failed' | 'interrupted';
  failure?: string;
}

export const newState = (
  facts: Pick<
    ImportState,
    'id' | 'source' | 'name' | 'format' | 'mediaType' | 'into' | 'rewrite' | 'conflict' | 'began'
  >,
): ImportState => ({
  ...facts,
  ...{
    cursor: '',
    blocks: 0,
    bytes: 0,
    quads: 0,
    created: 0,
    replaced: 0,
    merged: 0,
    skipped: 0,
    leftOut: 0,
    told: [],
  },
  status: 'running',
});

export const writeState = (state: ImportState): string => JSON.stringify(state);

/** All that the store knows of. One that was running when the server ended was interrupted. */
export async function keptStates(store: Store): Promise<ImportState[]> {
  const states: ImportState[] = [];
  for await (const entries of store.entries(entryRange(importSpace)))
    for (const [, value] of entries) states.push(interrupted(JSON.parse(value) as ImportState));
  return states;
}

const interrupted = (state: ImportState): ImportState =>
  state.status === 'running' ? { ...state, status: 'interrupted' } : state;

/** Keeps the state; when it has ended for good, what was needed to go on goes. */
export async function keepState(store: Store, state: ImportState): Promise<void> {
  const seen: string[] = [];
  if (state.status === 'done') for await (const keys of store.keys(entryRange(seenSpace, state.id))) seen.push(...keys);
  await store.transact(
    (tx) => {
      tx.putEntry(entryKey(importSpace, state.id), writeState(state));
      for (const key of seen) tx.deleteEntry(key);
    },
    { frees: true },
  );
}

/** Forgets an import that does not run. */
export async function forgetState(store: Store, id: string): Promise<void> {
  const seen: string[] = [];
  for await (const keys of store.keys(entryRange(seenSpace, id))) seen.push(...keys);
  await store.transact(
    (tx) => {
      tx.deleteEntry(entryKey(importSpace, id));
      for (const key of seen) tx.deleteEntry(key);
    },
    { frees: true },
  );
}
