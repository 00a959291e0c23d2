/** The server for plain HTTP beside TLS: it answers challenges and sends everything else to the base URI. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostOf } from '../../http/request-log.js';
import { originForm } from '../../resources/names.js';
import type { Challenges } from './challenges.js';
import type { WebServer } from './web-server.js';

/** Milliseconds for a whole request, which has nothing to say but its target. */
const requestMs = 10_000;

/** @param originAt the origin that a host stands for, of those that the server has: redirects lead to no other, whatever the Host field names */
export function createRedirectingServer(originAt: (host: string) => string, challenges: Challenges): WebServer {
  const redirect = (req: IncomingMessage, res: ServerResponse): void => {
    const origin = originAt(hostOf(req));
    const target = originForm(req.url ?? '/');
    const isPath = /^\/[\x21-\x7e]*$/.test(target);
    const content = isPath ? `This storage is at ${origin}${target}\n` : 'The request target is not a path.\n';
    res.writeHead(isPath ? 308 : 400, {
      ...(isPath ? { Location: origin + target } : {}),
      'Content-Type': 'text/plain',
      'X-Content-Type-Options': 'nosniff',
      'Content-Length': Buffer.byteLength(content),
      Connection: 'close',
    });
    res.end(req.method === 'HEAD' ? undefined : content);
  };
  const server = createServer(
    { requestTimeout: requestMs, headersTimeout: requestMs, requireHostHeader: false, maxHeaderSize: 16 << 10 },
    challenges.before(redirect),
  );
  // No body is asked for: whoever waits to send one gets the redirect.
  server.on('checkContinue', redirect).on('checkExpectation', redirect);
  return { server, closeIdle: () => server.closeIdleConnections(), closeAll: () => server.closeAllConnections() };
}
