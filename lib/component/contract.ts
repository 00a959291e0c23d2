/** Services of the server for its components. */
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

/** Shows the progress of long work. @param note additional text, such as a rate */
export type Progress = (done: number, total: number, note?: string) => void;

/** Services that a component may use, with the members that `requireAccess` needs. */
export interface Platform extends Guard {
  /** `lws.base-uri`, without a trailing slash. */
  readonly baseUri: string;
  readonly systemPrefix: string;
  readonly store: Store;
  /** For operations of `lib/resources` beyond those of this interface. */
  readonly storage: Storage;
  /** Answers a request for a resource in the name of a caller, with the same checks as over HTTP. @throws LwsError */
  readonly request: (caller: ToolCaller, request: InnerRequest) => Promise<Reply>;
  /** Returns the facts about a resource and its members that a caller may know. @throws LwsError as for GET */
  readonly facts: (access: Access, iri: string) => Promise<FactsForCaller>;
  readonly documents: Documents;
  /** The data directory. Secrets in it have mode 0600. */
  readonly dataDir: string;
  /** For every URL supplied by a caller. */
  readonly fetch: GuardedFetch;
  readonly fetchUnder: FetchUnder;
  /** Key of the storage's verification method. */
  readonly signingKey: { readonly keyId: string; readonly key: KeyObject };
  readonly authentication: Authentication;
  /**
   * Returns the contributions of all installed components to a member of `Installation`: the items of lists, or the functions. Call it when
   * requests come, not while components are installed.
   */
  readonly offered: <K extends keyof Installation>(name: K) => readonly Offer<K>[];
  /** Returns the named rate limit on attempts per address and minute, shared by all storages of the process. @param perMinute 0 for no limit */
  readonly throttle: (name: string, perMinute: number) => Throttle;
  /** Counts resources of unprivileged callers, by kind, in all storages of the process. */
  readonly tally: (kind: string) => Tally;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Shows the progress of long work. */
  readonly progress: (label: string) => Progress;
  /** URLs of modules with exchange formats (`FormatModule`) that components contribute. Plain data, also for worker threads. */
  readonly formats: readonly string[];
  /** Root IRI of the storage of `lws.base-uri`, if the process serves other storages too. */
  readonly home?: string | undefined;
  /** The other storages of the process. Absent if there are none, or this is one of them. */
  readonly deployment?: Deployment | undefined;
  readonly administration: Administration;
}
