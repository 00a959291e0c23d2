/** Context of resource operations: engine, authorizer, limits, caches. */
import type { AclIndex } from '../authorization/acl-index.js';
import type { Guard } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import type { Documents } from '../documents/documents.js';
import type { Store } from '../storage/transactions/store.js';
import type { Representations } from './representations.js';

export interface StorageLimits {
  /** Maximum size of an RDF, JSON or patch body, in bytes. */
  readonly requestBytes: number;
  /** Maximum size of a binary body, in bytes (0 = none). */
  readonly binaryBytes: number;
  /** Maximum size of the client-managed part of a linkset, and of a body that writes it, in bytes. */
  readonly linksetBytes: number;
  /** Storage quota, in bytes (0 = none). */
  readonly quotaBytes: number;
  /** Maximum number of members on one page of a listing. */
  readonly pageSize: number;
}

export interface Storage extends Guard {
  /** IRI of the root container, with final slash. Identifies the storage. */
  readonly rootIri: string;
  /** Path of system resources: `/.lws` below the storage's path. */
  readonly systemPrefix: string;
  readonly store: Store;
  readonly documents: Documents;
  readonly representations: Representations;
  readonly limits: StorageLimits;
  /** True if the method QUERY is supported. */
  readonly queries?: boolean;
  /** Links that components add to the responses for every resource. Set after all components are installed. */
  links?: readonly { readonly target: string; readonly relation: string }[];
  /** Methods that components add to existing resources. */
  addedMethods?: readonly string[] | undefined;
  /** Returns links that a component adds to the responses for one resource; `undefined` if there are none. */
  linksOf?: ((access: Access, iri: string) => Promise<readonly string[]> | undefined) | undefined;
  /** Returns true if a component keeps earlier versions: of the given resource, or without `iri` of any resource. */
  keepsVersions?: ((iri?: string) => boolean) | undefined;
  /** True if responses contain the links of the linkset (Signposting). */
  readonly signposting?: boolean;
  /** Index of resources that have an ACL. Absent without Web Access Control. */
  readonly acls?: AclIndex | undefined;
  /** True to reject an unconditional PUT on an existing resource with 428. */
  readonly requireConditionalWrites: boolean;
  /** Returns the current time in milliseconds since the epoch. */
  readonly clock: () => number;
}
