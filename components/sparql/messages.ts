/** What the HTTP thread and a query worker say to each other. */
import type { IriRange } from '../../lib/authorization/iri-ranges.js';
import type { ErrorCode } from '../../lib/errors.js';
import type { AllowedHost } from '../../lib/outbound/address-policy.js';
import type { GraphChanges, MemoryAsked, MemoryBase } from './engine/memory/memory-layers.js';
import type { AcceptedFormats } from './protocol.js';

/** Which graphs the caller may read, as far as it can be said at once. */
export type WorkerScope =
  | 'everything'
  | 'nothing'
  | 'decide'
  | { readonly owner?: string; readonly ranges: readonly IriRange[] };

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
  /** Hosts that SERVICE may name. */
  readonly allowedServices: readonly AllowedHost[];
}

/** What a query asks of another endpoint. */
export interface ServiceCall {
  readonly endpoint: string;
  readonly query: string;
}

/** Its answer as it came, or why there is none, in words that the client may read. */
export type ServiceAnswer =
  | { readonly body: Uint8Array }
  | { readonly code: 'service-failed' | 'query-limit'; readonly message: string };

export type ToQueryWorker =
  /** With a scope, that one is presumed; without, it asks with `ready`. */
  | { readonly task: QueryTask; readonly asked?: MemoryAsked | undefined; readonly scope?: WorkerScope }
  /** The answer to `ready`: decided after the snapshot was taken, so that nothing is shown that was revoked before it. */
  | { readonly scope: WorkerScope; readonly changes?: GraphChanges | undefined }
  /** The answers to one `decide`, in its order. */
  | { readonly decided: { readonly id: number; readonly answers: readonly boolean[] } }
  /** The answer to one `service`. */
  | { readonly serviced: { readonly id: number; readonly answer: ServiceAnswer } }
  /** The index in memory from here on; absent: there is none. */
  | { readonly base: MemoryBase | undefined }
  /** A chunk has been taken. */
  | { readonly more: true };

export type FromQueryWorker =
  /** It has its snapshot, and begins. */
  | { readonly ready: true }
  /** A part of the answer; the first one says the format, and the last one that it is the last. */
  | { readonly chunk: Uint8Array; readonly mediaType: string | undefined; readonly isLast: boolean }
  | { readonly decide: { readonly id: number; readonly iris: readonly string[] } }
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
  /** After which a query is ended, by itself or with its thread. */
  readonly timeoutMs: number;
}
