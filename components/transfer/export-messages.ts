/** What the thread that writes an export and the one that answers requests tell each other. */
import type { ReadScope } from '../../lib/component/access.js';
import type { BlobLocation } from '../../lib/component/blobs.js';

export interface ExportTask {
  readonly dataDir: string;
  readonly blobs: BlobLocation;
  /** The IRI of the storage. */
  readonly storage: string;
  readonly of: string;
  readonly format: string;
  readonly isGzip: boolean;
  readonly scope: ReadScope;
  readonly isController: boolean;
  /** The state of components that is about what is exported alone; absent: all of it. */
  readonly kept: ReadonlySet<string> | undefined;
  /** Not zero: to end. */
  readonly ended: Int32Array;
}

export type AskedMode = 'read' | 'control';

/** A resource as it is going to be exported. */
export interface ExportedState {
  readonly iri: string;
  readonly revision: string;
}

export type ToExport =
  /** A chunk has been read. */
  | { readonly taken: true }
  | { readonly answer: number; readonly allowed: readonly boolean[] }
  /** Look whether it is still wanted. */
  | { readonly end: true };

export type FromExport =
  | { readonly chunk: Uint8Array }
  | { readonly question: number; readonly mode: AskedMode; readonly states: readonly ExportedState[] }
  | { readonly done: true }
  /** The message is for people, unless it is a fault. */
  | { readonly broken: string; readonly isFault: boolean };
