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
  /** `/.lws`, below the storage's path. */
  readonly systemPrefix: string;
  readonly store: Store;
  readonly documents: Documents;
  readonly representations: Representations;
  readonly limits: StorageLimits;
  /** True if resources support QUERY. */
  readonly queries?: boolean;
  /** Links that components add to every resource; set after all components are installed. */
  links?: readonly { readonly target: string; readonly relation: string }[];
  /** Methods of existing resources that components add. */
  addedMethods?: readonly string[] | undefined;
  /** Returns links that a component adds to the responses for one resource; `undefined` if there are none. */
  linksOf?: ((access: Access, iri: string) => Promise<readonly string[]> | undefined) | undefined;
  /** Returns true if a component keeps earlier states of data resources, or the present one of a given resource. */
  keepsVersions?: ((iri?: string) => boolean) | undefined;
  /** True if responses have the Signposting links of the linkset. */
  readonly signposting?: boolean;
  /** Index of resources with an ACL of their own, absent without Web Access Control. */
  readonly acls?: AclIndex | undefined;
  /** Reject an unconditional PUT on an existing resource with 428. */
  readonly requireConditionalWrites: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
