/**
 * Local copy of the storage in the data directory of each server: a LevelDB that follows the journal. It can be deleted: it is
 * rebuilt from the last checkpoint and the later journal rows.
 */
import { StoreUnavailableError } from '../../lib/plugin/blobs.js';
import { lastCheckpoint, linesOf, writeCheckpoint } from './checkpoint.js';
import type { JoinOptions } from './contract.js';
import { contradict, type Journal } from './journal.js';

export interface CopyOptions extends Pick<JoinOptions, 'replica' | 'storage' | 'told' | 'onProgress'> {
  readonly journal: Journal;
  /** Name of the journal, stored in the copy. */
  readonly name: string;
}

/**
 * Opens the directory as a copy of a journal, and creates or rebuilds the copy if necessary.
 * @throws StoreUnavailableError if the directory has other content, or the database lacks rows that the copy has
 */
export async function openCopy(options: CopyOptions): Promise<void> {
  const { replica, journal, name, storage, told } = options;
  const known = replica.journal;
  if (!known) return replica.holds(storage) === 'nothing' ? makeCopy(options) : moveIn(options);
  if (known.name === name && !known.isFinished) return makeCopy(options);
  if (known.name !== name)
    throw new StoreUnavailableError(
      'The data directory is a copy of another database. Choose another lws.data-dir, or remove its directory level/ to copy ' +
        'the database in lws.store.',
    );
  // Check this before a rebuild, also of an incomplete copy: rows that the database lacks may exist only in this copy.
  const { place } = replica;
  const found = await journal.find(place.seq);
  if (place.seq > (await journal.head()).seq || contradict(place, found))
    throw new StoreUnavailableError(
      'The database lacks changes that this copy has: it was reset to an earlier state. To continue with the state of the database, remove the ' +
        'directory level/ in the data directory of every server. To keep the changes in this copy, make a backup of it first.',
    );
  if (!(await replica.isWhole())) {
    told(
      'This server has lost, or may have lost, a part of its copy of the storage when its machine stopped. The copy is rebuilt.',
    );
    return makeCopy(options);
  }
  if (await journal.reaches(place.seq)) return;
  told('The journal no longer has the rows after the state of this server. Its copy of the storage is rebuilt.');
  await makeCopy(options);
}

async function makeCopy({ replica, journal: { others }, name, storage, onProgress }: CopyOptions): Promise<void> {
  const checkpoint = (await lastCheckpoint(others)) ?? { key: 0, seq: 0, parts: 0, bytes: 0 };
  await replica.rebuild({ journal: name, storage, seq: checkpoint.seq }, linesOf(others, checkpoint, onProgress));
}

/** Copies an existing storage from the directory into a new database. */
async function moveIn({ replica, journal, name, storage, told }: CopyOptions): Promise<void> {
  if (replica.holds(storage) !== 'storage')
    throw new StoreUnavailableError(
      'The storage in the data directory has another base URI or an earlier format. Start it once without lws.store, then move it.',
    );
  if ((await journal.head()).seq > 0 || (await lastCheckpoint(journal.others)))
    throw new StoreUnavailableError(
      'Both the data directory and the database in lws.store contain a storage. Choose an empty lws.data-dir to serve ' +
        'the one in the database, or another lws.store or lws.store.schema for the one in the directory.',
    );
  told('The database is empty: the storage in the data directory is copied to it.');
  if (replica.hasNewTerms) await journal.raiseFormat();
  await writeCheckpoint(replica, journal.others, 0);
  await replica.follow(name);
}
