/** Node's HTTP server: limits and malformed requests. */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { ChallengePolicy } from '../../authentication/challenge.js';
import { problemReply } from '../../http/problem.js';
import { lws } from '../../rdf/vocabulary.js';
import { LwsError } from '../../tools/errors.js';
import { formatLink } from '../../tools/fields/link.js';
import type { WebServer } from './web-server.js';

/** HTTP/1.1 limits in milliseconds and bytes. */
export const limits = {
  // No limit: a body may take hours. Pauses are limited instead (lws.request-idle-seconds).
  requestTimeout: 0,
  headersTimeout: 30_000,
  keepAliveTimeout: 75_000,
  // Large, because a type search may name 256 IRIs, and SAML assertions are sent in a header field.
  maxHeaderSize: 64 << 10,
} as const;

/** Time for the client to read the error before the connection is closed, in milliseconds. */
const lingerMs = 5_000;

/** Creates an HTTP server for the application. The server responds to malformed requests itself. */
export function createHttpServer(app: RequestListener, challenge: ChallengePolicy): WebServer {
  const server = createServer({ ...limits, requireHostHeader: false }, app);
  // The application sends 100 (Continue) when it reads the body.
  server.on('checkContinue', app).on('checkExpectation', app);
  answerMalformed(server, challenge);
  return { server, closeIdle: () => server.closeIdleConnections(), closeAll: () => server.closeAllConnections() };
}

type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

function malformedRequest({ code, rawPacket }: ClientError): readonly [status: string, LwsError] {
  if (code === 'HPE_HEADER_OVERFLOW')
    return ['431 Request Header Fields Too Large', new LwsError('fields-too-large', 'The header fields are too long.')];
  // An unknown method (RFC 9110 9.1). Node parses known methods only, and reports others as a parse error.
  if (
    code === 'HPE_INVALID_METHOD' &&
    /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r\n/.test(rawPacket?.toString('latin1') ?? '')
  )
    return ['501 Not Implemented', new LwsError('not-implemented', 'The method of the request is unknown.')];
  return ['400 Bad Request', new LwsError('bad-request', 'This is not HTTP/1.1.')];
}

/** Responds to requests that are not valid HTTP/1.1. */
export function answerMalformed(server: NetServer, challenge: ChallengePolicy): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Ignore later errors: more data from the client causes another error before TLS has sent the response.
    if (socket.writableEnded) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const [status, refusal] = malformedRequest(error);
    const { fields, body } = problemReply(refusal, `urn:uuid:${randomUUID()}`, challenge);
    const lines = Object.entries({ ...fields, Link: formatLink(challenge.realm, lws.storage) }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const length = (body as Buffer).length;
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`);
    const impatient = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(impatient));
  });
}
