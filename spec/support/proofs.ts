/** DPoP proofs, valid and invalid, implemented with node:crypto only (RFC 9449 4.2). */
import { createHash, randomUUID } from 'node:crypto';
import { nowSeconds } from './identity.js';
import { type Json, jws, type SigningKey } from './jwt.js';

export interface ProofOptions {
  readonly method?: string;
  /** Access token bound to the proof. */
  readonly token?: string;
  /** Overrides of the claims. `undefined` removes one. */
  readonly claims?: Json;
  readonly header?: Json;
  /** Signer, by default the key in the proof. */
  readonly signer?: SigningKey;
}

const publicMembers = ({ jwk: { kty, crv, x, y, n, e } }: SigningKey): Json => ({ kty, crv, x, y, n, e });

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/** Returns a proof for a request. The default method is GET. */
export function proof(key: SigningKey, iri: string, options: ProofOptions = {}): string {
  const { method = 'GET', token, claims, header, signer = key } = options;
  const ath = token === undefined ? {} : { ath: hashOf(token) };
  const payload = { jti: randomUUID(), htm: method, htu: iri, iat: nowSeconds(), ...ath, ...claims };
  return jws(signer, { typ: 'dpop+jwt', alg: key.alg, kid: undefined, jwk: publicMembers(key), ...header }, payload);
}
