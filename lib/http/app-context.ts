/** Dependencies of the HTTP application: storage, authentication, and settings of this server. */
import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../authentication/authenticate.js';
import type { ChallengePolicy } from '../authentication/challenge.js';
import type { Access } from '../authorization/principal.js';
import type { Storage } from '../resources/storage.js';
import type { Log } from '../tools/log.js';
import type { Answered } from '../tools/metrics.js';
import type { ResourcePages } from './problem-page.js';
import type { EarlierStates } from './resource-exchange.js';
import type { ResourceMethods, ResourceQuery, Route } from './route.js';
import type { StorageDescription } from './storage-description.js';

export interface CorsPolicy {
  /** Allowed origins, or only `*`. Empty: no CORS fields. */
  readonly allowedOrigins: readonly string[];
  readonly maxAgeSeconds: number;
}

export interface AppContext {
  readonly storage: Storage;
  readonly authenticator: Authenticator;
  readonly description: StorageDescription;
  readonly routes: readonly Route[];
  readonly resourceQuery: ResourceQuery | undefined;
  readonly resourceMethods?: ResourceMethods | undefined;
  /** URLs of pages for people with a browser (rule 7.3). Absent: no pages. */
  readonly pages?: ResourcePages | undefined;
  readonly earlierStates?: EarlierStates | undefined;
  readonly cors: CorsPolicy;
  readonly challenge: ChallengePolicy;
  /** True to reject requests without TLS. Behind a proxy, this is the connection to the proxy. */
  readonly requireHttps: boolean;
  /** Lifetime of `Strict-Transport-Security` in seconds. 0: the field is not sent. */
  readonly hstsSeconds: number;
  /** True to trust X-Forwarded-For and X-Forwarded-Proto. */
  readonly behindProxy: boolean;
  /** True if all callers may read and write (`lws.dev.open`). */
  readonly isOpen: boolean;
  /** Maximum time without data while a client sends a body, in milliseconds. */
  readonly idleMs: number;
  /** Scheme and authority of the base URI. */
  readonly origin: string;
  readonly log: Log;
  /** Called with the caller of each request after authentication. */
  readonly onCaller?: ((req: IncomingMessage, access: Access) => void) | undefined;
  /** Called after every response. */
  readonly onAnswered: readonly ((answered: Answered) => void)[];
}
