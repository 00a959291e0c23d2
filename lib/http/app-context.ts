/** What the application is made of: the storage, who may ask, and the rules of this server. */
import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '../authentication/authenticate.js';
import type { ChallengePolicy } from '../authentication/challenge.js';
import type { Access } from '../authorization/principal.js';
import type { Log } from '../log.js';
import type { Answered } from '../metrics.js';
import type { Storage } from '../resources/storage.js';
import type { ResourceQuery, Route } from './route.js';
import type { StorageDescription } from './storage-description.js';

export interface CorsPolicy {
  /** Origins, or `*` alone; empty: no CORS fields at all. */
  readonly allowedOrigins: readonly string[];
  readonly maxAgeSeconds: number;
}

export interface AppContext {
  readonly storage: Storage;
  readonly authenticator: Authenticator;
  readonly description: StorageDescription;
  readonly routes: readonly Route[];
  readonly resourceQuery: ResourceQuery | undefined;
  readonly cors: CorsPolicy;
  readonly challenge: ChallengePolicy;
  /** Refuse requests that did not come over TLS (to the proxy, when there is one). */
  readonly requireHttps: boolean;
  /** 0: no Strict-Transport-Security. */
  readonly hstsSeconds: number;
  /** Believe X-Forwarded-For and X-Forwarded-Proto. */
  readonly behindProxy: boolean;
  /** Everybody may read and write (`lws.dev.open`). */
  readonly isOpen: boolean;
  /** Milliseconds that a client may pause within a body. */
  readonly idleMs: number;
  /** The base URI's scheme and authority. */
  readonly origin: string;
  readonly log: Log;
  /** Told of the caller of each request after authentication. */
  readonly onCaller?: ((req: IncomingMessage, access: Access) => void) | undefined;
  /** Notified of every request that was answered. */
  readonly onAnswered: readonly ((answered: Answered) => void)[];
}
