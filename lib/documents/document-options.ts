/** What `Documents` are made with and given. */
import type { Bounds } from '../rdf/bounds.js';
import type { RdfFormat } from '../rdf/formats.js';
import type { RemoteContexts } from './remote-contexts.js';

export interface DocumentsOptions {
  /** Where JSON-LD contexts come from that do not ship; absent: from nowhere. */
  readonly remoteContexts?: RemoteContexts;
  /** Milliseconds after which a SPARQL update is ended. */
  readonly updateTimeoutMs: number;
  /** Milliseconds after which any other task in a worker is ended. */
  readonly taskTimeoutMs?: number;
  /** What a document may become. */
  readonly bounds?: Bounds;
}

/** Whose work it is: clients take turns, and those of a lower rank come first. */
export interface Sender {
  readonly client: string;
  readonly rank: number;
}

export interface DocumentBounds {
  readonly format: RdfFormat;
  readonly graph: string;
  readonly client?: string;
  readonly deadlineMs?: number;
  readonly contexts?: Readonly<Record<string, string>>;
}

/** A graph as it is before an update. */
export interface GraphState {
  /** Its GSPO keys. */
  readonly keys: readonly string[];
  readonly graph: string;
  readonly prefixes: Readonly<Record<string, string>>;
}
