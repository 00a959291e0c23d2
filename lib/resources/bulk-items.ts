/** What is stored with many others in one transaction. */
import type { AclDocument } from '../authorization/acl.js';
import type { Access } from '../authorization/principal.js';
import type { ClientLinks } from './linkset.js';

/** Content that is ready to be referred to. */
export type BulkContent =
  | {
      readonly kind: 'rdf';
      /** Bytes of its default Turtle. */
      readonly size: number;
      readonly triples: number;
      readonly prefixes: Readonly<Record<string, string>>;
      /** The keys with the resource or a fragment of it as their subject. */
      readonly own: readonly string[];
      /** All keys; absent where the transaction's partner has them. */
      readonly keys?: readonly string[];
    }
  | {
      readonly kind: 'json' | 'binary';
      readonly mediaType: string;
      readonly size: number;
      readonly sha256: string;
      readonly blob: string;
    };

export interface BulkItem {
  readonly iri: string;
  /** Absent: a container. */
  readonly content?: BulkContent;
  readonly links?: ClientLinks;
  readonly acl?: Pick<AclDocument, 'prefixes' | 'keys'>;
  /** Milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
}

/** What becomes of an item whose resource is there already; `merge`: triples are added, and nothing else can be. */
export type ExistingRule = 'fail' | 'skip' | 'replace' | 'merge';

export interface BulkOptions {
  /** Who asks, and owns what is created. */
  readonly access: Access;
  /** The operator may do everything. */
  readonly isOperator: boolean;
}

/** `needs-keys`: nothing was staged, since all keys are wanted. */
export type BulkVerdict = 'created' | 'replaced' | 'merged' | 'skipped' | 'kept' | 'needs-keys';
