/** Owners that need no identity provider: a did:key identity and bearer credentials of it (service.md, "Owner bootstrapping"). */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { importJWK, SignJWT } from 'jose';
import { algorithmOf, didKeyOf, expandDidKey, type PublicJwk } from '../authentication/did-key.js';
import { SettingsError } from '../settings.js';

/** A private key as a JWK; the file that holds one has mode 0600. */
export type PrivateJwk = PublicJwk & { readonly d: string };

export interface Identity {
  readonly did: string;
  readonly key: PrivateJwk;
}

export function makeIdentity(): Identity {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { kty, crv, x, d } = privateKey.export({ format: 'jwk' }) as PrivateJwk;
  const key = { kty, crv, x, d };
  return { did: didKeyOf(key), key };
}

/**
 * Reads an identity from a file, or makes one and keeps it there with mode 0600.
 * @throws SettingsError when the file holds something else
 */
export function keptIdentity(file: string): Identity {
  if (existsSync(file)) return readIdentity(file);
  const identity = makeIdentity();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // `wx`: never over a key that appeared meanwhile. Synced: what the owner creates is lost without it.
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeSync(handle, `${JSON.stringify(identity.key)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return identity;
}

/** @throws SettingsError when the file does not hold a private Ed25519 or P-256 JWK */
export function readIdentity(file: string): Identity {
  const refuse = (cause?: unknown): never => {
    const why = cause ? `: ${(cause as Error).message}` : '';
    throw new SettingsError(`${file} does not hold a private key (a JWK of Ed25519 or P-256)${why}.`);
  };
  let key: PrivateJwk;
  try {
    key = JSON.parse(readFileSync(file, 'utf8')) as PrivateJwk;
  } catch (cause) {
    return refuse(cause);
  }
  if ((key.crv !== 'Ed25519' && key.crv !== 'P-256') || typeof key.d !== 'string' || typeof key.x !== 'string')
    return refuse();
  return { did: didKeyOf(key), key };
}

/**
 * A self-signed credential of an identity, to be sent as a bearer token.
 * @param audience the base URI of the storage that it is for
 * @param ttlSeconds how long it is valid
 */
export async function signCredential({ did, key }: Identity, audience: string, ttlSeconds: number): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { method } = expandDidKey(did)!;
  return new SignJWT({
    sub: did,
    iss: did,
    client_id: did,
    aud: audience,
    iat: now,
    exp: now + ttlSeconds,
    jti: randomUUID(),
  })
    .setProtectedHeader({ alg: algorithmOf(key), kid: method, typ: 'JWT' })
    .sign(await importJWK({ ...key }, algorithmOf(key)));
}
