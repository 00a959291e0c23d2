/** Multikey: text form of public keys, for Ed25519, P-256, P-384 and P-521 (W3C Controlled Identifiers 1.0, 2.2.2). */
import { ECDH } from 'node:crypto';
import { base58 } from '@scure/base';

export interface PublicJwk {
  readonly kty: 'OKP' | 'EC';
  readonly crv: 'Ed25519' | 'P-256' | 'P-384' | 'P-521';
  readonly x: string;
  readonly y?: string;
}

/** Type of key: multicodec prefix (unsigned varint), key length in bytes, and the OpenSSL curve for compressed points. */
interface Codec {
  readonly crv: PublicJwk['crv'];
  readonly prefix: readonly [number, number];
  readonly length: number;
  readonly algorithm: 'EdDSA' | 'ES256' | 'ES384' | 'ES512';
  readonly curve?: string;
}

const codecs: readonly Codec[] = [
  { crv: 'Ed25519', prefix: [0xed, 0x01], length: 32, algorithm: 'EdDSA' },
  { crv: 'P-256', prefix: [0x80, 0x24], length: 33, algorithm: 'ES256', curve: 'prime256v1' },
  { crv: 'P-384', prefix: [0x81, 0x24], length: 49, algorithm: 'ES384', curve: 'secp384r1' },
  { crv: 'P-521', prefix: [0x82, 0x24], length: 67, algorithm: 'ES512', curve: 'secp521r1' },
];

const codecOf = (crv: PublicJwk['crv']): Codec => codecs.find((codec) => codec.crv === crv)!;

/** Returns the signature algorithm for a key. */
export const algorithmOf = ({ crv }: PublicJwk): Codec['algorithm'] => codecOf(crv).algorithm;

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Returns the Multikey text of a public key: `z`, then base58btc. */
export function multikeyOf({ crv, x, y }: PublicJwk): string {
  const coordinate = Buffer.from(x, 'base64url');
  const parity = y === undefined ? [] : [2 + (Buffer.from(y, 'base64url').at(-1)! & 1)];
  return `z${base58.encode(Uint8Array.from([...codecOf(crv).prefix, ...parity, ...coordinate]))}`;
}

/** Parses a Multikey. Returns `undefined` for other types of keys and malformed text. */
export function readMultikey(text: string): PublicJwk | undefined {
  if (!/^z[1-9A-HJ-NP-Za-km-z]{20,120}$/.test(text)) return undefined;
  const bytes = base58.decode(text.slice(1));
  const key = bytes.subarray(2);
  const codec = codecs.find(({ prefix }) => bytes[0] === prefix[0] && bytes[1] === prefix[1]);
  if (codec?.length !== key.length) return undefined;
  return codec.curve === undefined ? { kty: 'OKP', crv: 'Ed25519', x: base64url(key) } : readPoint(key, codec);
}

function readPoint(compressed: Uint8Array, { crv, curve, length }: Codec): PublicJwk | undefined {
  try {
    const point = ECDH.convertKey(compressed, curve!, undefined, undefined, 'uncompressed') as Buffer;
    return { kty: 'EC', crv, x: base64url(point.subarray(1, length)), y: base64url(point.subarray(length)) };
  } catch {
    // The key is not a point on the curve.
    return undefined;
  }
}
