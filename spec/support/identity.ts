/** did:key identities and their credentials, valid and invalid, implemented with node:crypto only. */
import { createHmac, createPublicKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { newPrivateKey } from '../../lib/tools/private-keys.js';

export interface Identity {
  readonly did: string;
  /** Verification method of the DID. */
  readonly kid: string;
  readonly alg: 'EdDSA' | 'ES256';
  readonly publicBytes: Uint8Array;
  readonly privateKey: KeyObject;
}

function identity(
  alg: Identity['alg'],
  prefix: readonly number[],
  publicBytes: Uint8Array,
  privateKey: KeyObject,
): Identity {
  const multikey = `z${base58.encode(Uint8Array.from([...prefix, ...publicBytes]))}`;
  const did = `did:key:${multikey}`;
  return { did, kid: `${did}#${multikey}`, alg, publicBytes, privateKey };
}

export function ed25519Identity(): Identity {
  const privateKey = newPrivateKey('Ed25519');
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return identity('EdDSA', [0xed, 0x01], Buffer.from(x!, 'base64url'), privateKey);
}

export function p256Identity(): Identity {
  const privateKey = newPrivateKey('P-256');
  const { x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  const last = Buffer.from(y!, 'base64url').at(-1)!;
  return identity(
    'ES256',
    [0x80, 0x24],
    Uint8Array.from([2 + (last & 1), ...Buffer.from(x!, 'base64url')]),
    privateKey,
  );
}

export interface CredentialOptions {
  readonly aud?: unknown;
  /** Overrides of the claims. `undefined` removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signer, by default the subject. */
  readonly signer?: Identity;
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

function signedContent({ did, kid, alg }: Identity, { aud, claims, header }: CredentialOptions): string {
  const iat = nowSeconds();
  const payload = { iss: did, sub: did, client_id: did, aud, iat, exp: iat + 300, jti: randomUUID(), ...claims };
  return `${encoded({ typ: 'JWT', alg, kid, ...header })}.${encoded(payload)}`;
}

/** Returns a self-signed credential (rule 15.11). */
export function credential(subject: Identity, options: CredentialOptions): string {
  const content = signedContent(subject, options);
  const { privateKey, alg } = options.signer ?? subject;
  const key = alg === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const } : privateKey;
  const signature = sign(alg === 'ES256' ? 'sha256' : null, Buffer.from(content), key);
  return `${content}.${signature.toString('base64url')}`;
}

/** Returns an unsigned credential (`alg: none`). */
export const unsignedCredential = (subject: Identity, aud: string): string =>
  `${signedContent(subject, { aud, header: { alg: 'none' } })}.`;

/** Returns a credential with an HMAC, using the public key as secret. */
export function hmacCredential(subject: Identity, aud: string): string {
  const content = signedContent(subject, { aud, header: { alg: 'HS256' } });
  return `${content}.${createHmac('sha256', subject.publicBytes).update(content).digest('base64url')}`;
}
