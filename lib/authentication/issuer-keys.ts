/**
 * Keys of other servers: their metadata and JWKS through the outbound guard, cached, and asked for again when a token names a key that is
 * not known, at most once a minute (rule 15.13).
 */
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { clientOf } from '../fields/client-address.js';
import type { GuardedFetch } from '../outbound/guarded-fetch.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { assertNotBusy, isBusy, refusedCredential } from './suite.js';

export interface IssuerKeys {
  /**
   * The key of that id.
   * @param address on whose word an issuer is asked that the operator did not name
   * @throws LwsError `invalid-token` when the issuer cannot be asked; `too-busy`
   */
  key(kid: string | undefined, algorithm: string, address?: string): Promise<CryptoKey | undefined>;
}

export interface IssuerKeysOptions {
  readonly fetch: GuardedFetch;
  readonly issuer: string;
  /** Where the metadata lies, whose `issuer` must be the issuer and whose `jwks_uri` names the keys. */
  readonly metadataUrl: string;
  readonly clock: () => number;
}

/** The well-known location of an issuer's metadata: inserted before its path (RFC 8414 3.1). */
export function wellKnownOf(issuer: string, name: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/${name}${pathname.replace(/(?<!\/)\/+$/, '')}`;
}

/** Whether two issuers are one: operators and servers disagree about the slash at the end, which the metadata's address lacks anyway. */
export const isSameIssuer = (configured: string, told: unknown): boolean =>
  typeof told === 'string' && configured.replace(/\/$/, '') === told.replace(/\/$/, '');

const keptMs = 600_000;
/** After a failure or for an unknown key: how soon the issuer is asked again. */
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
  /** When the keys were asked for again because of a key that was not known. */
  let refetchedAt = Number.NEGATIVE_INFINITY;
  const imported = new Map<string, Promise<CryptoKey>>();

  /** Everybody who needs the keys while they are asked for waits for the same answer. */
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
    // A failure is remembered for a while: an issuer that is down is not asked once per request. Its old keys still count.
    if (failure && clock() - failure.at < againMs) {
      if (known) return known;
      throw failure.error;
    }
    return ask(client).catch((error: unknown) => {
      if (known) return known;
      throw error;
    });
  };
  /** The keys after another look, at most once a minute. */
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
  // The name of an algorithm is the caller's, and may be any text.
  key.catch(() => imported.delete(name));
  return key;
}

/** With a kid exactly that key; without one the only key that fits the algorithm. */
function select(keys: readonly JWK[], kid: string | undefined, algorithm: string): JWK | undefined {
  const fitting = keys.filter((key) => fits(key, algorithm));
  if (kid !== undefined) return fitting.find((key) => key.kid === kid);
  return fitting.length === 1 ? fitting[0] : undefined;
}

const kinds: Readonly<Record<string, string>> = { ES: 'EC', RS: 'RSA', PS: 'RSA', Ed: 'OKP' };

/** A public key for signatures of that algorithm. */
export const fits = ({ kty, use, alg, d, k }: JWK, algorithm: string): boolean =>
  kty === kinds[algorithm.slice(0, 2)] &&
  (use === undefined || use === 'sig') &&
  (alg === undefined || alg === algorithm || (kty === 'OKP' && alg !== undefined)) &&
  d === undefined &&
  k === undefined;

/** @throws LwsError `invalid-token` for a key that is none */
export async function importPublicKey(jwk: JWK, algorithm: string): Promise<CryptoKey> {
  try {
    return (await importJWK({ ...jwk }, algorithm)) as CryptoKey;
  } catch (error) {
    throw refusedCredential('The verification key cannot be used.', (error as Error).message, error);
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
      `its metadata at ${metadataUrl} say that the issuer is ${String(metadata['issuer']).slice(0, 200)}, and not ${issuer}`,
    );
  const location = metadata['jwks_uri'];
  if (typeof location !== 'string') throw unavailable(issuer, 'its metadata have no jwks_uri');
  const { keys } = await fetchJson(fetch, location, issuer);
  if (!Array.isArray(keys)) throw unavailable(issuer, `${location} is no JWKS`);
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
  throw unavailable(issuer, `${url} is no JSON object`);
}

const unavailable = (issuer: string, reason: string, cause?: unknown) =>
  refusedCredential('The keys of the issuer cannot be had.', `${issuer}: ${reason}`, cause);
