/** Node's HTTP server as this house uses it: limits, malformed requests. */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { ChallengePolicy } from '../../authentication/challenge.js';
import { LwsError } from '../../errors.js';
import { formatLink } from '../../fields/link.js';
import { problemReply } from '../../http/problem.js';
import { lws } from '../../rdf/vocabulary.js';
import type { WebServer } from './web-server.js';

/** The limits of HTTP/1.1, in milliseconds and bytes. */
export const limits = {
  // A body may take hours; pauses within it are bounded instead (lws.request-idle-seconds).
  requestTimeout: 0,
  headersTimeout: 30_000,
  keepAliveTimeout: 75_000,
  // A type search may name 256 IRIs, and a SAML assertion is a header field too.
  maxHeaderSize: 64 << 10,
} as const;

/** Milliseconds that a client has to read why it is hung up on. */
const lingerMs = 5_000;

/** The HTTP server around the application; what is no HTTP at all is answered here. */
export function createHttpServer(app: RequestListener, challenge: ChallengePolicy): WebServer {
  const server = createServer({ ...limits, requireHostHeader: false }, app);
  // Decided by the application: it asks for the body once it wants it.
  server.on('checkContinue', app).on('checkExpectation', app);
  answerMalformed(server, challenge);
  return { server, closeIdle: () => server.closeIdleConnections(), closeAll: () => server.closeAllConnections() };
}

type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

function malformedRequest({ code, rawPacket }: ClientError): readonly [status: string, LwsError] {
  if (code === 'HPE_HEADER_OVERFLOW')
    return ['431 Request Header Fields Too Large', new LwsError('fields-too-large', 'The header fields are too long.')];
  // RFC 9110 9.1: a method that nobody knows here; Node reads those that it has a name for, and anything else comes as such a one.
  if (
    code === 'HPE_INVALID_METHOD' &&
    /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r\n/.test(rawPacket?.toString('latin1') ?? '')
  )
    return ['501 Not Implemented', new LwsError('not-implemented', 'The method of the request is not known here.')];
  return ['400 Bad Request', new LwsError('bad-request', 'This is not HTTP/1.1.')];
}

/** Answers requests that are not HTTP/1.1. */
export function answerMalformed(server: NetServer, challenge: ChallengePolicy): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // What comes after the answer fails again, before TLS has sent the answer.
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
