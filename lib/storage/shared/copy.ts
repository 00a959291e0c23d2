/**
 * The copy of the storage that each server has in its folder: a LevelDB that follows the journal. It can be thrown away, and is made
 * again from the last checkpoint and the rows after it.
 */
import { assertRestored } from '../graphs/adopt.js';
import { newFacts, storeFormat } from '../graphs/format.js';
import { Orders } from '../keys/orders.js';
import { metaKey } from '../keys/records.js';
import { type Level, putSynced, StoreUnavailableError, syncLevel, writeBatch } from '../level/durable-level.js';
import { lastCheckpoint, loadCheckpoint, writeCheckpoint } from './checkpoint.js';
import { isWhole } from './copied-rows.js';
import { contradict, type Journal, readPlace } from './journal.js';

export interface CopyOptions {
  readonly level: Level;
  readonly journal: Journal;
  /** The name of the journal. */
  readonly name: string;
  /** The storage's IRI. */
  readonly storage: string;
  readonly told: (message: string) => void;
  readonly onProgress: (done: number, of: number) => void;
}

/** Before the name of the journal in `M journal`: the copy is still being made. */
const unfinished = 'unfinished ';

/** Whether a folder is the copy of a journal; `whole` when it has one state of it, maybe an early one, and no part of that is lost. */
export async function copyIn(level: Level): Promise<'none' | 'whole' | 'unfinished'> {
  const journal = await level.get(metaKey('journal'));
  if (journal === undefined) return 'none';
  return journal.startsWith(unfinished) || !(await isWhole(level)) ? 'unfinished' : 'whole';
}

/** @throws StoreUnavailableError for a folder that is the copy of a journal, when the server is started without one */
export async function assertNoCopy(level: Level): Promise<void> {
  if ((await level.get(metaKey('journal'))) !== undefined)
    throw new StoreUnavailableError(
      'The data directory is this server’s copy of a storage in a database, which lws.store named. Set lws.store again. To go on without ' +
        'the database, stop all servers, make a back-up ("quadpod backup DIR") and restore it into an empty lws.data-dir.',
    );
}

/**
 * Makes the folder the copy of a journal that has everything up to some row.
 * @throws StoreUnavailableError when there is something else in the folder, or the database has less than the copy
 */
export async function openCopy(options: CopyOptions): Promise<void> {
  const { level, journal, name, told } = options;
  await assertRestored(level);
  const known = await level.get(metaKey('journal'));
  if (known === undefined) {
    if ((await level.get(metaKey('version'))) === undefined) return makeCopy(options);
    return moveIn(options);
  }
  if (known === unfinished + name) return makeCopy(options);
  if (known !== name)
    throw new StoreUnavailableError(
      'The data directory is the copy of another database. Choose another lws.data-dir, or remove its folder level/: it is made again from ' +
        'the database that lws.store names.',
    );
  // Before a copy is made again: what the database lacks may exist in this copy alone, also when it is not whole.
  const place = readPlace(await level.get(metaKey('position')));
  const found = await journal.find(place.seq);
  if (place.seq > (await journal.head()).seq || contradict(place, found))
    throw new StoreUnavailableError(
      'The database lacks what this copy of it has: it was set back to an earlier state. To go on with the state of the database, remove the ' +
        'folder level/ in the data directory of every server; to keep what is here, make a back-up of it first.',
    );
  if (!(await isWhole(level))) {
    told(
      'This server has lost a part of its copy of the storage, or may have when its machine ended: it is made anew.',
    );
    return makeCopy(options);
  }
  if (await journal.reaches(place.seq)) return;
  told('The journal does not reach back to where this server stopped: its copy of the storage is made anew.');
  await makeCopy(options);
}

async function makeCopy({ level, journal, name, storage, onProgress }: CopyOptions): Promise<void> {
  await putSynced(level, metaKey('journal'), unfinished + name);
  await level.clear({ lt: metaKey('journal') });
  await level.clear({ gt: metaKey('journal') });
  const position = await loadCheckpoint(level, journal.others, onProgress);
  // A synced batch is on the disk with what is before it in the same log, and there may be several.
  await syncLevel(level);
  // A checkpoint of an earlier format is migrated as such a store is.
  const isEmpty = (await level.get(metaKey('version'))) === undefined;
  await writeBatch(
    level,
    (batch) => {
      for (const fact of isEmpty ? newFacts(Orders.one) : []) batch.put(...fact);
      batch.put(metaKey('orders'), Orders.one.text);
      batch.put(metaKey('storage'), storage);
      batch.put(metaKey('position'), String(position));
    },
    () => [metaKey('journal'), name],
  );
}

/** Copies the storage of the folder into the database, which must be new. */
async function moveIn({ level, journal, name, storage, told }: CopyOptions): Promise<void> {
  const [own, version] = [await level.get(metaKey('storage')), await level.get(metaKey('version'))];
  if (own !== storage || version !== storeFormat)
    throw new StoreUnavailableError(
      'The storage in the data directory has another base URI or an earlier format. Start it without lws.store once; after that it can move.',
    );
  if ((await journal.head()).seq > 0 || (await lastCheckpoint(journal.others)))
    throw new StoreUnavailableError(
      'The data directory has a storage of its own, and the database that lws.store names has one too. Choose an empty lws.data-dir to serve ' +
        'that of the database, or another lws.store or lws.store.schema for this one.',
    );
  told('The database is new: the storage of the data directory is copied into it.');
  await writeCheckpoint(level, journal.others, 0);
  await writeBatch(
    level,
    (batch) => batch.put(metaKey('journal'), name),
    () => [metaKey('position'), '0'],
  );
}
