/** Supports owners without an identity provider: a did:key identity, and bearer credentials for it (rule 5.3). */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { importJWK, SignJWT } from 'jose';
import { signInType } from '../../authentication/jwt.js';
import { didKeyOf, expandDidKey } from '../../authorization/did.js';
import { algorithmOf } from '../../authorization/multikey.js';
import { SettingsError } from '../../settings/settings.js';
import { keptKey, makeKey, type PrivateJwk, readKey } from './key-file.js';

export interface Identity {
  readonly did: string;
  readonly key: PrivateJwk;
}

const identityOf = (key: PrivateJwk): Identity => ({ did: didKeyOf(key), key });

export const makeIdentity = (): Identity => identityOf(makeKey());

/** Returns the identity of the key in a file, which is generated if missing. @throws SettingsError as `keptKey` */
export const keptIdentity = (file: string): Identity => identityOf(keptKey(file));

/** Returns the identity of the key in a file. @throws SettingsError as `readKey` */
export const readIdentity = (file: string): Identity => identityOf(readKey(file));

/**
 * Returns the identity of the flags --key or --new-key, or a new identity without either flag.
 * @throws SettingsError if the key file does not exist, or the new one already exists
 */
export function givenIdentity({ key, 'new-key': newKey }: Readonly<Record<string, string>>): Identity {
  if (key !== undefined && newKey !== undefined) throw new SettingsError('Use either --key or --new-key.');
  if (newKey !== undefined) {
    if (existsSync(newKey)) throw new SettingsError(`${newKey} already exists. Use --key ${newKey} to use its key.`);
    return keptIdentity(newKey);
  }
  if (key === undefined) return makeIdentity();
  if (!existsSync(key)) throw new SettingsError(`${key} does not exist. To create a key: --new-key ${key}.`);
  return readIdentity(key);
}

/** Creates a self-signed credential to be sent as bearer token. @param audience base URI of the storage @param ttlSeconds validity */
export const signCredential = (identity: Identity, audience: string, ttlSeconds: number): Promise<string> =>
  signed('JWT', identity, { audience, ttlSeconds });

/** Creates a credential for a sign-in link. It is not accepted as bearer token. Only the first browser can exchange it. */
export const signLinkCredential = (identity: Identity, audience: string, ttlSeconds: number): Promise<string> =>
  signed(signInType, identity, { audience, ttlSeconds });

async function signed(
  typ: string,
  { did, key }: Identity,
  { audience, ttlSeconds }: { readonly audience: string; readonly ttlSeconds: number },
): Promise<string> {
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
    .setProtectedHeader({ alg: algorithmOf(key), kid: method, typ })
    .sign(await importJWK({ ...key }, algorithmOf(key)));
}
