/**
 * Sends the SERVICE requests of worker threads, which open no sockets: through the outbound guard, with limits. The query text
 * is the only client data that is sent.
 */

import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import { assertAllowed, maxServices } from '../../../lib/query/parse/service-clauses.js';
import type { Log } from '../../../lib/tools/log.js';
import type { AllowedHost } from '../../../lib/tools/outbound/address-policy.js';
import type { GuardedFetch } from '../../../lib/tools/outbound/guarded-fetch.js';
import { OutboundError } from '../../../lib/tools/outbound/outbound-error.js';

export interface ServiceCallsOptions {
  /** Fetch whose policy exempts the allowed hosts. */
  readonly fetch: GuardedFetch;
  readonly allowed: readonly AllowedHost[];
  /** Timeout of a whole query, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** Maximum size of a response in bytes, because both threads keep it in memory. */
const maxAnswerBytes = 8 << 20;

/** Returns the function that sends the requests of one query. */
export function serviceCalls({ fetch, allowed, timeoutMs, log }: ServiceCallsOptions) {
  let made = 0;
  let left = timeoutMs;
  return async ({ endpoint, query }: ServiceCall, signal: AbortSignal): Promise<ServiceAnswer> => {
    // The worker thread has checked endpoint and count too, but this thread is responsible for outbound access.
    const url = assertAllowed(endpoint, allowed);
    if (++made > maxServices) return limit(`The query calls SERVICE more than ${maxServices} times (fixed limit).`);
    const startedAt = performance.now();
    try {
      const { status, body } = await fetch(url, {
        method: 'POST',
        // Form that every endpoint accepts (SPARQL 1.1 Protocol 2.1.2).
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(new URLSearchParams({ query }).toString()),
        accept: 'application/sparql-results+json',
        maxBytes: maxAnswerBytes,
        // Half of the remaining time, so that a hanging SERVICE SILENT leaves time for the rest of the query.
        timeoutMs: Math.max(1, Math.ceil(left / 2)),
        // A redirect would lose the query, or send it to a host that is not allowed.
        maxRedirects: 0,
        signal,
      });
      if (status === 200) return { body: new Uint8Array(body) };
      log.info({ service: url.host, status }, 'a SERVICE call failed');
      return failure(`${nameOf(endpoint)} returned status ${status}.`);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      // The error message contains addresses, so it is only logged.
      if (!signal.aborted) log.info({ service: url.host, reason: error.message }, 'a SERVICE failed');
      if (error.code === 'too-large')
        return limit(
          `The response of ${nameOf(endpoint)} is larger than ${maxAnswerBytes} bytes (fixed limit). Make the SERVICE pattern more selective.`,
        );
      return failure(`${nameOf(endpoint)} ${error.code === 'timeout' ? 'took too long' : 'could not be queried'}.`);
    } finally {
      left -= performance.now() - startedAt;
    }
  };
}

const nameOf = (endpoint: string): string => `The service <${endpoint.slice(0, 200)}>`;
const failure = (message: string): ServiceAnswer => ({ code: 'service-failed', message });
const limit = (message: string): ServiceAnswer => ({ code: 'query-limit', message });
