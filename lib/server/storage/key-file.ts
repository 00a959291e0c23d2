/** Private keys that the server generates at its first start and stores in files of mode 0600. */
import { existsSync, readFileSync } from 'node:fs';
import type { PublicJwk } from '../../authorization/multikey.js';
import { SettingsError } from '../../settings/settings.js';
import { writeWhole } from '../../storage/level/synced-files.js';
import { newPrivateKey } from '../../tools/private-keys.js';

/** A private key as JWK. Its file has mode 0600. */
export type PrivateJwk = PublicJwk & { readonly d: string };

export function makeKey(): PrivateJwk {
  const { kty, crv, x, d } = newPrivateKey('Ed25519').export({ format: 'jwk' }) as PrivateJwk;
  return { kty, crv, x, d };
}

/** Reads a key from a file, or generates an Ed25519 key and stores it with mode 0600. @throws SettingsError as `readKey` */
export function keptKey(file: string): PrivateJwk {
  if (existsSync(file)) return readKey(file);
  const key = makeKey();
  // Sync the file: without the key, the owner loses access to the data, and a partial file would prevent the start.
  writeWhole(file, `${JSON.stringify(key)}\n`);
  return key;
}

/** Reads a key. @throws SettingsError if the file does not contain a private Ed25519 or P-256 JWK */
export function readKey(file: string): PrivateJwk {
  const refuse = (cause?: unknown): never => {
    const why = cause ? `: ${(cause as Error).message}` : '';
    throw new SettingsError(`${file} does not contain a private key (a JWK of Ed25519 or P-256)${why}.`);
  };
  let key: PrivateJwk;
  try {
    key = JSON.parse(readFileSync(file, 'utf8')) as PrivateJwk;
  } catch (cause) {
    return refuse(cause);
  }
  if ((key.crv !== 'Ed25519' && key.crv !== 'P-256') || typeof key.d !== 'string' || typeof key.x !== 'string')
    return refuse();
  return key;
}
