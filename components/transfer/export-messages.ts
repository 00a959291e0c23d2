/** The messages between the thread that writes an export and the HTTP thread. */
import type { ReadScope } from '../../lib/component/access.js';
import type { BlobLocation } from '../../lib/component/blobs.js';

export interface ExportTask {
  readonly dataDir: string;
  readonly blobs: BlobLocation;
  /** The IRI of the storage. */
  readonly storage: string;
  readonly of: string;
  readonly format: string;
  /** Modules of formats. */
  readonly formats: readonly string[];
  readonly isGzip: boolean;
  readonly scope: ReadScope;
  readonly isController: boolean;
  /** Keys of the state of components that concerns only exported resources; absent: all of it. */
  readonly kept: ReadonlySet<string> | undefined;
}

export type AskedMode = 'read' | 'control';

/** A resource as it is going to be exported. */
export interface ExportedState {
  readonly iri: string;
  readonly revision: string;
}

export interface ExportQuestions {
  /** Whether each of them may be exported, in their order. */
  decide(mode: AskedMode, states: readonly ExportedState[]): Promise<readonly boolean[]>;
}
