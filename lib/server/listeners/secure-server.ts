/** HTTP/2 and HTTP/1.1 over TLS on one port: limits and sessions. */
import type { RequestListener } from 'node:http';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ChallengePolicy } from '../../authentication/challenge.js';
import type { KeyPair } from '../../component/certificates.js';
import { socketsOfSessions } from '../../http/http2.js';
import { answerMalformed, limits } from './http-server.js';
import type { WebServer } from './web-server.js';

export interface SecureServer extends WebServer {
  /** Sets the certificate of new connections. Open connections keep their certificate. */
  use(pair: KeyPair): void;
}

/** Maximum concurrent requests per connection. */
const maxStreams = 100;
/** Flow control window in bytes. */
const windowBytes = 256 << 10;
/** Time limit of a handshake in milliseconds. */
const handshakeMs = 10_000;
/**
 * Maximum number of streams that a client may cancel, in a burst and per second. Each cancelled stream costs a request that
 * does not count for the limit of concurrent requests. A client above the limit is disconnected.
 */
const [cancelledAtOnce, cancelledPerSecond] = [200, 33];

/** TLS options common to all certificates. */
const tls = { minVersion: 'TLSv1.2', honorCipherOrder: true } as const;

/** Creates a server for the application. Without a certificate, handshakes fail until `use` is called. */
export function createSecureWebServer(
  app: RequestListener,
  challenge: ChallengePolicy,
  pair: KeyPair | undefined,
): SecureServer {
  const listener = app as unknown as (req: Http2ServerRequest, res: Http2ServerResponse) => void;
  const server = createSecureServer(
    {
      ...tls,
      ...(pair ? { cert: pair.certificate, key: pair.key } : {}),
      allowHTTP1: true,
      handshakeTimeout: handshakeMs,
      settings: {
        maxConcurrentStreams: maxStreams,
        initialWindowSize: windowBytes,
        maxHeaderListSize: limits.maxHeaderSize,
      },
      maxHeaderListPairs: 512,
      maxSessionInvalidFrames: 100,
      // Options of HTTP/1.1 servers that the types omit.
      ...{ maxHeaderSize: limits.maxHeaderSize, requireHostHeader: false, keepAliveTimeout: limits.keepAliveTimeout },
    },
    listener,
  );
  Object.assign(server, limits);
  server.on('checkContinue', listener).on('checkExpectation', listener);
  answerMalformed(server, challenge);
  // A failed handshake is not HTTP, but Node would pass it to the handler of malformed requests.
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error, socket) => socket.destroy());
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const sessions = trackSessions(server);
  return {
    server,
    use: ({ certificate, key }) => server.setSecureContext({ ...tls, cert: certificate, key }),
    closeIdle() {
      (server as unknown as { closeIdleConnections(): void }).closeIdleConnections();
      // `close` sends GOAWAY, and ends the session after its last open stream.
      for (const session of sessions) if (!session.closed) session.close();
    },
    closeAll() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Limits HTTP/2 sessions: idle time and cancellations. @returns the open sessions */
function trackSessions(server: Http2SecureServer): ReadonlySet<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  let accepted: Socket | undefined;
  // Runs before Node's listener of the same event, which emits `session`.
  server.prependListener('secureConnection', (socket: Socket) => {
    accepted = socket;
  });
  server.on('session', (session) => {
    sessions.add(session);
    socketsOfSessions.set(session, accepted!);
    let open = 0;
    const mayCancel = bucket(cancelledAtOnce, cancelledPerSecond);
    session.on('stream', (stream: ServerHttp2Stream) => {
      open++;
      stream.once('close', () => {
        open--;
        if (stream.rstCode === constants.NGHTTP2_NO_ERROR || mayCancel()) return;
        session.destroy(new Error('too many streams were cancelled'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
      });
      // Stream errors belong to the request, which notices the end of the stream.
      stream.on('error', () => {});
    });
    session.setTimeout(limits.keepAliveTimeout, () => {
      if (open === 0) session.close();
    });
    session.once('close', () => sessions.delete(session));
  });
  // Ignore the error, because invalid HTTP/2 data ends the session.
  server.on('sessionError', () => {});
  return sessions;
}

/** Creates a token bucket. @returns function that takes a token, and returns false if there is none */
function bucket(size: number, perSecond: number): () => boolean {
  let [left, at] = [size, performance.now()];
  return () => {
    const now = performance.now();
    left = Math.min(size, left + ((now - at) / 1000) * perSecond);
    at = now;
    left -= 1;
    return left >= 0;
  };
}
