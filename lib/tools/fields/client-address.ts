/** Derives the keys of limits from client addresses. */
import { createHash } from 'node:crypto';

/** Returns the key of an address in limits. An IPv6 /64 network is one client, since each host has 2^64 addresses. */
export const clientOf = (address: string): string =>
  address.includes(':') && !address.includes('.') ? expand(address).slice(0, 4).join(':') : address;

/** Returns a digest of the key for storage, so that no address is stored. */
export const digestOfClient = (address: string): string =>
  createHash('sha256').update(clientOf(address)).digest('base64url').slice(0, 16);

function expand(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
}
