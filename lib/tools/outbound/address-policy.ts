/** Address policy: addresses to which the server may connect for untrusted URLs, and exempt hosts. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { list, type SettingParser } from '../../settings/settings.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = readonly [Address, number];

/** Entry of `lws.fetch.allowed-hosts`, `lws.webhook.allowed-hosts` or `lws.sparql.endpoint.allowed-services`. */
export interface AllowedHost {
  /** Host in the format of `URL.hostname`, without a trailing dot. */
  readonly host: string;
  /** Port; undefined matches every port. */
  readonly port: string | undefined;
}

const blocks = (...ranges: readonly string[]): readonly Block[] => ranges.map((range) => ipaddr.parseCIDR(range));

/** Rejected IPv4 ranges: IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast and reserved ranges. */
const closedV4 = blocks(
  '0.0.0.0/8', // "this network" and the wildcard, RFC 791
  '10.0.0.0/8', // private, RFC 1918
  '100.64.0.0/10', // carrier-grade NAT, RFC 6598
  '127.0.0.0/8', // loopback, RFC 1122
  '168.63.129.16/32', // the metadata host of Azure: a public address, but answered inside the data centre
  '169.254.0.0/16', // link-local, RFC 3927, where most clouds keep their metadata
  '172.16.0.0/12', // private, RFC 1918
  '192.0.0.0/24', // protocol assignments, RFC 6890
  '192.0.2.0/24', // documentation, RFC 5737
  '192.31.196.0/24', // AS112, RFC 7535
  '192.52.193.0/24', // AMT, RFC 7450
  '192.88.99.0/24', // relays of 6to4, RFC 7526
  '192.168.0.0/16', // private, RFC 1918
  '192.175.48.0/24', // AS112, RFC 7534
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation, RFC 5737
  '203.0.113.0/24', // documentation, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, RFC 1112, and the broadcast address
);

/** Allocated global unicast addresses (RFC 4291 2.4). All other addresses are rejected. */
const globalV6 = blocks('2000::/3');

/** Rejected IPv6 ranges within 2000::/3: IANA IPv6 Special-Purpose Address Registry (RFC 6890). */
const closedV6 = blocks(
  '2001::/23', // protocol assignments, RFC 2928: Teredo, benchmarking, AMT, AS112, ORCHID
  '2001:db8::/32', // documentation, RFC 3849
  '2620:4f:8000::/48', // AS112, RFC 7534
  '3fff::/20', // documentation, RFC 9637
);

/** IPv6 prefixes that embed an IPv4 address, and the byte offset of that address. */
const embeddings: readonly (readonly [Block, number])[] = [
  [ipaddr.parseCIDR('::/96'), 12], // IPv4-compatible, RFC 4291 2.5.5.1; `::` and `::1` become 0.0.0.0 and 0.0.0.1
  [ipaddr.parseCIDR('::ffff:0:0/96'), 12], // IPv4-mapped, RFC 4291 2.5.5.2
  [ipaddr.parseCIDR('64:ff9b::/96'), 12], // NAT64, RFC 6052; the local-use 64:ff9b:1::/48 is outside 2000::/3
  [ipaddr.parseCIDR('2002::/16'), 2], // 6to4, RFC 3056
];

/**
 * Returns true for a global unicast address; IPv4 addresses embedded in IPv6 are checked as IPv4. Rejects special-purpose
 * ranges, zone identifiers, and anything that is not an address in canonical form.
 */
export function isGlobalUnicast(address: string): boolean {
  // A zone (RFC 4007 11) is meaningful only for non-global addresses.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  const embedded = embeddings.find(([block]) => isWithin(parsed, [block]));
  if (!embedded) return isOpen(parsed);
  const start = embedded[1];
  return isOpen(ipaddr.fromByteArray(parsed.toByteArray().slice(start, start + 4)));
}

/**
 * Parses an entry `host` or `host:port`, with IPv6 literals in brackets. Ignores case and a trailing dot, and accepts every URL
 * notation of an IPv4 address. Returns undefined if it is malformed. There are no wildcards.
 */
export function parseAllowedHost(entry: string): AllowedHost | undefined {
  const match = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\%]+)(?::(\d{1,5}))?$/i.exec(entry);
  if (!match) return undefined;
  const url = URL.canParse(`http://${match[1]}`) ? new URL(`http://${match[1]}`) : undefined;
  const host = url && hostOf(url);
  if (!host || !/^[\w.[\]:-]+$/.test(host)) return undefined;
  const port = match[2] === undefined ? undefined : Number(match[2]);
  return port === 0 || (port ?? 0) > 65_535 ? undefined : { host, port: port?.toString() };
}

/** Parser for settings with lists of allowed hosts: malformed entries are reported at startup. */
export const hostList: SettingParser<readonly string[]> = {
  expectation: 'a list of host or host:port',
  parse: (raw) => {
    const entries = list.parse(raw);
    return entries?.every((entry) => parseAllowedHost(entry)) ? entries : undefined;
  },
};

/** Returns true if the host of a URL is listed, with its port if the entry has one. The default ports are 80 and 443. */
export function isAllowedHost(url: URL, entries: readonly AllowedHost[]): boolean {
  const host = hostOf(url);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return entries.some((entry) => entry.host === host && (entry.port === undefined || entry.port === port));
}

/** Returns true for a loopback host. @param host as in a URL, IPv6 in brackets */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Returns true for an https URL, and for an http URL on a loopback address. */
export function isSecureUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

/** Returns the host of a URL without a trailing dot (RFC 1034 3.1). */
const hostOf = (url: URL): string => url.hostname.replace(/\.$/, '');

const isOpen = (address: Address): boolean =>
  address.kind() === 'ipv4'
    ? !isWithin(address, closedV4)
    : isWithin(address, globalV6) && !isWithin(address, closedV6);

function isWithin(address: Address, ranges: readonly Block[]): boolean {
  return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}
