/** Messages between the HTTP thread and query threads. */

import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import type { GraphChanges, MemoryAsked } from '../../../lib/query/memory/memory-layers.js';
import type { TextAnswer, TextCall } from '../../../lib/query/parse/text-patterns.js';
import type { PastFact, PastTask } from '../../../lib/query/past-graphs.js';
import type { AllowedHost } from '../../../lib/tools/outbound/address-policy.js';
import type { AcceptedFormats, SparqlRequest } from '../protocol/protocol.js';
import type { ScopeMessage } from './scope-message.js';

/** Permission on a graph: read it, know that it exists, or create it. */
export type Purpose = 'read' | 'know' | 'make';

export interface QueryTask extends Omit<SparqlRequest, 'isUpdate'> {
  /** Base IRI of the query. */
  readonly base: string;
  /** Container (with its subtree) or resource. Absent: the whole storage. */
  readonly within?: string;
  readonly formats: AcceptedFormats;
  readonly maxResults: number;
  /** Maximum characters of the result. If present, the result ends at this size or at `maxResults` rows, instead of failing. */
  readonly cutAt?: number;
  /** Origin of `timeoutMs`, for messages. Default: the parameter of the request. */
  readonly limitedBy?: string;
  readonly maxBytes: number;
  /** Present for updates, whose result is the changes to make. */
  readonly update?: { readonly systemPrefix: string; readonly defaultGraph: string | undefined };
  /** Hosts allowed in SERVICE. */
  readonly allowedServices: readonly AllowedHost[];
  /** Earlier state to query. */
  readonly past?: PastTask | undefined;
  /** True if there is a text search. Then `text:query` patterns are replaced by the rows of the search. */
  readonly hasTextSearch?: boolean;
}

/** Time limit of a query, enforced in the thread or by ending the thread. */
export interface TimeLimit {
  readonly timeoutMs: number;
  /** Name of the setting or request parameter. */
  readonly by: string;
}

export interface AskedTask {
  readonly task: QueryTask;
  readonly limit: TimeLimit;
  readonly asked: MemoryAsked | undefined;
  /** Presumed read access of the caller. Absent: the thread asks for it. */
  readonly presumed: GraphScope | undefined;
}

/** Part of the result, with its format. */
export interface AnswerPart {
  readonly mediaType: string;
  readonly hint?: string | undefined;
  readonly chunk: Uint8Array<ArrayBuffer>;
}

/** Questions of a query thread. */
export interface QueryQuestions {
  /** Returns the read access, evaluated after the snapshot is taken, so that earlier revocations apply. */
  scope(): Promise<{ readonly scope: ScopeMessage; readonly changes: GraphChanges | undefined }>;
  /** Returns access decisions, in the order of the IRIs. */
  decide(iris: readonly string[], purpose: Purpose): Promise<readonly boolean[]>;
  /** Resolves when the index is ready or not needed, with `undefined` if there is no index. */
  index(): Promise<MemoryAsked | undefined>;
  /** Drops the index because a file is damaged. */
  damaged(why: string): void;
  /** Sends a SERVICE request, because the thread opens no sockets. */
  service(call: ServiceCall): Promise<ServiceAnswer>;
  /** Returns access decisions on earlier states, in the order of the states. */
  past(states: readonly PastFact[]): Promise<readonly boolean[]>;
  /** Runs a text search. Returns only rows that the caller may read. */
  texts(call: TextCall): Promise<TextAnswer>;
}

export interface QueryThreadData {
  /** Directory of the LevelDB, which the thread opens itself. */
  readonly folder: string;
  readonly storage: string;
}
