/**
 * Controlled identifiers: what a subject's own document says of its keys and identity providers (rules 15.11, 15.13). Documents come
 * through the outbound guard and are kept for a while.
 */
import { LRUCache } from 'lru-cache';
import { didWebUrl, expandDidKey } from '../authorization/did.js';
import type { PublicJwk } from '../authorization/multikey.js';
import type { Documents } from '../documents/documents.js';
import { LwsError } from '../errors.js';
import { clientOf } from '../fields/client-address.js';
import { parseMediaType } from '../fields/media-type.js';
import { decodeUtf8, parseJson } from '../json/json.js';
import type { GuardedFetch } from '../outbound/guarded-fetch.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { isRdfFormat, jsonLd } from '../rdf/formats.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { type ControlledIdentifier, documentOfQuads, interpret } from './cid-document.js';
import { assertNotBusy, isBusy, refusedCredential } from './suite.js';

/**
 * @param address on whose word others are asked: addresses take turns
 * @throws LwsError `invalid-token` when the document cannot be had, cannot be read, or is another's; `too-busy`
 */
export type IdentifierResolver = (subject: string, address: string) => Promise<ControlledIdentifier>;

export interface ResolverOptions {
  readonly fetch: GuardedFetch;
  readonly documents: Documents;
}

const keptMs = 300_000;
const failureKeptMs = 30_000;
/** Of what is kept of documents together. */
const maxKeptBytes = 8 << 20;
/** What a result takes beside its texts, about. */
const ownBytes = 1_000;
const accept =
  'application/lws+cid, application/did+json, application/json;q=0.9, text/turtle;q=0.8, application/ld+json;q=0.7, application/n-triples;q=0.5, application/trig;q=0.5';
const request = { maxBytes: 64 << 10, timeoutMs: 10_000, maxRedirects: 5, accept } as const;

type Found = { readonly identifier: ControlledIdentifier } | { readonly error: unknown };

export function identifierResolver(options: ResolverOptions): IdentifierResolver {
  // Everybody who needs a document while it is asked for waits for the same answer.
  const known = new LRUCache<string, Found, string>({
    maxSize: maxKeptBytes,
    ttl: keptMs,
    sizeCalculation: (found, subject) =>
      subject.length + ownBytes + ('identifier' in found ? JSON.stringify(found.identifier).length : 0),
    // One that others push out of the cache is awaited all the same.
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
});

async function resolve(
  subject: string,
  address: string,
  { fetch, documents }: ResolverOptions,
): Promise<ControlledIdentifier> {
  const url = didWebUrl(subject) ?? (/^https:\/\//i.test(subject) && URL.canParse(subject) ? subject : undefined);
  if (url === undefined)
    throw refusedCredential(
      'The subject is no identifier that can be looked up here.',
      `sub is ${subject.slice(0, 300)}`,
    );
  try {
    const { status, headers, body } = await fetch(withoutFragment(url), { ...request, client: clientOf(address) });
    if (status !== 200) throw unreadable(subject, `${url} answered ${status}`);
    const document = await readDocument(documents, subject, headers['content-type'], body, withoutFragment(url));
    return interpret(document, subject);
  } catch (error) {
    assertNotBusy(error);
    if (error instanceof OutboundError) throw unreadable(subject, `${error.code}: ${error.message}`, error);
    if (error instanceof LwsError && error.code !== 'invalid-token') throw unreadable(subject, error.message, error);
    throw error;
  }
}

const withoutFragment = (url: string): string => url.replace(/#.*$/s, '');

/** JSON is read by the names of the context, RDF by their IRIs; anything else is no document. */
async function readDocument(
  documents: Documents,
  subject: string,
  contentType: string | undefined,
  body: Buffer,
  base: string,
): Promise<unknown> {
  const mediaType = parseMediaType(contentType ?? '')?.essence ?? '';
  // RDF/XML has more ways to be slow than reasons to be used for keys.
  if (isRdfFormat(mediaType) && mediaType !== 'application/rdf+xml' && (mediaType !== jsonLd || !isPlain(body)))
    return documentOfQuads(decodeGraph(await documents.parseForeign(body, mediaType, base)), subject);
  if (mediaType !== 'application/json' && mediaType !== 'application/lws+cid' && !mediaType.endsWith('+json'))
    throw unreadable(subject, `the document is ${mediaType || 'of no media type'}`);
  return parseJson(decodeUtf8(body));
}

/** JSON-LD in the plain form of its context: an object with an `id`. Any other form is read as the graph that it is. */
function isPlain(body: Buffer): boolean {
  const value: unknown = parseJson(decodeUtf8(body));
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

const unreadable = (subject: string, reason: string, cause?: unknown): LwsError =>
  refusedCredential("The subject's document cannot be had.", `${subject.slice(0, 300)}: ${reason}`, cause);
