/** Requests and grants as they are kept: entries of the store, of one space each. It must not know who may see them. */
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Store } from '../../lib/storage/store.js';
import type { AccessDocument } from './documents.js';

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

/** All of a space, in the order of their names. */
export async function* allKept(
  store: Store,
  space: Space,
): AsyncGenerator<readonly [name: string, kept: KeptDocument]> {
  for await (const entries of store.entries(entryRange(space)))
    for (const [key, value] of entries) yield [partsOfEntry(key)[1]!, readKept(value)];
}
