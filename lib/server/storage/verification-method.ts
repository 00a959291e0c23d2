/** The key that signs what the storage sends to others, as its description publishes it (rule 12.2). */
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { calculateJwkThumbprint } from 'jose';
import type { VerificationMethod } from '../../http/storage-description.js';
import { keptKey, type PrivateJwk, readKey } from './key-file.js';

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

interface OldKey {
  readonly key: PrivateJwk;
  /** Milliseconds since the epoch: when the first server started that signs with another one. */
  readonly retired?: number;
}

/** Milliseconds for which signatures of a key may still be checked after it was retired. */
const oldSignatures = 300_000;

/**
 * The method of the key before a rotation, until its last signature is older than five minutes (RFC 9421 leaves it to the
 * receiver how old a signature may be).
 */
export async function oldVerificationMethod(
  file: string,
  storage: string,
  now: number,
): Promise<VerificationMethod | undefined> {
  if (!existsSync(file)) return undefined;
  const { key, retired = now } = JSON.parse(readFileSync(file, 'utf8')) as OldKey;
  if (now - retired > oldSignatures) {
    unlinkSync(file);
    return undefined;
  }
  writeFileSync(file, JSON.stringify({ key, retired }), { mode: 0o600 });
  return verificationMethodOf(key, storage);
}

/** Puts a new key in the place of the one that signs, which `oldVerificationMethod` continues publishing for a while. */
export function rotateKey(file: string, old: string): void {
  if (existsSync(file)) {
    writeFileSync(old, JSON.stringify({ key: readKey(file) }), { mode: 0o600, flush: true });
    unlinkSync(file);
  }
  keptKey(file);
}
