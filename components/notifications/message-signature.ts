/** Signatures of deliveries: RFC 9421 with Ed25519 over RFC 9530 digests (rule 16.7). Pure. */
import { createHash, type KeyObject, sign } from 'node:crypto';

export interface SigningKey {
  /** The id of the verification method. */
  readonly keyId: string;
  readonly key: KeyObject;
}

const covered = ['@method', '@scheme', '@authority', '@path', 'content-type', 'content-digest'] as const;

/**
 * The fields that a POST of a body carries.
 * @param created seconds since the epoch
 */
export function signedFields(
  { keyId, key }: SigningKey,
  url: URL,
  contentType: string,
  body: Uint8Array,
  created: number,
): Readonly<Record<string, string>> {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  const values: Readonly<Record<(typeof covered)[number], string>> = {
    '@method': 'POST',
    '@scheme': url.protocol.slice(0, -1),
    // RFC 9421 2.2.3: lower case, without the default port, which is how URL has it.
    '@authority': url.host,
    '@path': url.pathname,
    'content-type': contentType,
    'content-digest': digest,
  };
  const parameters = `(${covered.map((name) => `"${name}"`).join(' ')});created=${created};keyid="${keyId}"`;
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${parameters}`].join(
    '\n',
  );
  const signature = sign(null, Buffer.from(base), key).toString('base64');
  return {
    'Content-Type': contentType,
    'Content-Digest': digest,
    'Signature-Input': `sig1=${parameters}`,
    Signature: `sig1=:${signature}:`,
  };
}
