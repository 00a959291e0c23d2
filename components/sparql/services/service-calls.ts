/**
 * Other endpoints asked for the worker threads, which open no sockets: through the outbound guard, within bounds, and with nothing of the
 * client but the text of its query.
 */
import type { Log } from '../../../lib/log.js';
import type { AllowedHost } from '../../../lib/outbound/address-policy.js';
import type { GuardedFetch } from '../../../lib/outbound/guarded-fetch.js';
import { OutboundError } from '../../../lib/outbound/outbound-error.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import { assertAllowed, maxServices } from '../../../lib/query/parse/service-clauses.js';

export interface ServiceCallsOptions {
  /** Its policy exempts the allowed hosts. */
  readonly fetch: GuardedFetch;
  readonly allowed: readonly AllowedHost[];
  /** The time of a whole query. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** An answer is held in memory, in both threads. */
export const maxAnswerBytes = 8 << 20;

/** Makes the calls of one query. */
export function serviceCalls({ fetch, allowed, timeoutMs, log }: ServiceCallsOptions) {
  let made = 0;
  let left = timeoutMs;
  return async ({ endpoint, query }: ServiceCall, signal: AbortSignal): Promise<ServiceAnswer> => {
    // The worker has checked both; but what leaves the server is decided on this side.
    const url = assertAllowed(endpoint, allowed);
    if (++made > maxServices)
      return limit(`The query asks other services more than ${maxServices} times, which no setting changes.`);
    const startedAt = performance.now();
    try {
      const { status, body } = await fetch(url, {
        method: 'POST',
        // The form that every endpoint takes (SPARQL 1.1 Protocol 2.1.2).
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(new URLSearchParams({ query }).toString()),
        accept: 'application/sparql-results+json',
        maxBytes: maxAnswerBytes,
        // Half of what is left: a SERVICE SILENT that hangs leaves time for the rest, and so does the next one.
        timeoutMs: Math.max(1, Math.ceil(left / 2)),
        // A redirect would lose the query, or take it to a host that nobody allowed.
        maxRedirects: 0,
        signal,
      });
      if (status === 200) return { body: new Uint8Array(body) };
      log.info({ service: url.host, status }, 'a SERVICE was not answered');
      return failure(`${nameOf(endpoint)} answered with the status ${status}.`);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // Its message names addresses, and is for the log alone.
      if (!signal.aborted) log.info({ service: url.host, reason: error.message }, 'a SERVICE failed');
      if (error.code === 'too-large')
        return limit(
          `The answer of ${nameOf(endpoint)} is larger than ${maxAnswerBytes} bytes, which no setting changes. Ask it for less.`,
        );
      return failure(`${nameOf(endpoint)} ${error.code === 'timeout' ? 'took too long' : 'could not be asked'}.`);
    } finally {
      left -= performance.now() - startedAt;
    }
  };
}

const nameOf = (endpoint: string): string => `The service <${endpoint.slice(0, 200)}>`;
const failure = (message: string): ServiceAnswer => ({ code: 'service-failed', message });
const limit = (message: string): ServiceAnswer => ({ code: 'query-limit', message });
