/** Generates private keys. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

const encodings = {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
} as const;

/**
 * Returns a new private key. The key is exported as PEM and imported again to avoid a deadlock of Node (seen with 20.20): the
 * garbage collector frees the job that has generated a key, while the same key is exported, and both lock the key.
 */
export function newPrivateKey(type: 'Ed25519' | 'P-256'): KeyObject {
  const made =
    type === 'Ed25519'
      ? generateKeyPairSync('ed25519', encodings as object)
      : generateKeyPairSync('ec', { namedCurve: type, ...(encodings as object) });
  return createPrivateKey(made.privateKey as unknown as string);
}
