/** The log line of a request, which is also the audit of what it wrote or was refused. It must not know components. */
import type { IncomingMessage } from 'node:http';
import { decisionOf } from '../authorization/audit.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import type { Log } from '../log.js';
import { statusOf } from './problem.js';
import { ClientGone } from './request.js';

/** What is known of a request while it is answered; it ends up in the log. */
export interface Exchange {
  readonly id: string;
  readonly startedAt: number;
  access: Access;
}

interface Logged {
  readonly log: Log;
  /** Believe X-Forwarded-For and X-Forwarded-Proto. */
  readonly behindProxy: boolean;
}

/** One line a request. Never a header field: credentials are among them. */
export function logRequest(
  site: Logged,
  req: IncomingMessage,
  status: number,
  { id, startedAt, access }: Exchange,
  failure: unknown,
): void {
  const ms = Math.round((performance.now() - startedAt) * 100) / 100;
  // RFC 6750 2.3 is not supported, and people send their tokens that way all the same.
  const path = (req.url ?? '')
    .slice(0, 2000)
    .replace(/([?&]access_token=)[^&]*/gi, '$1...')
    .slice(0, 500);
  const { subject, client } = access.principal ?? {};
  // The audit: every write, granted or refused, with the rule that decided.
  const line = { method: req.method, path, status, ms, id, subject, client, ...decisionOf(access) };
  if (failure === undefined) site.log.info(line);
  else if (failure instanceof LwsError)
    site.log.info({
      ...line,
      code: failure.code,
      reason: failure.reason ?? failure.message,
      address: addressOf(site, req),
    });
  else if (failure instanceof ClientGone) site.log.info({ ...line, status: 499, reason: failure.message });
  else site.log.error({ ...line, status: statusOf(failure), err: failure });
}

/** The client's address. */
export function addressOf({ behindProxy }: Pick<Logged, 'behindProxy'>, req: IncomingMessage): string | undefined {
  return (behindProxy && forwarded(req, 'x-forwarded-for')) || req.socket.remoteAddress;
}

/** What the proxy in front of us says: it appends to what its own client may have claimed. */
export const forwarded = (req: IncomingMessage, name: string): string =>
  String(req.headers[name] ?? '')
    .split(',')
    .at(-1)!
    .trim();
