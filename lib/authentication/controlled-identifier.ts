/**
 * Controlled identifiers: reads the keys and identity providers from the document of a subject (rules 15.11, 15.13). Documents
 * are fetched with SSRF protection and cached.
 */
import { LRUCache } from 'lru-cache';
import { didWebUrl, expandDidKey } from '../authorization/did.js';
import type { PublicJwk } from '../authorization/multikey.js';
import type { Documents } from '../documents/documents.js';
import { isRdfFormat, jsonLd } from '../rdf/formats.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { lruCache } from '../tools/caches.js';
import { LwsError } from '../tools/errors.js';
import { clientOf } from '../tools/fields/client-address.js';
import { parseMediaType } from '../tools/fields/media-type.js';
import { decodeUtf8, parseJson } from '../tools/json/json.js';
import { isSecureUrl } from '../tools/outbound/address-policy.js';
import type { GuardedFetch, OutboundResponse } from '../tools/outbound/guarded-fetch.js';
import { OutboundError } from '../tools/outbound/outbound-error.js';
import { type ControlledIdentifier, documentOfQuads, interpret } from './cid-document.js';
import { assertNotBusy, isBusy, refusedCredential } from './suite.js';

/**
 * Returns the controlled identifier of a subject.
 * @param address client for which the fetch is queued (round robin)
 * @throws LwsError `invalid-token` if the document cannot be fetched or parsed, or belongs to another subject, and `too-busy`
 */
export type IdentifierResolver = (subject: string, address: string) => Promise<ControlledIdentifier>;

export interface ResolverOptions {
  readonly fetch: GuardedFetch;
  readonly documents: Documents;
  /** True for WebID documents: RDF at https URLs (http on loopback), relative to the URL after redirects (rule 20.11). */
  readonly areWebIds?: boolean;
}

const keptMs = 300_000;
const failureKeptMs = 30_000;
/** Maximum total size of cached documents, in bytes. */
const maxKeptBytes = 8 << 20;
/** Approximate memory overhead of a cached result, in bytes. */
const ownBytes = 1_000;
const accept =
  'application/lws+cid, application/did+json, application/json;q=0.9, text/turtle;q=0.8, application/ld+json;q=0.7, application/n-triples;q=0.5, application/trig;q=0.5';
const acceptRdf = 'text/turtle, application/ld+json;q=0.9, application/n-triples;q=0.5, application/trig;q=0.5';
const request = { maxBytes: 64 << 10, timeoutMs: 10_000, maxRedirects: 5 } as const;

type Found = { readonly identifier: ControlledIdentifier } | { readonly error: unknown };

/** Maximum count of cached documents. One document can describe any count of subjects. */
const maxPages = 100;

/** Returns a fetch function that caches a document for 30 s, for all subjects in the document. */
function oncePerDocument(fetch: GuardedFetch): GuardedFetch {
  const pages = lruCache<Promise<OutboundResponse>>(maxPages, failureKeptMs);
  return (target, options) => {
    const url = String(target);
    const known = pages.get(url);
    if (known) return known;
    const page = fetch(url, options);
    pages.set(url, page);
    page.catch((error: unknown) => {
      if (error instanceof OutboundError && error.code === 'busy') pages.delete(url);
    });
    return page;
  };
}

export function identifierResolver({ fetch, ...others }: ResolverOptions): IdentifierResolver {
  const options = { ...others, fetch: oncePerDocument(fetch) };
  // Concurrent requests for the same document share one fetch.
  const known = new LRUCache<string, Found, string>({
    maxSize: maxKeptBytes,
    ttl: keptMs,
    sizeCalculation: (found, subject) =>
      subject.length + ownBytes + ('identifier' in found ? JSON.stringify(found.identifier).length : 0),
    // If a fetch is evicted from the cache, its result is still awaited.
    ignoreFetchAbort: true,
    async fetchMethod(subject, _old, { options: kept, context: address }) {
      try {
        return { identifier: await resolve(subject, address, options) };
      } catch (error) {
        if (isBusy(error)) throw error;
        kept.ttl = failureKeptMs;
        return { error };
      }
    },
  });
  return async (subject, address) => {
    const own = expandDidKey(subject);
    if (own) return ofDidKey(subject, own);
    const found = (await known.fetch(subject, { context: address }))!;
    if ('error' in found) throw found.error;
    return found.identifier;
  };
}

const ofDidKey = (subject: string, { key, method }: { key: PublicJwk; method: string }): ControlledIdentifier => ({
  id: subject,
  authentication: [{ id: method, controller: subject, jwk: key, revoked: undefined, expires: undefined }],
  openIdProviders: [],
  oidcIssuers: [],
});

async function resolve(
  subject: string,
  address: string,
  { fetch, documents, areWebIds = false }: ResolverOptions,
): Promise<ControlledIdentifier> {
  const isUrl = areWebIds ? isSecureUrl(subject) : /^https:\/\//i.test(subject) && URL.canParse(subject);
  const url = didWebUrl(subject) ?? (isUrl ? subject : undefined);
  if (url === undefined)
    throw refusedCredential(
      'The identifier of the subject cannot be resolved by this server.',
      `sub is ${subject.slice(0, 300)}`,
    );
  try {
    const client = clientOf(address);
    const answer = await fetch(withoutFragment(url), { ...request, accept: areWebIds ? acceptRdf : accept, client });
    if (answer.status !== 200) throw unreadable(subject, `${url} answered ${answer.status}`);
    const base = areWebIds ? answer.url : withoutFragment(url);
    return interpret(await readDocument(documents, subject, answer, { base, areWebIds }), subject);
  } catch (error) {
    assertNotBusy(error);
    if (error instanceof OutboundError) throw unreadable(subject, `${error.code}: ${error.message}`, error);
    if (error instanceof LwsError && error.code !== 'invalid-token') throw unreadable(subject, error.message, error);
    throw error;
  }
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, '');

/** Parses a document: JSON by member names, RDF by IRIs. Rejects other media types. */
async function readDocument(
  documents: Documents,
  subject: string,
  { headers, body }: OutboundResponse,
  { base, areWebIds }: { readonly base: string; readonly areWebIds: boolean },
): Promise<unknown> {
  const mediaType = parseMediaType(headers['content-type'] ?? '')?.essence ?? '';
  const isGraph = isRdfFormat(mediaType) && (areWebIds || mediaType !== jsonLd || !isPlain(body));
  // RDF/XML is excluded: it is slow to parse and not used for keys.
  if (isGraph && mediaType !== 'application/rdf+xml')
    return documentOfQuads(decodeGraph(await documents.parseForeign(body, mediaType, base)), subject);
  if (areWebIds) throw unreadable(subject, `the document is ${mediaType || 'without a media type'}`);
  if (mediaType !== 'application/json' && mediaType !== 'application/lws+cid' && !mediaType.endsWith('+json'))
    throw unreadable(subject, `the document is ${mediaType || 'without a media type'}`);
  return parseJson(decodeUtf8(body));
}

/** True for JSON-LD in plain form: an object with an `id`. Other JSON-LD is parsed as a graph. */
function isPlain(body: Buffer): boolean {
  const value: unknown = parseJson(decodeUtf8(body));
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

const unreadable = (subject: string, reason: string, cause?: unknown): LwsError =>
  refusedCredential('The document of the subject cannot be fetched.', `${subject.slice(0, 300)}: ${reason}`, cause);
