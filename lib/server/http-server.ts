/** Node's HTTP server as this house uses it: limits, malformed requests, draining. It must not know the application. */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChallengePolicy } from '../authentication/challenge.js';
import { LwsError } from '../errors.js';
import { formatLink } from '../fields/link.js';
import { problemReply } from '../http/problem.js';
import { lws } from '../rdf/vocabulary.js';
import type { CoreSettings } from './core-settings.js';

/** The HTTP server around the application; what is no HTTP at all is answered here. */
export function createHttpServer(app: RequestListener, challenge: ChallengePolicy): Server {
  // A body may take hours; pauses within it are bounded instead (lws.request-idle-seconds).
  const server = createServer(
    {
      requestTimeout: 0,
      headersTimeout: 30_000,
      keepAliveTimeout: 75_000,
      requireHostHeader: false,
      // A type search may name 256 IRIs, and a SAML assertion is a header field too.
      maxHeaderSize: 64 << 10,
    },
    app,
  );
  // Decided by the application: it asks for the body once it wants it.
  server.on('checkContinue', app).on('checkExpectation', app);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
    const refusal = tooLong
      ? new LwsError('fields-too-large', 'The header fields are too long.')
      : new LwsError('bad-request', 'This is not HTTP/1.1.');
    const { fields, body } = problemReply(refusal, `urn:uuid:${randomUUID()}`, challenge);
    const lines = Object.entries({ ...fields, Link: formatLink(challenge.realm, lws.storage) }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const status = tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
    const length = (body as Buffer).length;
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`);
  });
  return server;
}

/** Listens where the settings say, and returns the port. */
export function listen(server: Server, core: CoreSettings, url: URL, loopback: boolean): Promise<number> {
  const port = core.listenPort ?? (Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
  const host = core.listenHost ?? (loopback ? (url.hostname === '[::1]' ? '::1' : '127.0.0.1') : undefined);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Takes no new connection, and returns when those under way have ended; after so many milliseconds they are closed. */
export async function drain(server: Server, mostMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const impatient = setTimeout(() => server.closeAllConnections(), mostMs);
  // Connections that become idle while others are drained.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  await closed;
  clearTimeout(impatient);
  clearInterval(idle);
}
