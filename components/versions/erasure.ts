/** Removal of versions: by controllers, and of those that are too old. */
import { type KeyRange, partsOfEntry } from '../../lib/storage/keys/records.js';
import { Again } from '../../lib/storage/transactions/again.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import {
  allChanged,
  changedKey,
  horizonKey,
  readVersion,
  versionKey,
  versionsBetween,
  writeVersion,
} from './entries.js';
import { stageData, stageDataErasure, stageErasure } from './listener.js';
import { pastKeys } from './past-graph.js';

/** Versions that a transaction removes. */
const versionsAtATime = 100;

type Admit = (tx: Transaction) => Promise<void>;

/** Erases a version. The one before it, whose triples may be a difference to it, then gets all of its triples. */
export async function erase(
  { store, iri }: { readonly store: Store; readonly iri: string },
  { ended, admit }: { readonly ended: number; readonly admit: Admit },
): Promise<void> {
  const prepare = async () => {
    let previous: string | undefined;
    for await (const block of store.entries(versionsBetween(iri, 0, ended - 1), { limit: 1, reverse: true }))
      previous = block[0]![0];
    const version = previous === undefined ? undefined : readVersion(previous, store.entry(previous)!);
    return version?.graph === 'delta' ? { version, keys: await pastKeys(store, version) } : undefined;
  };
  await store.transact(
    async (tx, earlier) => {
      await admit(tx);
      if (earlier) {
        const { version, keys } = earlier;
        const key = versionKey(iri, version.ended);
        // Erased meanwhile.
        if (tx.entry(key) === undefined || !keys) throw new Again(iri);
        stageDataErasure(tx, version);
        const pieces = await stageData(tx, version, keys);
        tx.putEntry(key, writeVersion(Object.assign(version, { graph: 'whole' as const, pieces })));
      }
      stageErasure(tx, iri, ended);
    },
    { frees: true, prepare, iri },
  );
}

/** Erases all versions of a resource, oldest first, because others depend on later ones. */
export async function eraseAll(store: Store, iri: string, admit: Admit): Promise<void> {
  for (;;) {
    const found: number[] = [];
    for await (const block of store.entries(versionsBetween(iri, 0), { limit: versionsAtATime }))
      for (const [key] of block) found.push(Number(partsOfEntry(key)[2]));
    if (found.length === 0) return;
    await store.transact(
      async (tx) => {
        await admit(tx);
        for (const ended of found) stageErasure(tx, iri, ended);
      },
      { frees: true },
    );
  }
}

/** Erases the versions that ended before a position. */
export async function expire(store: Store, position: number, signal: AbortSignal): Promise<void> {
  const range: KeyRange = { gte: allChanged.gte, lt: changedKey(position, 0) };
  for await (const block of store.entries(range))
    for (const [key, value] of block) {
      const ended = Number(partsOfEntry(key)[1]);
      const names = JSON.parse(value) as string[];
      for (let at = 0; at < names.length; at += versionsAtATime) {
        if (signal.aborted) return;
        await store.transact(
          (tx) => {
            for (const iri of names.slice(at, at + versionsAtATime)) stageErasure(tx, iri, ended);
            tx.putEntry(horizonKey, String(ended));
            if (at + versionsAtATime >= names.length) tx.deleteEntry(key);
          },
          { frees: true },
        );
      }
    }
}
