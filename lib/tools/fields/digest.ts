/** Digest fields: `Content-Digest`, `Repr-Digest` and their `Want-` counterparts (RFC 9530). */
import { type Dictionary, parseDictionary } from 'structured-headers';

/** Registered key of a supported algorithm (RFC 9530 5). */
export type DigestAlgorithm = 'sha-256' | 'sha-512';

/** Supported algorithms, strongest first. */
export const digestAlgorithms: readonly DigestAlgorithm[] = ['sha-512', 'sha-256'];

const byteLengths: Readonly<Record<DigestAlgorithm, number>> = { 'sha-256': 32, 'sha-512': 64 };

/**
 * Parses `Content-Digest` or `Repr-Digest` into digests by supported algorithm. Returns undefined if the dictionary is malformed
 * or a digest does not have 32 or 64 bytes (RFC 9530 2, 3; RFC 9651 3.2, 3.3.5).
 */
export function parseDigests(field: string): ReadonlyMap<DigestAlgorithm, Uint8Array> | undefined {
  const dictionary = parse(field);
  if (!dictionary) return undefined;
  const digests = new Map<DigestAlgorithm, Uint8Array>();
  for (const algorithm of digestAlgorithms) {
    const member = dictionary.get(algorithm);
    if (!member) continue;
    const [value] = member;
    if (!(value instanceof ArrayBuffer) || value.byteLength !== byteLengths[algorithm]) return undefined;
    digests.set(algorithm, new Uint8Array(value));
  }
  return digests;
}

/**
 * Returns the supported algorithm with the highest weight (1 to 10) in `Want-Repr-Digest` or `Want-Content-Digest`, or undefined.
 * Weight 0 excludes an algorithm, other weights are ignored, sha-512 wins a tie (RFC 9530 4).
 */
export function chooseDigest(field: string): DigestAlgorithm | undefined {
  const dictionary = parse(field);
  let chosen: DigestAlgorithm | undefined;
  let best = 0;
  for (const algorithm of digestAlgorithms) {
    const weight = dictionary?.get(algorithm)?.[0];
    if (typeof weight !== 'number' || !Number.isInteger(weight) || weight > 10 || weight <= best) continue;
    chosen = algorithm;
    best = weight;
  }
  return chosen;
}

/** Formats a member of `Content-Digest` or `Repr-Digest`, such as `sha-256=:BASE64:` (RFC 9530 2, RFC 9651 4.1.8). */
export function formatDigest(algorithm: DigestAlgorithm, digest: Uint8Array): string {
  return `${algorithm}=:${Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('base64')}:`;
}

function parse(field: string): Dictionary | undefined {
  try {
    return parseDictionary(field);
  } catch {
    // The library throws for malformed fields; here they are an ordinary result.
    return undefined;
  }
}
