/** Content negotiation (rule 7.1). The response is never 406. */
import type { IncomingMessage } from 'node:http';
import type { LRUCache } from 'lru-cache';
import { lwsContext } from '../rdf/contexts.js';
import { type RdfFormat, rdfFormats, turtle } from '../rdf/formats.js';
import { linksetJson } from '../resources/methods.js';
import type { RdfVersion } from '../storage/keys/key-layout.js';
import { lruCache } from '../tools/caches.js';
import { getOrMake } from '../tools/collections.js';
import { chooseMediaType, type MediaRange, parseAccept, qualityOf } from '../tools/fields/accept.js';
import { without } from '../tools/fields/syntax.js';

export const lwsJson = 'application/lws+json';
export const lwsCid = 'application/lws+cid';

const jsonLd = 'application/ld+json';
/** Media types of listings. If several are equally preferred, the first is chosen. */
const listingTypes = [lwsJson, jsonLd, 'application/json', ...rdfFormats] as const;

export type ListingType =
  | { readonly as: 'json'; readonly contentType: string }
  | { readonly as: 'rdf'; readonly format: RdfFormat };

// Cached choices by `Accept` value, because clients send the same few values.
const rdfChoices = lruCache<RdfFormat>(500);
const listingChoices = lruCache<ListingType>(500);

function remembered<T extends object | string>(
  cache: LRUCache<string, T>,
  accept: string | undefined,
  choose: (ranges: readonly MediaRange[] | undefined) => T,
): T {
  return accept === undefined
    ? choose(undefined)
    : getOrMake<string, T>(cache, accept, () => choose(acceptedRanges(accept)));
}

/**
 * Returns the media ranges of `Accept`. A `profile` parameter is a preference for a form of JSON-LD and excludes no other form
 * (RFC 6906 3.1). A `version` parameter excludes graphs that require a later version of RDF.
 * @param required version that the graph requires
 */
export const acceptedRanges = (accept: string, required?: RdfVersion): readonly MediaRange[] | undefined =>
  parseAccept(accept)
    ?.filter(({ parameters }) => required === undefined || !excluding[required].includes(parameters.get('version')))
    .map((range) => {
      if (!range.parameters.has('profile') && !range.parameters.has('version')) return range;
      return { ...range, parameters: without(without(range.parameters, 'profile'), 'version') };
    });

const excluding: Readonly<Record<RdfVersion, readonly (string | undefined)[]>> = {
  '1.2-basic': ['1.1'],
  '1.2': ['1.1', '1.2-basic'],
};

const profiled = `${jsonLd}; profile="${lwsContext}"`;
const wantsProfile = (accept: string): boolean =>
  parseAccept(accept)?.some(
    ({ subtype, parameters }) => subtype === 'ld+json' && parameters.get('profile')?.split(' ').includes(lwsContext),
  ) === true;

/**
 * Returns the RDF syntax of a response by q, specificity and order. Returns Turtle if nothing matches.
 * @param version that the graph requires; triple terms exclude JSON-LD
 */
export const chooseRdfFormat = (accept: string | undefined, version?: RdfVersion): RdfFormat =>
  version
    ? chooseFormatBut(accept, version === '1.2' ? [jsonLd] : [], version)
    : remembered(rdfChoices, accept, (ranges) => formatAmong(rdfFormats, ranges));

/** Like `chooseRdfFormat`, without syntaxes that cannot express the graph, and without RDF/XML for very large graphs. */
export const chooseFormatBut = (
  accept: string | undefined,
  excluded: readonly RdfFormat[],
  version?: RdfVersion,
): RdfFormat =>
  formatAmong(
    rdfFormats.filter((format) => !excluded.includes(format)),
    accept === undefined ? undefined : acceptedRanges(accept, version),
  );

/** Returns the Content-Type of a graph. Only terms of RDF 1.2 require the parameter `version`, which JSON-LD 1.1 lacks. */
export const contentTypeOf = (format: string, version: RdfVersion | undefined): string =>
  version && format !== jsonLd ? `${format}; version=1.2` : format;

const formatAmong = (formats: readonly RdfFormat[], ranges: readonly MediaRange[] | undefined): RdfFormat =>
  ((ranges && chooseMediaType(ranges, formats)) as RdfFormat | undefined) ?? turtle;

/**
 * Returns the form of a container listing. `application/json`, and `application/ld+json` without a profile, get the document of
 * `application/lws+json` with the requested type.
 */
export const chooseListing = (accept: string | undefined): ListingType =>
  remembered(listingChoices, accept, (ranges): ListingType => {
    const chosen = (ranges && chooseMediaType(ranges, listingTypes)) ?? lwsJson;
    if (chosen === jsonLd) return { as: 'json', contentType: wantsProfile(accept!) ? profiled : chosen };
    return chosen === lwsJson || chosen === 'application/json'
      ? { as: 'json', contentType: chosen }
      : { as: 'rdf', format: chosen as RdfFormat };
  });

/** Returns the preferred RDF syntax for a linkset, or `undefined` if a linkset document is preferred (rule 20.12). */
export function chooseDescription(accept: string | undefined): RdfFormat | undefined {
  const ranges = accept === undefined ? undefined : acceptedRanges(accept);
  const chosen = ranges && chooseMediaType(ranges, [linksetJson, ...rdfFormats]);
  return chosen === linksetJson ? undefined : (chosen as RdfFormat | undefined);
}

/**
 * True for a GET or HEAD of a browser that shows a page to a person: the request has no credential, and `Accept` prefers HTML
 * to all offered types (rule 7.3).
 */
export function prefersPage({ method, headers }: IncomingMessage, offers: readonly string[] = listingTypes): boolean {
  const { accept, authorization } = headers;
  if (!accept?.includes('text/html') || authorization !== undefined || (method !== 'GET' && method !== 'HEAD'))
    return false;
  return chooseMediaType(parseAccept(accept) ?? [], [...offers, lwsCid, 'text/html']) === 'text/html';
}

/** True if `Accept` prefers the storage description at `/` at least as much as the best type of a listing (rule 7.3). */
export function prefersDescription(accept: string | undefined): boolean {
  const ranges = accept === undefined ? undefined : acceptedRanges(accept);
  if (!ranges) return true;
  const best = Math.max(...listingTypes.map((type) => qualityOf(ranges, type)));
  const description = qualityOf(ranges, lwsCid);
  return description >= best && (description > 0 || best === 0);
}
