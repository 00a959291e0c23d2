/** LevelDB in its own directory, with batches that can be made to fail like on a full disk. It must not know the content of a batch. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureRoot } from '../../lib/resources/storage-root.js';
import { type Level, openLevel } from '../../lib/storage/level/durable-level.js';
import { Store } from '../../lib/storage/transactions/store.js';

export const root = 'http://spec.example/';

export interface Failure {
  /** Settles when the batch may fail. Default: immediately. */
  readonly when?: Promise<void>;
  /** The batch still reaches the disk: LevelDB wrote its log, and the following sync failed. */
  readonly afterWriting?: boolean;
}

/** Makes the next batch of a LevelDB fail with ENOSPC, once. Returns a promise that settles when it is about to be written. */
export function failNextBatch(level: Level, { when, afterWriting }: Failure = {}): Promise<void> {
  const original = level.batch;
  return new Promise((reached) => {
    const failing = (...given: []): unknown => {
      level.batch = original;
      const batch = original.apply(level, given) as unknown as { write(options?: object): Promise<void> };
      const write = batch.write.bind(batch);
      batch.write = async (options) => {
        reached();
        await when;
        if (afterWriting) await write(options);
        throw Object.assign(new Error('IO error: 000005.log: No space left on device'), { code: 'ENOSPC' });
      };
      return batch;
    };
    level.batch = failing as Level['batch'];
  });
}

/** Simulates a full disk until the returned function is called. */
export function stayFull({ blobs }: Store): () => void {
  const { probe } = blobs;
  blobs.probe = () => Promise.reject(new Error('IO error: No space left on device'));
  return () => {
    blobs.probe = probe;
  };
}

export interface DiskStore {
  readonly store: Store;
  readonly folder: string;
  /** Closes and reopens it, like a restart. */
  reopen(): Promise<DiskStore>;
  dispose(): Promise<void>;
}

/** Store on a real LevelDB. */
export async function diskStore(folder = mkdtempSync(join(tmpdir(), 'quadpod-disk-'))): Promise<DiskStore> {
  const level = await openLevel(join(folder, 'level'));
  const store = await Store.open(level, folder, root);
  await ensureRoot(store, root, Date.now());
  return {
    store,
    folder,
    reopen: async () => {
      await store.close();
      return diskStore(folder);
    },
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
