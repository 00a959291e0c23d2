/**
 * Allowed signature algorithms, each for one kind of key. HMAC is never allowed, because its secret would be the public key
 * (RFC 6931 2.2). SHA-1 is allowed only if it is enabled.
 */
import { constants, createHash, type KeyObject, verify } from 'node:crypto';

export interface SignatureMethod {
  readonly key: 'rsa' | 'ec';
  readonly hash: string;
  readonly pss?: true;
}

export interface Algorithms {
  /** Signature methods by URI. */
  readonly signatures: ReadonlyMap<string, SignatureMethod>;
  /** Hash names by URI of the digest method. */
  readonly digests: ReadonlyMap<string, string>;
}

const signatures: readonly (readonly [string, SignatureMethod])[] = [
  // RFC 9231 2.3.2 to 2.3.4: PKCS #1 v1.5; 2.3.6: ECDSA; 2.3.10: PSS with the hash's length as salt length.
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', { key: 'rsa', hash: 'sha256' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha384', { key: 'rsa', hash: 'sha384' }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', { key: 'rsa', hash: 'sha512' }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', { key: 'rsa', hash: 'sha256', pss: true }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1', { key: 'rsa', hash: 'sha384', pss: true }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1', { key: 'rsa', hash: 'sha512', pss: true }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256', { key: 'ec', hash: 'sha256' }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384', { key: 'ec', hash: 'sha384' }],
  ['http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512', { key: 'ec', hash: 'sha512' }],
];

const sha1Signature: (typeof signatures)[number] = [
  'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  { key: 'rsa', hash: 'sha1' },
];

const digests: readonly (readonly [string, string])[] = [
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
];

/** Returns the allowed algorithms. @param allowSha1 value of `lws.saml.allow-sha1` */
export const createAlgorithms = (allowSha1: boolean): Algorithms => ({
  signatures: new Map(allowSha1 ? [...signatures, sha1Signature] : signatures),
  digests: new Map(allowSha1 ? [...digests, ['http://www.w3.org/2000/09/xmldsig#sha1', 'sha1']] : digests),
});

export const digestValueOf = (hash: string, octets: string): Buffer => createHash(hash).update(octets, 'utf8').digest();

/** Returns true if a signature is valid. If the key is not of the kind that the method requires, returns false. */
export function signatureHolds(
  method: SignatureMethod,
  key: KeyObject,
  octets: string,
  signature: Uint8Array,
): boolean {
  if (key.asymmetricKeyType !== method.key) return false;
  const padding = method.pss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { padding: constants.RSA_PKCS1_PADDING };
  // RFC 9231 2.3.6: the signature is r and s concatenated, not DER.
  const parameters = method.key === 'ec' ? { dsaEncoding: 'ieee-p1363' as const } : padding;
  return verify(method.hash, Buffer.from(octets, 'utf8'), { key, ...parameters }, signature);
}
