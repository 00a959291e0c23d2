/** Admission check of a URL: resolves the host once and returns the addresses to which the server may connect. */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AllowedHost, isAllowedHost, isGlobalUnicast, parseAllowedHost } from './address-policy.js';
import { errorCode, OutboundError } from './outbound-error.js';

/** Returns all addresses of a name. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface AdmissionOptions {
  /** True to admit only global unicast addresses and listed hosts. */
  readonly blockPrivateAddresses: boolean;
  /** Hosts (`host` or `host:port`) exempt from the address check. Compared with names in URLs, not with resolved addresses. */
  readonly allowedHosts: readonly string[];
  /** Resolves a name. Default: the system resolver. */
  readonly lookup?: Lookup;
}

/**
 * Returns the addresses of a URL's host, at least one.
 * @throws OutboundError `scheme`, `credentials-in-url`, `address`, `resolve`, or `timeout` if the signal fires first
 */
export type OutboundAdmission = (url: URL, signal: AbortSignal) => Promise<readonly string[]>;

/** Creates the check of one hop. @throws TypeError for a malformed entry of `allowedHosts` */
export function createAdmission(options: AdmissionOptions): OutboundAdmission {
  const allowed = options.allowedHosts.map(readEntry);
  const lookup = options.lookup ?? resolveBySystem;
  return async (url, signal) => {
    requireWeb(url);
    const addresses = await addressesOf(url, lookup, signal);
    // Every address of a name must pass: the socket chooses among them.
    if (options.blockPrivateAddresses && !isAllowedHost(url, allowed)) requireGlobal(url, addresses);
    return addresses;
  };
}

function readEntry(entry: string): AllowedHost {
  const host = parseAllowedHost(entry);
  if (!host) throw new TypeError(`${JSON.stringify(entry)} is not a valid allowed host. Use host or host:port.`);
  return host;
}

function requireWeb(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundError('scheme', `URLs with the scheme ${url.protocol} are not fetched.`);
  // RFC 9110 4.2.4: user information in a URL is deprecated and can disguise the host.
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('credentials-in-url', `The URL of ${url.host} contains user information.`);
}

function requireGlobal(url: URL, addresses: readonly string[]): void {
  const refused = addresses.find((address) => !isGlobalUnicast(address));
  if (refused !== undefined)
    throw new OutboundError('address', `${url.host} has the address ${refused}, which is not public.`);
}

async function addressesOf(url: URL, lookup: Lookup, signal: AbortSignal): Promise<readonly string[]> {
  // The URL parser has normalized IPv4 and IPv6 notations (WHATWG URL 3.5).
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return [literal];
  let addresses: readonly string[];
  try {
    addresses = await withSignal(lookup(url.hostname), signal);
  } catch (error) {
    if (signal.aborted) throw new OutboundError('timeout', `Timeout while resolving ${url.hostname}.`);
    throw new OutboundError('resolve', `${url.hostname} cannot be resolved (${errorCode(error)}).`);
  }
  if (addresses.length === 0) throw new OutboundError('resolve', `${url.hostname} has no addresses.`);
  return addresses;
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  // Use getaddrinfo instead of DNS, so that /etc/hosts and search domains apply.
  return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
}

/** Awaits a task that cannot be cancelled, unless the signal fires first. */
function withSignal<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
