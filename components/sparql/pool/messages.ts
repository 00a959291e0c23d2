/** What the HTTP thread and a query thread say to each other. */

import type { AllowedHost } from '../../../lib/outbound/address-policy.js';
import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import type { GraphChanges, MemoryAsked } from '../../../lib/query/memory/memory-layers.js';
import type { AcceptedFormats, SparqlRequest } from '../protocol/protocol.js';

/** What is decided of a graph: whether it may be read, may be known of, or may be made where there is none. */
export type Purpose = 'read' | 'know' | 'make';

export interface QueryTask extends Omit<SparqlRequest, 'isUpdate'> {
  /** What relative references in the query are relative to. */
  readonly base: string;
  /** A container's subtree, or one resource; absent: the whole storage. */
  readonly within?: string;
  readonly formats: AcceptedFormats;
  readonly maxResults: number;
  readonly maxBytes: number;
  /** It is an update: what it would change is the answer. */
  readonly update?: { readonly systemPrefix: string };
  /** Hosts that SERVICE may name. */
  readonly allowedServices: readonly AllowedHost[];
}

/** When a query is ended, by itself or with its thread. */
export interface TimeLimit {
  readonly timeoutMs: number;
  /** The setting that says so, or the parameter of the request. */
  readonly by: string;
}

export interface AskedTask {
  readonly task: QueryTask;
  readonly limit: TimeLimit;
  readonly asked: MemoryAsked | undefined;
  /** What the caller may read is presumed; absent: it is asked for. */
  readonly presumed: GraphScope | undefined;
}

/** A part of the answer, with the format. */
export interface AnswerPart {
  readonly mediaType: string;
  readonly hint?: string | undefined;
  readonly chunk: Uint8Array<ArrayBuffer>;
}

/** What the thread asks for. */
export interface QueryQuestions {
  /** Decided after the snapshot was taken, so that nothing is shown that was revoked before it. */
  scope(): Promise<{ readonly scope: GraphScope; readonly changes: GraphChanges | undefined }>;
  /** The answers are in the order of the IRIs. */
  decide(iris: readonly string[], purpose: Purpose): Promise<readonly boolean[]>;
  /** Resolves when the index in memory can be used, or none is needed any more. `undefined`: there is none. */
  index(): Promise<MemoryAsked | undefined>;
  /** The thread opens no sockets. */
  service(call: ServiceCall): Promise<ServiceAnswer>;
}

export interface QueryThreadData {
  /** The folder of the LevelDB, which the thread opens for itself. */
  readonly folder: string;
  readonly storage: string;
}
