/** The codec of digest fields: `Content-Digest`, `Repr-Digest` and their `Want-` counterparts (RFC 9530). */
import { type Dictionary, parseDictionary } from 'structured-headers';

/** A supported algorithm, by its key in the registry (RFC 9530 5). */
export type DigestAlgorithm = 'sha-256' | 'sha-512';

/** The supported algorithms, the strongest first. */
export const digestAlgorithms: readonly DigestAlgorithm[] = ['sha-512', 'sha-256'];

const byteLengths: Readonly<Record<DigestAlgorithm, number>> = { 'sha-256': 32, 'sha-512': 64 };

/**
 * The digests of `Content-Digest` or `Repr-Digest` by supported algorithm. Undefined when the dictionary is
 * malformed, or a supported member is no byte sequence of 32 or 64 bytes (RFC 9530 2, 3; RFC 9651 3.2, 3.3.5).
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
 * The supported algorithm that `Want-Repr-Digest` or `Want-Content-Digest` weighs highest, from 1 to 10; 0 refuses,
 * other weights are ignored, and sha-512 wins a tie. Undefined when there is none (RFC 9530 4).
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

/** One member of `Content-Digest` or `Repr-Digest`, as in `sha-256=:BASE64:` (RFC 9530 2, RFC 9651 4.1.8). */
export function formatDigest(algorithm: DigestAlgorithm, digest: Uint8Array): string {
  return `${algorithm}=:${Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('base64')}:`;
}

function parse(field: string): Dictionary | undefined {
  try {
    return parseDictionary(field);
  } catch {
    // The library throws on whatever is malformed; on this floor that is an ordinary outcome.
    return undefined;
  }
}
