/** Storage in memory and request bodies, without sockets. */
import { type Authorizer, createAuthorizer } from '../../lib/authorization/authorizer.js';
import { type OwnerModeOptions, ownerModel } from '../../lib/authorization/owner-mode.js';
import { Documents } from '../../lib/documents/documents.js';
import type { RequestBody } from '../../lib/resources/body.js';
import { Representations } from '../../lib/resources/representations.js';
import type { Storage, StorageLimits } from '../../lib/resources/storage.js';
import { type MemoryStore, memoryStore, root } from './memory-store.js';

/** Returns an authorizer for owner mode without additional grants. */
export const ownerAuthorizer = (options: OwnerModeOptions): Authorizer => createAuthorizer(ownerModel(options), '');

export interface SpecStorage {
  readonly storage: Storage;
  readonly memory: MemoryStore;
  dispose(): Promise<void>;
}

export interface SpecStorageOptions {
  readonly authorizer?: Authorizer;
  readonly limits?: Partial<StorageLimits>;
  readonly updateTimeoutMs?: number;
  readonly memory?: MemoryStore;
}

export async function specStorage(options: SpecStorageOptions = {}): Promise<SpecStorage> {
  const memory = options.memory ?? (await memoryStore());
  const documents = new Documents({ updateTimeoutMs: options.updateTimeoutMs ?? 10_000 });
  const storage: Storage = {
    rootIri: root,
    systemPrefix: '/.lws',
    store: memory.store,
    documents,
    representations: new Representations(memory.store, 16 << 20),
    authorizer: options.authorizer ?? ownerAuthorizer({ owners: [], publicRead: false, open: true }),
    mask: true,
    limits: {
      requestBytes: 64 << 20,
      binaryBytes: 0,
      linksetBytes: 1 << 20,
      quotaBytes: 0,
      pageSize: 1000,
      ...options.limits,
    },
    requireConditionalWrites: true,
    clock: Date.now,
  };
  const dispose = async (): Promise<void> => {
    await documents.close();
    await memory.dispose();
  };
  return { storage, memory, dispose };
}

/** Returns a body with a media type. */
export const body = (content: string | Uint8Array, contentType = 'text/turtle'): RequestBody => {
  const bytes = Buffer.from(content as string);
  return {
    length: bytes.length,
    mediaType: contentType.split(';')[0]!,
    contentType,
    digests: new Map(),
    chunks: async function* () {
      if (bytes.length > 0) yield bytes;
    },
    collect: async () => bytes,
  };
};
