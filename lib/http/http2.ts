/** Handles streams and connections of requests. With HTTP/2, a connection carries several: ending one must not end others. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/** Returns the HTTP/2 stream of a request or response. Returns `undefined` over HTTP/1.1 and after the end of the stream. */
const streamOf = (message: IncomingMessage | ServerResponse): ServerHttp2Stream | undefined =>
  (message as { stream?: ServerHttp2Stream }).stream;

export const isHttp2 = ({ httpVersionMajor }: IncomingMessage): boolean => httpVersionMajor === 2;

/** TLS sockets by session. Node closes a session only after its pending writes, and `session.socket` cannot be destroyed. */
export const socketsOfSessions = new WeakMap<Http2Session, Socket>();

/** True if the request has a body. Over HTTP/2, no header field shows this. */
export const hasBody = (req: IncomingMessage): boolean =>
  isHttp2(req)
    ? streamOf(req)?.endAfterHeaders === false
    : req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;

/** True if the client cancelled the request before it was complete. Node ends the body of a cancelled stream normally. */
export const isCancelled = (req: IncomingMessage): boolean => isHttp2(req) && req.aborted;

/** Stops reading a request that was answered. */
export function hangUp(req: IncomingMessage): void {
  if (isHttp2(req)) streamOf(req)?.close(constants.NGHTTP2_NO_ERROR);
  else req.socket.destroy();
}

/** Aborts an incomplete response, so that the client does not treat it as complete. */
export function breakOff(res: ServerResponse): void {
  const stream = streamOf(res);
  if (stream) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  // Over TLS, an end without close_notify is an error, so no reset is needed.
  else if (res.socket && 'encrypted' in res.socket) res.socket.destroy();
  // An HTTP/1.0 client treats the end of the connection as the end of the response, but a reset as an error.
  else res.socket?.resetAndDestroy();
}

/** Count of checks of a stream per idle time. */
const checks = 4;

/**
 * Ends a response that the client does not read for `idleMs`, because it occupies memory. Over HTTP/1.1, ends the connection.
 * Over HTTP/2, ends the stream, and also the session if the client does not read the reset. Node's timeouts do not suffice:
 * they treat any data that the session sends as progress, for example the reply to a ping.
 */
export function endUnread(res: ServerResponse, idleMs: number): void {
  const stream = streamOf(res);
  if (!stream) {
    endUnreadConnection(res, idleMs);
    return;
  }
  let [drains, seen, quiet] = [0, '', 0];
  stream.on('drain', () => drains++);
  const check = (): void => {
    const { writableLength, writableEnded } = stream;
    const state = `${drains} ${writableLength} ${writableEnded}`;
    // An empty buffer before the end means that the server has produced no data, not that the client does not read.
    quiet = state !== seen || (writableLength === 0 && !writableEnded) ? 0 : quiet + 1;
    seen = state;
    if (quiet < checks) return void timer.refresh();
    const socket = stream.session && socketsOfSessions.get(stream.session);
    stream.close(constants.NGHTTP2_CANCEL);
    const stuck = setTimeout(() => socket?.destroy(), idleMs).unref();
    stream.once('close', () => clearTimeout(stuck));
  };
  const timer = setTimeout(check, idleMs / checks).unref();
  stream.once('close', () => clearTimeout(timer));
}

/** Ends an unread HTTP/1.1 connection. Node restarts a socket's timeout when the system accepts data to send. */
function endUnreadConnection(res: ServerResponse, idleMs: number): void {
  const { socket } = res;
  if (!socket || res.writableFinished) return;
  res.setTimeout(idleMs, () => {
    if (socket.writableLength > 0) socket.destroy();
    // The response has produced no data since the last check.
    else if (!res.writableFinished) socket.setTimeout(idleMs);
  });
}

/** Calls a function when the connection or stream of a request closes. @returns a function that removes the listener */
export function onClosed(req: IncomingMessage, listener: () => void): () => void {
  const end = isHttp2(req) ? streamOf(req) : req.socket;
  end?.once('close', listener);
  if (end === undefined || end.destroyed) listener();
  return () => void end?.off('close', listener);
}
