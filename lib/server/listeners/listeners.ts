/** Listeners of the server: ports, protocols and connection limits. */
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:net';
import type { ChallengePolicy } from '../../authentication/challenge.js';
import { type CoreSettings, readBaseUri } from '../settings/core-settings.js';
import type { Certificates } from './certificates.js';
import { limitConnections } from './connections.js';
import { createHttpServer } from './http-server.js';
import { createRedirectingServer } from './redirecting-server.js';
import { createSecureWebServer } from './secure-server.js';
import { drain, listenOn, type WebServer } from './web-server.js';

export interface Door {
  /** Starts to listen. @returns the port of the storage @throws the socket error */
  listen(): Promise<number>;
  /** Closes the ports and resolves when pending requests have ended. Closes connections after the timeout. */
  close(maxMs: number): Promise<void>;
}

export interface ListenersOptions {
  readonly app: RequestListener;
  readonly challenge: ChallengePolicy;
  readonly certificates: Certificates | undefined;
  /** Returns the origin of another storage, by host. */
  readonly originAt?: ((host: string) => string | undefined) | undefined;
  /** Called with the server that clients reach. */
  readonly onServer: (server: Server) => void;
}

/** Maximum connections for redirects and challenges, which end with the response. */
const maxRedirects = 256;

function socketOf(core: CoreSettings): readonly [port: number, host: string | undefined] {
  const { url, loopback } = readBaseUri(core);
  const host = core.listenHost ?? (loopback ? (url.hostname === '[::1]' ? '::1' : '127.0.0.1') : undefined);
  return [core.listenPort ?? (Number(url.port) || (url.protocol === 'https:' ? 443 : 80)), host];
}

/** Tests that the server can listen at the address of the storage. @throws the socket error */
export async function assertCanListen(core: CoreSettings): Promise<void> {
  const server = createServer();
  await listenOn({ server }, ...socketOf(core));
  await new Promise((resolve) => server.close(resolve));
}

export function createListeners(
  core: CoreSettings,
  { app, challenge, certificates, onServer, originAt }: ListenersOptions,
): Door {
  const { connections: inAll, connectionsPerAddress: perAddress, behindProxy } = core;
  const { url } = readBaseUri(core);
  const [port, host] = socketOf(core);
  const source = certificates?.source;
  const listener = certificates ? certificates.challenges.before(app) : app;
  const secure = source ? createSecureWebServer(listener, challenge, source.current()) : undefined;
  const main: WebServer = secure ?? createHttpServer(listener, challenge);
  onServer(main.server as Server);
  limitConnections(main.server, { inAll, perAddress, behindProxy });
  const plain =
    core.tlsHttpPort !== null && certificates
      ? createRedirectingServer((host) => originAt?.(host) ?? url.origin, certificates.challenges)
      : undefined;
  if (plain) limitConnections(plain.server, { inAll: maxRedirects, perAddress: null, behindProxy });
  return {
    async listen() {
      if (plain) await listenOn(plain, core.tlsHttpPort!, host);
      try {
        const bound = await listenOn(main, port, host);
        if (secure) source!.start(secure.use);
        return bound;
      } catch (error) {
        plain?.server.close();
        throw error;
      }
    },
    async close(maxMs) {
      source?.stop();
      await Promise.all([drain(main, maxMs), plain ? drain(plain, maxMs) : undefined]);
    },
  };
}
