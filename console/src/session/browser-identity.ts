/** Identity of this browser: a did:key with a private key that cannot be exported. */

export interface BrowserSource {
  readonly kind: 'browser';
  readonly key: CryptoKeyPair;
  readonly did: string;
}

export async function makeBrowserIdentity(): Promise<BrowserSource> {
  const key = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'sign',
  ])) as CryptoKeyPair;
  const raw = new Uint8Array(await crypto.subtle.exportKey('raw', key.publicKey));
  // did:key of a P-256 key: multicodec 0x1200 and the compressed point.
  const bytes = new Uint8Array([0x80, 0x24, raw[64]! % 2 === 0 ? 2 : 3, ...raw.slice(1, 33)]);
  return { kind: 'browser', key, did: `did:key:z${base58(bytes)}` };
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
function base58(bytes: Uint8Array): string {
  let value = BigInt(`0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = alphabet[Number(value % 58n)]! + text;
  return text;
}

/** Returns a self-signed credential for one token exchange. @param audience base URI of the storage */
export async function signedBy(from: BrowserSource, audience: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: object): string => base64url(new TextEncoder().encode(JSON.stringify(value)));
  const fragment = from.did.slice('did:key:'.length);
  const signed = `${encode({ alg: 'ES256', typ: 'JWT', kid: `${from.did}#${fragment}` })}.${encode({
    sub: from.did,
    iss: from.did,
    client_id: from.did,
    aud: audience,
    iat: now,
    exp: now + 600,
    jti: crypto.randomUUID(),
  })}`;
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    from.key.privateKey,
    new TextEncoder().encode(signed),
  );
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

/** Encodes bytes as base64url without padding, as in JWTs (RFC 4648 section 5). */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
