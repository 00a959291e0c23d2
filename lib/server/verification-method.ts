/** The key that signs what the storage sends to others, as its description publishes it (service.md, "Storage description"). */
import { calculateJwkThumbprint } from 'jose';
import type { VerificationMethod } from '../http/storage-description.js';
import type { PrivateJwk } from './kept-key.js';

/** The public half of an Ed25519 key as a verification method; its id ends in the RFC 7638 thumbprint. */
export async function verificationMethodOf(key: PrivateJwk, storage: string): Promise<VerificationMethod> {
  const { kty, crv, x } = key;
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  return {
    id: `${storage}#${kid}`,
    type: 'JsonWebKey',
    controller: storage,
    publicKeyJwk: { kty, crv, alg: 'EdDSA', kid, x },
  };
}
