/** Key that signs notifications, as published in the storage description (rule 12.2). */
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { calculateJwkThumbprint } from 'jose';
import type { VerificationMethod } from '../../http/storage-description.js';
import { keptKey, type PrivateJwk, readKey } from './key-file.js';

/** Returns the public half of an Ed25519 key as verification method. Its id ends in the RFC 7638 thumbprint. */
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
  /** Time at which a server first signed with the new key, in milliseconds since the epoch. Absent until then. */
  readonly retired?: number;
}

/** Time for which a retired key stays published, in milliseconds. */
const oldSignatures = 300_000;

/**
 * Returns the verification method of the previous key until its last signature is older than five minutes (RFC 9421 lets the
 * receiver choose the maximum age).
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

/** Replaces the signing key. `oldVerificationMethod` publishes the old key for a while. */
export function rotateKey(file: string, old: string): void {
  if (existsSync(file)) {
    writeFileSync(old, JSON.stringify({ key: readKey(file) }), { mode: 0o600, flush: true });
    unlinkSync(file);
  }
  keptKey(file);
}
