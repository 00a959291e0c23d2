/** Services that the server provides to components. */
import type { KeyObject } from 'node:crypto';
import type { Tally } from '../authentication/tally.js';
import type { Throttle } from '../authentication/throttle.js';
import type { Guard } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import type { Documents } from '../documents/documents.js';
import type { Reply } from '../http/reply.js';
import type { FactsForCaller } from '../http/resource-facts.js';
import type { InnerRequest } from '../http/resources.js';
import type { Storage } from '../resources/storage.js';
import type { Store } from '../storage/transactions/store.js';
import type { Log } from '../tools/log.js';
import type { FetchUnder, GuardedFetch } from '../tools/outbound/guarded-fetch.js';
import type { Deployment } from './deployment.js';
import type { Installation, Offer } from './installation.js';
import type { Administration, Authentication } from './services.js';
import type { ToolCaller } from './tools.js';

export type { ForeignState, Installation, Offer } from './installation.js';

/** Displays the progress of long work. @param note additional text, such as a rate */
export type Progress = (done: number, total: number, note?: string) => void;

/** Services for components. Includes the members that `requireAccess` reads. */
export interface Platform extends Guard {
  /** Value of `lws.base-uri`, without a trailing slash. */
  readonly baseUri: string;
  readonly systemPrefix: string;
  readonly store: Store;
  /** Storage, for operations in `lib/resources` that `Platform` does not have. */
  readonly storage: Storage;
  /** Handles a request for a resource on behalf of a caller, with the same checks as over HTTP. @throws LwsError */
  readonly request: (caller: ToolCaller, request: InnerRequest) => Promise<Reply>;
  /** Returns the facts about a resource and its members that a caller may know. @throws LwsError as GET */
  readonly facts: (access: Access, iri: string) => Promise<FactsForCaller>;
  readonly documents: Documents;
  /** Data directory. Files with secrets have mode 0600. */
  readonly dataDir: string;
  /** Fetch function with SSRF protection. Use it for every URL that a caller supplies. */
  readonly fetch: GuardedFetch;
  readonly fetchUnder: FetchUnder;
  /** Private key of the storage's verification method, and the key ID. */
  readonly signingKey: { readonly keyId: string; readonly key: KeyObject };
  readonly authentication: Authentication;
  /**
   * Returns the contributions of all installed components for a member of `Installation`: the items of lists, or functions.
   * Call it when a request arrives, not while components are being installed.
   */
  readonly offered: <K extends keyof Installation>(name: K) => readonly Offer<K>[];
  /** Returns a named rate limit per address and minute, shared by the storages of the process. @param perMinute 0: no limit */
  readonly throttle: (name: string, perMinute: number) => Throttle;
  /** Returns a counter for resources of unprivileged callers, by kind, over all storages of the process. */
  readonly tally: (kind: string) => Tally;
  /** Returns the current time in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Returns a function that displays the progress of long work. */
  readonly progress: (label: string) => Progress;
  /** URLs of modules with exchange formats (`FormatModule`) of components. Plain data, which can be sent to worker threads. */
  readonly formats: readonly string[];
  /** Root IRI of the home storage (`lws.base-uri`), if the process serves several storages. */
  readonly home?: string | undefined;
  /** Other storages of the process. Present only in the home storage of a deployment. */
  readonly deployment?: Deployment | undefined;
  readonly administration: Administration;
}
