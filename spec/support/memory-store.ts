/** Store in memory with its blobs in a temporary directory, for specs of the store and of the layers above. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLevel } from 'memory-level';
import { stageRest } from '../../lib/resources/delete.js';
import { ensureRoot } from '../../lib/resources/storage-root.js';
import { type Level, openLevel } from '../../lib/storage/level/durable-level.js';
import { Store } from '../../lib/storage/transactions/store.js';

export const root = 'http://spec.example/';

export interface MemoryStore {
  readonly store: Store;
  readonly level: Level;
  readonly folder: string;
  /** Opens the same data again, as after a restart. */
  reopen(): Promise<MemoryStore>;
  dispose(): Promise<void>;
}

export async function memoryStore(existing?: { level: Level; folder: string }): Promise<MemoryStore> {
  const folder = existing?.folder ?? mkdtempSync(join(tmpdir(), 'quadpod-store-'));
  const level =
    existing?.level ?? (new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level);
  await level.open();
  const store = await Store.open(level, folder, root);
  await store.sweep(stageRest);
  await ensureRoot(store, root, Date.now());
  return {
    store,
    level,
    folder,
    reopen: () => memoryStore({ level, folder }),
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a store on disk, so that worker threads can open it. */
export async function storeOnDisk(): Promise<MemoryStore> {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-store-'));
  return memoryStore({ folder, level: await openLevel(join(folder, 'level')) });
}
