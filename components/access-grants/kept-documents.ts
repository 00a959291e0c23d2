/** Requests and grants as they are kept: entries of the store, of one space each. It must not know who may see them. */
import { LwsError } from '../../lib/errors.js';
import { isTime } from '../../lib/fields/date.js';
import { isObject } from '../../lib/json/exact-json.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import { type AccessDocument, acceptDocument, type DocumentType } from './documents.js';

export interface KeptDocument {
  readonly document: AccessDocument;
  readonly creator: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** A digest of the address it came from; absent for those of earlier versions. */
  readonly from?: string;
  /** A controller has looked at it, or answered it. */
  readonly isSeen?: true;
}

export type Space = 'access-requests' | 'access-grants';

export const keyOf = (space: Space, name: string): string => entryKey(space, name);
export const readKept = (value: string): KeptDocument => JSON.parse(value) as KeptDocument;

export const bytesOf = ({ document }: KeptDocument): Buffer => Buffer.from(JSON.stringify(document));

/** Whether a value from elsewhere could be kept. @param storage the storage's URI */
export function isKept(value: unknown, type: DocumentType, storage: string): boolean {
  const { document, creator, created, from } = isObject(value) ? value : {};
  const { id } = isObject(document) ? document : {};
  const isOurs = typeof creator === 'string' && isTime(created) && (from === undefined || typeof from === 'string');
  if (!isOurs || typeof id !== 'string') return false;
  try {
    acceptDocument(document, type, id, storage);
    return true;
  } catch (error) {
    if (error instanceof LwsError) return false;
    throw error;
  }
}

/** All of a space, in the order of their names. */
export async function* allKept(
  store: Store,
  space: Space,
): AsyncGenerator<readonly [name: string, kept: KeptDocument]> {
  for await (const entries of store.entries(entryRange(space)))
    for (const [key, value] of entries) yield [partsOfEntry(key)[1]!, readKept(value)];
}
