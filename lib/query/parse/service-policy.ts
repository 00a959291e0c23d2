/** Which endpoints SERVICE may name, and how often. It is pure, and must not know queries or threads. */
import { LwsError } from '../../errors.js';
import { type AllowedHost, isAllowedHost } from '../../outbound/address-policy.js';

/** SERVICE clauses of a query, nested ones too. Each is asked once. */
export const maxServices = 8;

/**
 * The URL that an endpoint is asked at.
 * @throws LwsError `too-complex` for what is no http or https URL without credentials at a host of the list
 */
export function assertAllowed(endpoint: string, allowed: readonly AllowedHost[]): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw refused(`SERVICE names an http or https URL without credentials; <${endpoint.slice(0, 200)}> is none.`);
  if (!isAllowedHost(url, allowed))
    throw refused(
      `SERVICE of ${url.host} is not possible here: the host is not allowed (lws.sparql.endpoint.allowed-services).`,
    );
  return url;
}

/** A query that is refused for its SERVICE, before anything of it runs. */
export const refused = (message: string): LwsError => new LwsError('too-complex', message);
