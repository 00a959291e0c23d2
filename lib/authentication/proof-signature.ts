/**
 * The signature of a DPoP proof, verified off the main thread with a key that is kept: every request brings a fresh proof, and going
 * through WebCrypto for each would cost half as much again.
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { JWK } from 'jose';

interface Algorithm {
  readonly hash: string | null;
  /** The curve of an elliptic key, as JWK calls it. */
  readonly curve?: string;
  readonly padding?: number;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  ES256: { hash: 'sha256', curve: 'P-256' },
  ES384: { hash: 'sha384', curve: 'P-384' },
  ES512: { hash: 'sha512', curve: 'P-521' },
  EdDSA: { hash: null, curve: 'Ed25519' },
  Ed25519: { hash: null, curve: 'Ed25519' },
  RS256: { hash: 'sha256', padding: constants.RSA_PKCS1_PADDING },
  RS384: { hash: 'sha384', padding: constants.RSA_PKCS1_PADDING },
  RS512: { hash: 'sha512', padding: constants.RSA_PKCS1_PADDING },
  PS256: { hash: 'sha256', padding: constants.RSA_PKCS1_PSS_PADDING },
  PS384: { hash: 'sha384', padding: constants.RSA_PKCS1_PSS_PADDING },
  PS512: { hash: 'sha512', padding: constants.RSA_PKCS1_PSS_PADDING },
};

/** RFC 7518 3.3, 3.5. */
const shortestRsa = 2048;

/** The key of a public JWK; `undefined` when it is none, or none for the algorithm. */
export function proofKey(jwk: JWK, name: string): KeyObject | undefined {
  const algorithm = algorithms[name];
  if (!algorithm || (algorithm.curve !== undefined && jwk.crv !== algorithm.curve)) return undefined;
  try {
    const key = createPublicKey({ key: jwk as never, format: 'jwk' });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return algorithm.padding !== undefined && (bits ?? 0) < shortestRsa ? undefined : key;
  } catch {
    // Members that are missing or make no key.
    return undefined;
  }
}

/** Whether the signature of a compact JWS holds. */
export function proofHolds(jws: string, name: string, key: KeyObject): Promise<boolean> {
  const { hash, padding } = algorithms[name]!;
  const end = jws.lastIndexOf('.');
  const options = {
    key,
    dsaEncoding: 'ieee-p1363' as const,
    ...(padding === undefined ? {} : { padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }),
  };
  const signature = Buffer.from(jws.slice(end + 1), 'base64url');
  return new Promise((resolve) => {
    verify(hash, Buffer.from(jws.slice(0, end)), options, signature, (error, valid) => resolve(!error && valid));
  });
}
