/** The storage as the operations on resources see it: the engine, the authorizer, the limits, the caches. */
import type { AclIndex } from '../authorization/acl-index.js';
import type { Guard } from '../authorization/guard.js';
import type { Documents } from '../documents/documents.js';
import type { Store } from '../storage/transactions/store.js';
import type { Representations } from './representations.js';

export interface StorageLimits {
  /** Bytes of an RDF, JSON or patch body. */
  readonly requestBytes: number;
  /** Bytes of a binary body; 0 = none. */
  readonly binaryBytes: number;
  /** Bytes of a linkset's client-managed part, and of a body that writes it. */
  readonly linksetBytes: number;
  /** Bytes of everything stored; 0 = none. */
  readonly quotaBytes: number;
  /** Members on one page of a listing. */
  readonly pageSize: number;
}

export interface Storage extends Guard {
  /** The root container's IRI, which is the storage's URI; it ends in a slash. */
  readonly rootIri: string;
  /** `/.lws`, below the storage's path. */
  readonly systemPrefix: string;
  readonly store: Store;
  readonly documents: Documents;
  readonly representations: Representations;
  readonly limits: StorageLimits;
  /** Whether resources answer QUERY. */
  readonly queries?: boolean;
  /** Links of every resource that components add; there when all are installed. */
  links?: readonly { readonly target: string; readonly relation: string }[];
  /** Which resources have an ACL of their own; absent but in Web Access Control, where there are ACLs at all. */
  readonly acls?: AclIndex | undefined;
  /** Refuse an unconditional PUT on an existing resource with 428. */
  readonly requireConditionalWrites: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
