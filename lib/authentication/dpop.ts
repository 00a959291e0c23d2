/** DPoP: verifies proofs that a client holds the key to which its access token is bound (RFC 9449, rule 15.14). */
import {
  constants,
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { lruCache } from '../tools/caches.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import { fits } from './issuer-keys.js';
import { isAccepted, privateMembers, readJwt } from './jwt.js';
import { refusedCredential } from './suite.js';

/** Stateless DPoP nonces: a time and its MAC. All servers of a storage share the MAC key (RFC 9449 8, rule 15.15). */
export interface DpopNonces {
  issue(): string;
  accepts(nonce: string): boolean;
}

const nonceMs = 300_000;
/** Length of the MAC in bytes. In a nonce, it follows the time in six bytes. */
const macBytes = 16;

function dpopNonces(clock: () => number, secret: Uint8Array): DpopNonces {
  const mac = (time: Uint8Array): Buffer => createHmac('sha256', secret).update(time).digest().subarray(0, macBytes);
  return {
    issue() {
      const time = Buffer.alloc(6);
      time.writeUIntBE(clock(), 0, 6);
      return Buffer.concat([time, mac(time)]).toString('base64url');
    },
    accepts(nonce) {
      const bytes = Buffer.from(nonce, 'base64url');
      if (bytes.length !== 6 + macBytes) return false;
      const time = bytes.subarray(0, 6);
      if (!timingSafeEqual(bytes.subarray(6), mac(time))) return false;
      const age = clock() - time.readUIntBE(0, 6);
      return age >= 0 && age <= nonceMs;
    },
  };
}

/** Used DPoP proofs. The size is limited, but a proof that is still valid is never evicted. */
export interface ReplayCache {
  /** Marks the ID of a proof as used. Returns `full` if the limit of the cache is reached. */
  consume(id: string): 'new' | 'used' | 'full';
}

/**
 * Creates a replay cache.
 * @param size maximum count of proofs
 * @param validMs time for which a proof is valid: its maximum age plus the allowed clock difference
 */
function replayCache(size: number, validMs: number, clock: () => number): ReplayCache {
  /** Expiry times by proof ID, in milliseconds. All proofs have the same lifetime, so the oldest are first. */
  const used = new Map<string, number>();
  return {
    consume(id) {
      const now = clock();
      for (const [known, until] of used) {
        if (until > now) break;
        used.delete(known);
      }
      if (used.has(id)) return 'used';
      if (used.size >= size) return 'full';
      used.set(id, now + validMs);
      return 'new';
    },
  };
}

/**
 * Algorithm of a DPoP proof, as parameters for `node:crypto`. Proofs are verified in libuv threads, with cached keys: every
 * request has a new proof, and WebCrypto would take 50 % longer.
 */
interface Algorithm {
  readonly hash: string | null;
  /** Curve of an elliptic-curve key: name in OpenSSL and name in a JWK. */
  readonly curve?: string;
  readonly padding?: number;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  ES256: { hash: 'sha256', curve: 'P-256' },
  ES384: { hash: 'sha384', curve: 'P-384' },
  ES512: { hash: 'sha512', curve: 'P-521' },
  EdDSA: { hash: null, curve: 'Ed25519' },
  Ed25519: { hash: null, curve: 'Ed25519' },
  RS256: { hash: 'sha256', padding: constants.RSA_PKCS1_PADDING },
  RS384: { hash: 'sha384', padding: constants.RSA_PKCS1_PADDING },
  RS512: { hash: 'sha512', padding: constants.RSA_PKCS1_PADDING },
  PS256: { hash: 'sha256', padding: constants.RSA_PKCS1_PSS_PADDING },
  PS384: { hash: 'sha384', padding: constants.RSA_PKCS1_PSS_PADDING },
  PS512: { hash: 'sha512', padding: constants.RSA_PKCS1_PSS_PADDING },
};

/** Minimum length of an RSA key in bits (RFC 7518 3.3, 3.5). */
const shortestRsa = 2048;

/** Returns the key of a public JWK, or `undefined` if the JWK is invalid or does not match the algorithm. */
function proofKey(jwk: JWK, name: string): KeyObject | undefined {
  const algorithm = algorithms[name];
  if (!algorithm || (algorithm.curve !== undefined && jwk.crv !== algorithm.curve)) return undefined;
  try {
    const key = createPublicKey({ key: jwk as never, format: 'jwk' });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return algorithm.padding !== undefined && (bits ?? 0) < shortestRsa ? undefined : key;
  } catch {
    // Members of the JWK are missing, or do not form a key.
    return undefined;
  }
}

/** Returns true if the signature of a compact JWS is valid. */
function proofHolds(jws: string, name: string, key: KeyObject): Promise<boolean> {
  const { hash, padding } = algorithms[name]!;
  const end = jws.lastIndexOf('.');
  const options = {
    key,
    dsaEncoding: 'ieee-p1363' as const,
    ...(padding === undefined ? {} : { padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }),
  };
  const signature = Buffer.from(jws.slice(end + 1), 'base64url');
  return new Promise((resolve) => {
    verify(hash, Buffer.from(jws.slice(0, end)), options, signature, (error, valid) => resolve(!error && valid));
  });
}

export interface DpopOptions {
  readonly requireNonce: boolean;
  readonly cacheSize: number;
  readonly clock: () => number;
  /** MAC key of the nonces, shared by all servers of a storage. */
  readonly nonceSecret: Uint8Array;
  /** Registers the ID of a proof on all servers of a storage. False if the ID exists, `undefined` for a single server. */
  readonly isFirst?: (id: string, validMs: number) => Promise<boolean> | undefined;
}

/** Expected values of a proof. */
export interface ProvenRequest {
  readonly method: string;
  /** IRI of the target, based on `lws.base-uri`. The query is ignored. */
  readonly url: string;
  /** Access token. Absent at the token endpoint. */
  readonly token?: string;
  /** True if the proof may lack `ath`. */
  readonly isAthOptional?: boolean | undefined;
}

/** Valid proof. Call `consume` after the token was verified, to mark the proof as used. */
export interface DpopProof {
  readonly thumbprint: string;
  /** Marks the proof as used. @throws LwsError `invalid-token` if it was used before, `too-busy` if the cache is full */
  consume(): void | Promise<void>;
}

export interface DpopVerifier {
  readonly nonces: DpopNonces;
  /** Verifies a proof. @throws LwsError `invalid-token`, or `use-dpop-nonce` with a `DPoP-Nonce` field */
  verify(field: string | undefined, request: ProvenRequest): Promise<DpopProof>;
}

/** Maximum age of a proof, and maximum time that it may be in the future, in seconds (rule 15.14). */
const oldest = 300;
const ahead = 60;

interface ProofKey {
  readonly key: KeyObject;
  readonly thumbprint: string;
}

const validMs = (oldest + ahead) * 1000;

export function dpopVerifier({ requireNonce, cacheSize, clock, ...options }: DpopOptions): DpopVerifier {
  const nonces = dpopNonces(clock, options.nonceSecret);
  const used = replayCache(cacheSize, validMs, clock);
  // Imported keys are cached: an import takes as long as verifying a signature, and clients use one key for many proofs.
  const keys = lruCache<ProofKey>(10_000);

  const keyOf = async (jwk: JWK, algorithm: string): Promise<ProofKey> => {
    const { kty, crv, x, y, e, n } = jwk;
    const id = JSON.stringify([algorithm, kty, crv, x, y, e, n]);
    let found = keys.get(id);
    if (!found) {
      const key = proofKey(jwk, algorithm);
      if (!key) throw refused('The key of the proof does not fit its algorithm.', `alg is ${algorithm}`);
      found = { key, thumbprint: await thumbprintOf(jwk) };
      keys.set(id, found);
    }
    return found;
  };

  return {
    nonces,
    async verify(field, request) {
      const proof = field === undefined || field.includes(',') ? undefined : readJwt(field);
      if (!proof)
        throw refused(
          'The request must have exactly one DPoP proof.',
          'the DPoP field is missing, repeated or not a JWT',
        );
      const { header, payload } = proof;
      const [jwk, algorithm] = keyIn(header);
      const { key, thumbprint } = await keyOf(jwk, algorithm);
      if (!(await proofHolds(field!, algorithm, key)))
        throw refused('The signature of the proof is not valid.', 'bad signature');
      assertClaims(payload, request, clock() / 1000);
      assertNonce(payload['nonce'], nonces, requireNonce);
      return {
        thumbprint,
        consume() {
          const id = createHash('sha256')
            .update(`${thumbprint} ${String(payload['jti'])}`)
            .digest('base64');
          const verdict = used.consume(id);
          if (verdict === 'full') throw tooManyProofs();
          const before = (): LwsError =>
            refused('The proof was used before.', `jti ${String(payload['jti']).slice(0, 100)} is known`);
          if (verdict === 'used') throw before();
          return options.isFirst?.(id, validMs)?.then((isFirst) => {
            if (!isFirst) throw before();
          });
        },
      };
    },
  };
}

/** Error if the limit is reached. An older proof is not evicted, because it could then be reused. */
const tooManyProofs = (): LwsError =>
  tooBusy('The limit of stored DPoP proofs is reached (lws.dpop.jti-cache-size). Retry in a few seconds.', 30);

async function thumbprintOf(jwk: JWK): Promise<string> {
  try {
    return await calculateJwkThumbprint(jwk);
  } catch (error) {
    throw refused('The key of the proof is incomplete.', (error as Error).message);
  }
}

/** Returns the public key and the algorithm of a proof (RFC 9449 4.3, checks 3 to 7). */
function keyIn({ typ, alg, jwk, crit }: Readonly<Record<string, unknown>>): [JWK, string] {
  if (typ !== 'dpop+jwt') throw refused('The proof has another type.', `typ is ${String(typ).slice(0, 100)}`);
  if (!isAccepted(alg))
    throw refused('The algorithm of the proof is not accepted.', `alg is ${String(alg).slice(0, 100)}`);
  if (crit !== undefined) throw refused('The proof has critical extensions.', 'crit is present');
  if (typeof jwk !== 'object' || jwk === null) throw refused('The proof has no public key.', 'no jwk in the header');
  const privateMember = privateMembers.find((member) => member in jwk);
  if (privateMember) throw refused('The proof reveals a private key.', `jwk has the member ${privateMember}`);
  if (!fits(jwk as JWK, alg as string))
    throw refused('The key of the proof does not fit its algorithm.', `alg is ${String(alg)}`);
  return [jwk as JWK, alg as string];
}

function assertClaims(payload: Readonly<Record<string, unknown>>, request: ProvenRequest, now: number): void {
  const { htm, htu, iat, ath, jti, exp, nbf } = payload;
  if (typeof jti !== 'string' || jti === '')
    throw refused('The proof has no jti.', `jti is ${String(jti).slice(0, 50)}`);
  if (htm !== request.method)
    throw refused('The proof is for another method.', `htm is ${String(htm).slice(0, 20)}, expected ${request.method}`);
  if (typeof htu !== 'string' || withoutQuery(htu) !== withoutQuery(request.url))
    throw refused(
      'The proof is for another URI.',
      `htu is ${String(htu).slice(0, 300)}, expected ${withoutQuery(request.url)}`,
    );
  if (typeof iat !== 'number' || now - iat > oldest || iat - now > ahead)
    throw refused('The proof is too old or from the future.', `iat is ${String(iat)}, now is ${Math.floor(now)}`);
  if (exp !== undefined && !(typeof exp === 'number' && exp + ahead > now))
    throw refused('The proof has expired.', `exp is ${String(exp)}, now is ${Math.floor(now)}`);
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf - ahead <= now))
    throw refused('The proof is not valid yet.', `nbf is ${String(nbf)}, now is ${Math.floor(now)}`);
  if (request.token === undefined || (ath === undefined && request.isAthOptional)) return;
  const expected = createHash('sha256').update(request.token).digest('base64url');
  if (ath !== expected)
    throw refused('The proof is for another access token.', 'ath is missing or not the hash of the token');
}

/** Returns a URL without query and fragment, normalized by RFC 3986 6.2.2 and 6.2.3 (RFC 9449 4.3, check 9). */
function withoutQuery(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  parsed.search = '';
  parsed.hash = '';
  return parsed.href.replace(/%[0-9a-f]{2}/gi, (octet) => {
    const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
  });
}

function assertNonce(nonce: unknown, nonces: DpopNonces, required: boolean): void {
  if (nonce === undefined && !required) return;
  if (typeof nonce === 'string' && nonces.accepts(nonce)) return;
  throw new LwsError('use-dpop-nonce', 'The proof requires the nonce of the DPoP-Nonce field.', {
    reason: nonce === undefined ? 'no nonce' : 'the nonce is not ours, or older than 300 s',
    scheme: 'DPoP',
    fields: { 'DPoP-Nonce': nonces.issue() },
  });
}

const refused = (description: string, reason: string): LwsError => {
  const { message } = refusedCredential(description, reason);
  return new LwsError('invalid-token', message, { reason: `DPoP: ${reason}`, scheme: 'DPoP' });
};
