/** Plain HTTP server in addition to TLS: answers challenges and redirects everything else to the base URI. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostOf } from '../../http/request-log.js';
import { originForm } from '../../resources/names.js';
import type { Challenges } from './challenges.js';
import type { WebServer } from './web-server.js';

/** Time limit of a request in milliseconds. Short, because only the request target is read. */
const requestMs = 10_000;

/** @param originAt returns the origin of a host. Redirects never lead to an origin that only the Host field names. */
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
  // Do not send 100 (Continue): the client receives the redirect without sending its body.
  server.on('checkContinue', redirect).on('checkExpectation', redirect);
  return { server, closeIdle: () => server.closeIdleConnections(), closeAll: () => server.closeAllConnections() };
}
