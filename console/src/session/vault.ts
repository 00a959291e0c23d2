/** Stores the session in IndexedDB. Keys are stored as CryptoKeys and cannot be exported. */

const [database, store] = ['quadpod-console', 'session'];

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within<T>(mode: IDBTransactionMode, work: (objects: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opened = await open();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = opened.transaction(store, mode);
      const request = work(transaction.objectStore(store));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    opened.close();
  }
}

/** Entries of several storages of one origin are separated by path. */
const place = new URL('./', location.href).pathname;
const own = (name: string): string => `${place} ${name}`;

export const readStored = <T>(name: string): Promise<T | undefined> =>
  within('readonly', (objects) => objects.get(own(name)) as IDBRequest<T | undefined>);
export const remember = async (name: string, value: unknown): Promise<void> =>
  void (await within('readwrite', (objects) => objects.put(value, own(name))));
export const forget = async (name: string): Promise<void> =>
  void (await within('readwrite', (objects) => objects.delete(own(name))));
/** Name of the entry with the identity of this browser. Not deleted on sign-out. */
const identity = 'browser';

/** Deletes the session, but not the identity of this browser. */
export async function forgetSession(): Promise<void> {
  for (const [after, before] of [
    ['', identity],
    [`${identity}\0`, '\uffff'],
  ] as const)
    await within('readwrite', (objects) => objects.delete(IDBKeyRange.bound(own(after), own(before), false, true)));
  for (const key of Object.keys(localStorage)) if (key.startsWith(storedKey(''))) localStorage.removeItem(key);
}

/** Returns the localStorage key of data that belongs to the session: queries, names of people. */
export const storedKey = (name: string): string => `quadpod ${own(name)}`;
