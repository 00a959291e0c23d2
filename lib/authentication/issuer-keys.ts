/**
 * Keys of other issuers. Metadata and JWKS are fetched with SSRF protection, and cached. For an unknown key, they are fetched
 * again, at most once a minute (rule 15.13).
 */
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { clientOf } from '../tools/fields/client-address.js';
import type { GuardedFetch } from '../tools/outbound/guarded-fetch.js';
import { OutboundError } from '../tools/outbound/outbound-error.js';
import { assertNotBusy, isBusy, refusedCredential } from './suite.js';

export interface IssuerKeys {
  /**
   * Returns the key with this ID.
   * @param address client for which the fetch is queued, if the operator did not configure the issuer
   * @throws LwsError `invalid-token` if the issuer cannot be reached, and `too-busy`
   */
  key(kid: string | undefined, algorithm: string, address?: string): Promise<CryptoKey | undefined>;
}

export interface IssuerKeysOptions {
  readonly fetch: GuardedFetch;
  readonly issuer: string;
  /** URL of the metadata. The metadata must contain `issuer`, and `jwks_uri` is the URL of the keys. */
  readonly metadataUrl: string;
  readonly clock: () => number;
}

/** Returns the well-known URL of an issuer's metadata, with the well-known segment before the path (RFC 8414 3.1). */
export function wellKnownOf(issuer: string, name: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/${name}${pathname.replace(/(?<!\/)\/+$/, '')}`;
}

/** Compares issuers, ignoring a trailing slash: operators and servers use both forms, which have the same metadata URL. */
export const isSameIssuer = (configured: string, told: unknown): boolean =>
  typeof told === 'string' && configured.replace(/\/$/, '') === told.replace(/\/$/, '');

const keptMs = 600_000;
/** Minimum interval between fetches after a failure or for an unknown key, in milliseconds. */
const againMs = 60_000;
const request = { maxBytes: 64 << 10, timeoutMs: 10_000, maxRedirects: 5, accept: 'application/json' } as const;

interface Fetched {
  readonly keys: readonly JWK[];
  readonly at: number;
}

export function issuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { clock } = options;
  let known: Fetched | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let underWay: Promise<Fetched> | undefined;
  /** Time of the last fetch for an unknown key, in milliseconds. */
  let refetchedAt = Number.NEGATIVE_INFINITY;
  const imported = new Map<string, Promise<CryptoKey>>();

  /** Fetches metadata and keys. Concurrent requests share one fetch. */
  const ask = (client?: string): Promise<Fetched> => {
    underWay ??= fetchKeys(options, client)
      .then((fetched) => {
        known = fetched;
        failure = undefined;
        imported.clear();
        return fetched;
      })
      .catch((error: unknown) => {
        if (!isBusy(error)) failure = { error, at: clock() };
        throw error;
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };
  const current = async (client?: string): Promise<Fetched> => {
    if (known && clock() - known.at < keptMs) return known;
    // Failures are cached, so that an unavailable issuer is not called for every request. Keys fetched earlier stay valid.
    if (failure && clock() - failure.at < againMs) {
      if (known) return known;
      throw failure.error;
    }
    return ask(client).catch((error: unknown) => {
      if (known) return known;
      throw error;
    });
  };
  /** Fetches the keys again, at most once a minute. */
  const again = async (client?: string): Promise<Fetched | undefined> => {
    if (underWay) return underWay.catch(() => known);
    if (clock() - refetchedAt < againMs) return undefined;
    refetchedAt = clock();
    return ask(client).catch(() => known);
  };

  return {
    async key(kid, algorithm, address) {
      const client = address === undefined ? undefined : clientOf(address);
      const jwk =
        select((await current(client)).keys, kid, algorithm) ??
        select((await again(client))?.keys ?? [], kid, algorithm);
      return jwk && importOnce(imported, jwk, algorithm);
    },
  };
}

function importOnce(imported: Map<string, Promise<CryptoKey>>, jwk: JWK, algorithm: string): Promise<CryptoKey> {
  const name = `${algorithm} ${JSON.stringify(jwk)}`;
  const key = imported.get(name) ?? importPublicKey(jwk, algorithm);
  imported.set(name, key);
  // Errors are not cached: the algorithm name comes from the client, and can be any text.
  key.catch(() => imported.delete(name));
  return key;
}

/** Returns the key with this `kid`. Without `kid`, returns the only key for the algorithm, or `undefined`. */
function select(keys: readonly JWK[], kid: string | undefined, algorithm: string): JWK | undefined {
  const fitting = keys.filter((key) => fits(key, algorithm));
  if (kid !== undefined) return fitting.find((key) => key.kid === kid);
  return fitting.length === 1 ? fitting[0] : undefined;
}

const kinds: Readonly<Record<string, string>> = { ES: 'EC', RS: 'RSA', PS: 'RSA', Ed: 'OKP' };

/** True if a JWK is a public key for signatures with an algorithm. */
export const fits = ({ kty, use, alg, d, k }: JWK, algorithm: string): boolean =>
  kty === kinds[algorithm.slice(0, 2)] &&
  (use === undefined || use === 'sig') &&
  (alg === undefined || alg === algorithm || (kty === 'OKP' && alg !== undefined)) &&
  d === undefined &&
  k === undefined;

/** Imports a public key. @throws LwsError `invalid-token` for an invalid key */
export async function importPublicKey(jwk: JWK, algorithm: string): Promise<CryptoKey> {
  try {
    return (await importJWK({ ...jwk }, algorithm)) as CryptoKey;
  } catch (error) {
    throw refusedCredential('The verification key is not valid.', (error as Error).message, error);
  }
}

async function fetchKeys(
  { fetch: unclaimed, issuer, metadataUrl, clock }: IssuerKeysOptions,
  client: string | undefined,
): Promise<Fetched> {
  const fetch: GuardedFetch = (url, given) => unclaimed(url, { ...given, client });
  const metadata = await fetchJson(fetch, metadataUrl, issuer);
  if (!isSameIssuer(issuer, metadata['issuer']))
    throw unavailable(
      issuer,
      `its metadata at ${metadataUrl} name the issuer ${String(metadata['issuer']).slice(0, 200)} instead of ${issuer}`,
    );
  const location = metadata['jwks_uri'];
  if (typeof location !== 'string') throw unavailable(issuer, 'its metadata have no jwks_uri');
  const { keys } = await fetchJson(fetch, location, issuer);
  if (!Array.isArray(keys)) throw unavailable(issuer, `${location} is not a JWKS`);
  return { keys: keys.filter((key) => typeof key === 'object' && key !== null) as JWK[], at: clock() };
}

async function fetchJson(fetch: GuardedFetch, url: string, issuer: string): Promise<Record<string, unknown>> {
  try {
    const { status, body } = await fetch(url, request);
    if (status !== 200) throw unavailable(issuer, `${url} answered ${status}`);
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    assertNotBusy(error);
    if (error instanceof OutboundError) throw unavailable(issuer, `${error.code}: ${error.message}`, error);
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw unavailable(issuer, `${url} is not a JSON object`);
}

const unavailable = (issuer: string, reason: string, cause?: unknown) =>
  refusedCredential('The keys of the issuer cannot be fetched.', `${issuer}: ${reason}`, cause);
