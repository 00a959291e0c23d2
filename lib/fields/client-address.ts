/** Addresses of clients as what is bounded for each. */
import { createHash } from 'node:crypto';

/** Whose address it is, for counting: an IPv6 network is one client, since whoever has one address has 2^64 of them. */
export const clientOf = (address: string): string =>
  address.includes(':') && !address.includes('.') ? expand(address).slice(0, 4).join(':') : address;

/** The same, for what is kept: enough to count by, and no address to read. */
export const digestOfClient = (address: string): string =>
  createHash('sha256').update(clientOf(address)).digest('base64url').slice(0, 16);

function expand(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
}
