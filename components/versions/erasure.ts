/** Removes versions: on request of controllers, and when they have expired. */
import { type KeyRange, partsOfEntry } from '../../lib/storage/keys/records.js';
import { Again } from '../../lib/storage/transactions/again.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../lib/tools/errors.js';
import {
  allChanged,
  changedKey,
  type EndedState,
  horizonKey,
  readVersion,
  versionKey,
  versionsBetween,
  writeVersion,
} from './entries.js';
import { stageData, stageDataErasure, stageErasure } from './listener.js';
import { pastKeys } from './past-graph.js';
import { pastLinks } from './past-links.js';

/** Maximum count of versions that a transaction removes, and of their pieces (but always one version). */
const [versionsAtATime, piecesAtATime] = [100, 50];

type Admit = (tx: Transaction) => Promise<void>;

/**
 * Erases a version. The preceding version then gets all of its triples, which may be a difference to the erased version, and
 * its links. @throws LwsError `conflict` if these cannot be read
 */
export async function erase(
  { store, iri }: { readonly store: Store; readonly iri: string },
  { ended, admit }: { readonly ended: number; readonly admit: Admit },
): Promise<void> {
  const prepare = async () => {
    let previous: string | undefined;
    for await (const block of store.entries(versionsBetween(iri, 0, ended - 1), { limit: 1, reverse: true }))
      previous = block[0]![0];
    if (previous === undefined) return undefined;
    const version = readVersion(previous, store.entry(previous)!);
    const links = version.record.linked === undefined ? undefined : await pastLinks(store, version);
    if (version.graph === 'delta') return { version, links, keys: await pastKeys(store, version) };
    return links === version.links ? undefined : { version, links, keys: undefined };
  };
  await store.transact(
    async (tx, earlier) => {
      await admit(tx);
      if (earlier) {
        const { version, links, keys } = earlier;
        const key = versionKey(iri, version.ended);
        // Another transaction has erased the version.
        if (tx.entry(key) === undefined) throw new Again(iri);
        if (version.graph === 'delta' && !keys)
          throw new LwsError(
            'conflict',
            `The version ${version.began} before it needs it, and is damaged. Erase that version first, or all versions (?versions).`,
          );
        if (links !== undefined) Object.assign(version, { links });
        if (keys) {
          await stageDataErasure(tx, version);
          Object.assign(version, { graph: 'whole', short: undefined, pieces: await stageData(tx, version, keys) });
        }
        tx.putEntry(key, writeVersion(version));
      }
      await stageErasure(tx, iri, ended);
    },
    { frees: true, prepare, iri },
  );
}

/** Erases all versions of a resource, oldest first, because a version may depend on later ones. */
export async function eraseAll(store: Store, iri: string, admit: Admit): Promise<void> {
  for (;;) {
    const found: EndedState[] = [];
    for await (const block of store.entries(versionsBetween(iri, 0), { limit: versionsAtATime }))
      for (const entry of block) found.push(readVersion(...entry));
    if (found.length === 0) return;
    const count = fitting(found.map(({ pieces = 0 }) => pieces));
    await store.transact(
      async (tx) => {
        await admit(tx);
        for (const { ended } of found.slice(0, count)) await stageErasure(tx, iri, ended);
      },
      { frees: true },
    );
  }
}

/** Returns how many of the versions with these counts of pieces one transaction removes. */
function fitting(pieces: readonly number[]): number {
  let sum = pieces[0] ?? 0;
  let count = 1;
  while (count < pieces.length && sum + pieces[count]! <= piecesAtATime) sum += pieces[count++]!;
  return count;
}

/** Erases the versions that ended before a position. */
export async function expire(store: Store, position: number, signal: AbortSignal): Promise<void> {
  const range: KeyRange = { gte: allChanged.gte, lt: changedKey(position, 0) };
  for await (const block of store.entries(range))
    for (const [key, value] of block) {
      const ended = Number(partsOfEntry(key)[1]);
      const names = JSON.parse(value) as string[];
      const piecesOf = (iri: string): number => {
        const version = store.entry(versionKey(iri, ended));
        return version === undefined ? 0 : (readVersion(versionKey(iri, ended), version).pieces ?? 0);
      };
      for (let at = 0; at < names.length; ) {
        if (signal.aborted) return;
        const some = names.slice(at, at + versionsAtATime);
        const taken = some.slice(0, fitting(some.map(piecesOf)));
        at += taken.length;
        await store.transact(
          async (tx) => {
            for (const iri of taken) await stageErasure(tx, iri, ended);
            // Slices of a deleted subtree may be written later with an earlier end: keep the latest.
            tx.putEntry(horizonKey, String(Math.max(ended, Number(tx.entry(horizonKey) ?? 0))));
            if (at === names.length) tx.deleteEntry(key);
          },
          { frees: true },
        );
      }
    }
}
