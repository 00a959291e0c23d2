/** What stands around the entries of a back-up, and which of them are of what kind. It must not know files or HTTP. */
import { type KeyRange, rangeOf } from '../../lib/storage/records.js';

/** What stands first in a back-up. */
export interface Header {
  readonly 'quadpod-backup': 1;
  /** The storage's IRI. */
  readonly storage: string;
  /** The version of the store's format. */
  readonly version: string;
  /** ISO 8601. */
  readonly made: string;
}

/** What stands last: without it a back-up is cut off. */
export interface Trailer {
  readonly entries: number;
}

export const spaceOf = (space: 'B' | 'E' | 'GSPO' | 'M' | 'R'): KeyRange => rangeOf(`${space}\u0000`);

export const isOf = (space: 'B' | 'E' | 'M' | 'R', key: string): boolean => key.startsWith(`${space}\u0000`);
