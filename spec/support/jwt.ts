/** Keys of every algorithm and their tokens, valid and invalid, implemented with node:crypto only. */
import { constants, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

export type Json = Readonly<Record<string, unknown>>;

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** Public key with `kid` and `alg`. */
  readonly jwk: Json;
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };
let rsa: ReturnType<typeof rsaPair> | undefined;
const rsaPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Generates a key pair. RSA keys share one pair, because generating it is slow. */
export function signingKey(alg = 'ES256', kid: string = randomUUID()): SigningKey {
  const pair = (): { publicKey: KeyObject; privateKey: KeyObject } => {
    const namedCurve = curves[alg];
    if (namedCurve) return generateKeyPairSync('ec', { namedCurve });
    if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
    rsa ??= rsaPair();
    return rsa;
  };
  const { publicKey, privateKey } = pair();
  return { alg, kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg } };
}

/** Returns the JWK with its private members. */
export const privateJwk = (key: SigningKey): Json => ({ ...key.jwk, ...key.privateKey.export({ format: 'jwk' }) });

export const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export function signature({ alg, privateKey }: SigningKey, content: string): Buffer {
  const data = Buffer.from(content);
  const hash = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return sign(hash, data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  if (!alg.startsWith('PS')) return sign(hash, data, privateKey);
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  return sign(hash, data, { key: privateKey, padding, saltLength });
}

/**
 * Returns a compact JWS. `alg` and `kid` default to those of the key.
 * @param header object, or JSON text that is signed unchanged (likewise `claims`)
 */
export function jws(key: SigningKey, header: Json | string, claims: unknown): string {
  const full = typeof header === 'string' ? header : { alg: key.alg, kid: key.kid, ...header };
  const content = `${base64url(full)}.${base64url(claims)}`;
  return `${content}.${signature(key, content).toString('base64url')}`;
}

/** Returns a JWS with an HMAC. */
export function hmacJws(secret: string | Uint8Array, header: Json, claims: Json): string {
  const content = `${base64url({ ...header, alg: 'HS256' })}.${base64url(claims)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

/** Returns the claims of a JWT without verification. */
export const claimsOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'));
