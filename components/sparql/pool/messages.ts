/** What the HTTP thread and a query worker say to each other. */

import type { ErrorCode } from '../../../lib/component/basics.js';
import type {
  GraphChanges,
  MemoryAsked,
  MemoryMessage,
  ServiceAnswer,
  ServiceCall,
} from '../../../lib/component/memory.js';
import type { AllowedHost } from '../../../lib/component/outbound.js';
import type { GraphScope, Parameters } from '../../../lib/component/query.js';
import type { AcceptedFormats } from '../protocol.js';

/** What is decided of a graph: whether it may be read, may be known of, or may be made where there is none. */
export type Purpose = 'read' | 'know' | 'make';

export interface QueryTask {
  readonly query: string;
  /** What relative references in the query are relative to. */
  readonly base: string;
  /** A container's subtree, or one resource; absent: the whole storage. */
  readonly within?: string;
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  readonly formats: AcceptedFormats;
  readonly maxResults: number;
  readonly maxBytes: number;
  /** It is an update: what it would change is the answer. */
  readonly update?: { readonly systemPrefix: string };
  /** Values of the query's variables. */
  readonly parameters?: Parameters;
  /** Hosts that SERVICE may name. */
  readonly allowedServices: readonly AllowedHost[];
}

/** A task, and the milliseconds after which it is ended, by itself or with its thread. */
export type TimedTask = QueryTask & { readonly timeoutMs: number };

export type ToQueryWorker =
  /** With a scope, that one is presumed; without, it asks with `ready`. */
  | { readonly task: TimedTask; readonly asked?: MemoryAsked | undefined; readonly scope?: GraphScope }
  /** The answer to `ready`: decided after the snapshot was taken, so that nothing is shown that was revoked before it. */
  | { readonly scope: GraphScope; readonly changes?: GraphChanges | undefined }
  /** The answers to one `decide`, in its order. */
  | { readonly decided: { readonly id: number; readonly answers: readonly boolean[] } }
  /** The answer to one `service`. */
  | { readonly serviced: { readonly id: number; readonly answer: ServiceAnswer } }
  /** The index in memory from here on; absent: there is none. */
  | MemoryMessage
  /** A chunk has been taken. */
  | { readonly more: true }
  /** The thread is to end. */
  | { readonly stop: true };

export type FromQueryWorker =
  /** It has its snapshot, and begins. */
  | { readonly ready: true }
  /** A part of the answer; the first one says the format, and the last one that it is the last. */
  | { readonly chunk: Uint8Array; readonly mediaType: string | undefined; readonly isLast: boolean }
  | { readonly decide: { readonly id: number; readonly iris: readonly string[]; readonly purpose: Purpose } }
  | { readonly service: ServiceCall & { readonly id: number } }
  | {
      readonly fault: {
        readonly code: ErrorCode | undefined;
        readonly message: string;
        readonly stack?: string | undefined;
      };
    };

export interface QueryWorkerData {
  /** The folder of the LevelDB, which the worker opens for itself. */
  readonly folder: string;
  readonly storage: string;
}
