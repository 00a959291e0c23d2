/** did:key: identifiers that are a public key, for Ed25519 and P-256. It must not know tokens. */
import { ECDH } from 'node:crypto';
import { base58 } from '@scure/base';

export interface PublicJwk {
  readonly kty: 'OKP' | 'EC';
  readonly crv: 'Ed25519' | 'P-256';
  readonly x: string;
  readonly y?: string;
}

/** The algorithm that a key of this kind signs with. */
export const algorithmOf = ({ crv }: PublicJwk): 'EdDSA' | 'ES256' => (crv === 'Ed25519' ? 'EdDSA' : 'ES256');

// Multicodec prefixes as unsigned varints: ed25519-pub 0xed, p256-pub 0x1200.
const ed25519Prefix = [0xed, 0x01];
const p256Prefix = [0x80, 0x24];
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** The Multikey text of a public key: `z` and base58btc. */
export function multikeyOf(jwk: PublicJwk): string {
  const x = Buffer.from(jwk.x, 'base64url');
  if (jwk.crv === 'Ed25519') return `z${base58.encode(Uint8Array.from([...ed25519Prefix, ...x]))}`;
  const y = Buffer.from(jwk.y ?? '', 'base64url');
  return `z${base58.encode(Uint8Array.from([...p256Prefix, 2 + (y.at(-1)! & 1), ...x]))}`;
}

/** Reads a Multikey. `undefined` for another kind of key or a malformed text. */
export function readMultikey(text: string): PublicJwk | undefined {
  if (!/^z[1-9A-HJ-NP-Za-km-z]{20,100}$/.test(text)) return undefined;
  const bytes = base58.decode(text.slice(1));
  const key = bytes.subarray(2);
  if (bytes[0] === ed25519Prefix[0] && bytes[1] === ed25519Prefix[1] && key.length === 32)
    return { kty: 'OKP', crv: 'Ed25519', x: base64url(key) };
  if (bytes[0] === p256Prefix[0] && bytes[1] === p256Prefix[1] && key.length === 33) return readPoint(key);
  return undefined;
}

function readPoint(compressed: Uint8Array): PublicJwk | undefined {
  try {
    const point = ECDH.convertKey(compressed, 'prime256v1', undefined, undefined, 'uncompressed') as Buffer;
    return { kty: 'EC', crv: 'P-256', x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)) };
  } catch {
    // Not a point of the curve: no key.
    return undefined;
  }
}

export const didKeyOf = (jwk: PublicJwk): string => `did:key:${multikeyOf(jwk)}`;

/** The key of a did:key identifier and the id of its one verification method; nothing is looked up. */
export function expandDidKey(did: string): { readonly key: PublicJwk; readonly method: string } | undefined {
  const [, multikey] = /^did:key:(z[1-9A-HJ-NP-Za-km-z]+)$/.exec(did) ?? [];
  const key = multikey === undefined ? undefined : readMultikey(multikey);
  return key && { key, method: `${did}#${multikey}` };
}
