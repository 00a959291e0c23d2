/**
 * Admission: may the server ask this URL, and at which addresses? It resolves a name once; what comes of it is all that may be connected
 * to.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AllowedHost, isAllowedHost, isGlobalUnicast, parseAllowedHost } from './address-policy.js';
import { errorCode, OutboundError } from './outbound-error.js';

/** All addresses of a name. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface AdmissionOptions {
  /** Whether only global unicast addresses are admitted, and listed hosts. */
  readonly blockPrivateAddresses: boolean;
  /** `host` or `host:port`; these may have any address. They are names as in URLs, not addresses of names. */
  readonly allowedHosts: readonly string[];
  /** The system's resolver when absent. */
  readonly lookup?: Lookup;
}

/**
 * The addresses at which a URL may be asked, at least one.
 * @throws OutboundError `scheme`, `credentials-in-url`, `address`, `resolve`, or `timeout` when the signal comes first
 */
export type Admission = (url: URL, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Makes the check of one hop.
 * @throws TypeError for an entry of `allowedHosts` that is malformed
 */
export function createAdmission(options: AdmissionOptions): Admission {
  const allowed = options.allowedHosts.map(readEntry);
  const lookup = options.lookup ?? resolveBySystem;
  return async (url, signal) => {
    requireWeb(url);
    const addresses = await addressesOf(url, lookup, signal);
    // The policy applies to every address of a name: which of them would be taken is not up to us.
    if (options.blockPrivateAddresses && !isAllowedHost(url, allowed)) requireGlobal(url, addresses);
    return addresses;
  };
}

function readEntry(entry: string): AllowedHost {
  const host = parseAllowedHost(entry);
  if (!host) throw new TypeError(`${JSON.stringify(entry)} is no allowed host; expected host or host:port.`);
  return host;
}

function requireWeb(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundError('scheme', `${url.protocol} URLs are not fetched.`);
  // RFC 9110 4.2.4: user information in a URL is deprecated, and here a way to disguise the host.
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('credentials-in-url', `A URL of ${url.host} holds user information.`);
}

function requireGlobal(url: URL, addresses: readonly string[]): void {
  const refused = addresses.find((address) => !isGlobalUnicast(address));
  if (refused !== undefined)
    throw new OutboundError('address', `${url.host} is at ${refused}, which is no public address.`);
}

async function addressesOf(url: URL, lookup: Lookup, signal: AbortSignal): Promise<readonly string[]> {
  // URL parsing has turned every spelling of an address into the usual one (WHATWG URL 3.5).
  const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return [literal];
  let addresses: readonly string[];
  try {
    addresses = await withSignal(lookup(url.hostname), signal);
  } catch (error) {
    if (signal.aborted) throw new OutboundError('timeout', `Resolving ${url.hostname} took too long.`);
    throw new OutboundError('resolve', `${url.hostname} cannot be resolved (${errorCode(error)}).`);
  }
  if (addresses.length === 0) throw new OutboundError('resolve', `${url.hostname} has no address.`);
  return addresses;
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  // getaddrinfo and not DNS itself: /etc/hosts, search domains and the like count, as they do for everybody else.
  return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
}

/** The outcome of a task that cannot be called off, unless the signal comes first. */
function withSignal<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    task.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
