/** Response to a GET or HEAD of a resource: representation, validators, ranges, digests. */
import type { IncomingMessage } from 'node:http';
import type { Access } from '../authorization/principal.js';
import { jsonLd, type RdfFormat, rdfXml, turtle } from '../rdf/formats.js';
import { sha512OfBlob } from '../resources/blob-digest.js';
import { hasLines, LargeGraph, lengthOf } from '../resources/large-graph.js';
import { type Listing, wholeAsPage } from '../resources/listing-documents.js';
import { jsonListing, rdfListing } from '../resources/membership.js';
import { isNotModified, isStrongDate, undated } from '../resources/preconditions.js';
import { blobStream, isSmall, rdfRepresentation, smallBlob } from '../resources/read.js';
import type { Representation } from '../resources/representations.js';
import type { Storage } from '../resources/storage.js';
import { variantOf } from '../resources/variants.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { formatHttpDate, parseHttpDate } from '../tools/fields/date.js';
import type { DigestAlgorithm } from '../tools/fields/digest.js';
import { formatEntityTag, parseEntityTags } from '../tools/fields/etag.js';
import { type ByteRange, formatContentRange, parseByteRange } from '../tools/fields/range.js';
import { digestFields, digestOf, wantedDigests } from './digests.js';
import { chooseFormatBut, chooseListing, chooseRdfFormat, contentTypeOf, type ListingType } from './negotiate.js';
import { pageLinks, pageOf } from './paging.js';
import type { Reply } from './reply.js';
import { field, preconditions } from './request.js';
import { isConditional, keptReplies, notModified, recordFields, revalidate } from './state-fields.js';

/** Media types that a browser would run as a page in this origin (rule 7.5). */
const executable =
  /^(?:text\/html|image\/svg\+xml|application\/xhtml\+xml|(?:text|application)\/(?:xml|xslt|xsl|rdf\+xml)|[^;]+\+xml)$/;

/** Media types that browsers may show if all callers can read them. A sandbox prevents scripts, forms and subresources. */
const pages = new Set(['text/html', 'application/xhtml+xml']);

const isPublic = ({ store: view, authorizer }: Storage, record: ResourceRecord): boolean | Promise<boolean> =>
  authorizer.allows({ view, access: {}, mode: 'read', iri: record.iri, record });

/** Returns the response to a read of a data resource, or `undefined` if the resource was deleted meanwhile. */
export function representData(
  storage: Storage,
  req: IncomingMessage,
  record: ResourceRecord,
): Reply | undefined | Promise<Reply | undefined> {
  return record.kind === 'rdf' ? representRdf(storage, req, record) : representBytes(storage, req, record);
}

const isText = ({ kind, mediaType }: ResourceRecord): boolean => kind === 'json' || /^text\//i.test(mediaType);

async function representBytes(
  storage: Storage,
  req: IncomingMessage,
  record: ResourceRecord,
): Promise<Reply | undefined> {
  const { revision, size, mediaType } = record;
  const fields: Record<string, string> = Object.assign({}, recordFields(storage, record), {
    ETag: formatEntityTag(revision),
    'Content-Type': mediaType,
    'Cache-Control': revalidate,
    'Accept-Ranges': 'bytes',
  });
  const type = mediaType.split(';', 1)[0]!.trim().toLowerCase();
  // The field is sent even if the value is `inline`, because a 304 updates the fields of a cached response.
  if (executable.test(type))
    fields['Content-Disposition'] = pages.has(type) && (await isPublic(storage, record)) ? 'inline' : 'attachment';
  if (isConditional(req) && isNotModified(preconditions(req), revision, record))
    return notModified(fields, isText(record));
  const range = requestedRange(req, record);
  if (range === 'unsatisfiable')
    throw new LwsError('range-not-satisfiable', `The resource has ${size} bytes.`, {
      fields: { 'Content-Range': `bytes */${size}` },
    });
  return bytesReply(storage, req, record, fields, range);
}

/** Returns the requested range. Only for GET (RFC 9110 14.2), and with If-Range only if the state is the same (13.1.5). */
function requestedRange(req: IncomingMessage, record: ResourceRecord): ByteRange | 'unsatisfiable' | undefined {
  const { range } = req.headers;
  if (range === undefined || req.method !== 'GET') return undefined;
  const condition = field(req, 'if-range');
  if (condition !== undefined) {
    const tags = parseEntityTags(condition);
    const holds =
      tags && tags !== '*'
        ? tags.length === 1 && !tags[0]!.weak && tags[0]!.opaque === record.revision
        : isStrongDate(record, parseHttpDate(condition) ?? Number.NaN);
    if (!holds) return undefined;
  }
  return parseByteRange(range, record.size);
}

async function bytesReply(
  storage: Storage,
  req: IncomingMessage,
  record: ResourceRecord,
  fields: Record<string, string>,
  range: ByteRange | undefined,
): Promise<Reply | undefined> {
  const { size, sha256 } = record;
  const small = isSmall(record) ? await smallBlob(storage, record) : undefined;
  if (isSmall(record) && !small) return undefined;
  const wanted = wantedDigests(req, range === undefined);
  // Only the SHA-256 is stored with the content. For other digests, the content must be read.
  const needsBytes = wanted.repr === 'sha-512' || wanted.content === 'sha-512';
  const sha512 = needsBytes ? (small ? digestOf('sha-512', small) : await sha512OfBlob(storage, record)) : undefined;
  if (needsBytes && !sha512) return undefined;
  Object.assign(
    fields,
    digestFields(wanted, (algorithm) => (algorithm === 'sha-512' ? sha512! : Buffer.from(sha256!, 'base64'))),
  );
  if (range) {
    fields['Content-Range'] = formatContentRange(range, size);
    fields['Content-Length'] = String(range.end - range.start + 1);
    const body = small?.subarray(range.start, range.end + 1) ?? (await blobStream(storage, record, range));
    return body && { status: 206, fields, body };
  }
  fields['Content-Length'] = String(size);
  const isCodable = isText(record);
  if (small) return { status: 200, fields, body: small, isCodable };
  if (req.method === 'HEAD') return { status: 200, fields, isCodable };
  const body = await blobStream(storage, record);
  return body && { status: 200, fields, body, isCodable };
}

/** Returns the response to a read of a container. @throws LwsError `invalid-page`, `page-not-found` */
export async function representContainer(
  storage: Storage,
  req: IncomingMessage,
  access: Access,
  record: ResourceRecord,
  query: string | undefined,
): Promise<Reply> {
  const page = pageOf(query);
  const choice = chooseListing(req.headers.accept);
  const listing =
    choice.as === 'json'
      ? await jsonListing(storage, access, record, page)
      : wholeAsPage(storage.limits.pageSize, await rdfListing(storage, access, record, choice.format), page);
  const fieldsOf = () => ({ ...recordFields(storage, record), 'Last-Modified': formatHttpDate(listing.modified) });
  return listingReply(req, choice, { iri: record.iri, fieldsOf, listing });
}

/** Returns a listing in the negotiated form with page links. */
export function listingReply(
  req: IncomingMessage,
  choice: ListingType,
  {
    iri,
    fieldsOf,
    listing,
  }: { readonly iri: string; readonly fieldsOf: () => Record<string, string>; readonly listing: Listing },
): Reply {
  const contentType = choice.as === 'json' ? choice.contentType : choice.format;
  // The three JSON types have the same bytes, but a strong entity tag belongs to one media type.
  const isOther = choice.as === 'json' && contentType !== 'application/lws+json';
  const tag = isOther ? listing.tag + tagSuffix(contentType) : listing.tag;
  const { whole, unchanged } = keptReplies(listing, contentType, () => {
    const fields: Record<string, string> = {
      ...fieldsOf(),
      Vary: 'Accept',
      'Cache-Control': 'private, no-store',
      ETag: formatEntityTag(tag),
    };
    if (listing.pages) fields['Link'] += `, ${pageLinks(iri, listing.pages.page, listing.pages.last)}`;
    return fields;
  });
  const state = listing.isPartial ? undated : listing;
  return isConditional(req) && isNotModified(preconditions(req), tag, state) ? unchanged : whole;
}

const tagSuffix = (contentType: string): string =>
  contentType === 'application/json' ? '.j' : contentType === 'application/ld+json' ? '.ld' : '.p';

/** Syntaxes that cannot replace RDF/XML, by the RDF version that the graph requires. */
const xmlAnd = { '1.1': [rdfXml], '1.2-basic': [rdfXml], '1.2': [rdfXml, jsonLd] } as const;

/** Returns the response to a read of an RDF resource, or `undefined` if the resource has changed and must be read again. */
function representRdf(
  storage: Storage,
  req: IncomingMessage,
  record: ResourceRecord,
): Reply | undefined | Promise<Reply | undefined> {
  const { accept } = req.headers;
  const format = chooseRdfFormat(accept, record.rdfVersion);
  // RDF/XML cannot express every graph, and is not streamed.
  const others =
    format === rdfXml ? chooseFormatBut(accept, xmlAnd[record.rdfVersion ?? '1.1'], record.rdfVersion) : format;
  // A later state of the graph may have triple terms, which JSON-LD cannot express.
  const fallback = format === jsonLd ? turtle : others;
  const found = hasLines(format, record) ? undefined : rdfRepresentation(storage, record, { format, fallback });
  const replyOf = (representation: Representation | undefined) =>
    graphReply({ storage, req, record, format: others }, representation);
  return found instanceof Promise ? found.then(replyOf) : replyOf(found);
}

interface AskedGraph {
  readonly storage: Storage;
  readonly req: IncomingMessage;
  readonly record: ResourceRecord;
  readonly format: RdfFormat;
}

function graphReply(
  asked: AskedGraph,
  representation: Representation | undefined,
): Reply | undefined | Promise<Reply | undefined> {
  const { storage, req, record } = asked;
  if (!representation) return isLargeGraph(record.triples ?? 0) ? representLines(asked) : undefined;
  const current = representation.revision === record.revision ? record : (storage.store.record(record.iri) ?? record);
  const contentType = contentTypeOf(representation.mediaType, current.rdfVersion);
  const { whole, unchanged } = keptReplies(representation, contentType, () =>
    graphFields(storage, current, { contentType, tag: representation.tag }),
  );
  if (!isConditional(req)) return whole;
  // Most caches send only the entity tag that they received.
  const isSame = req.headers['if-none-match'] === whole.fields['ETag'];
  return isSame || isNotModified(preconditions(req), representation.tag, current) ? unchanged : whole;
}

const graphFields = (
  storage: Storage,
  record: ResourceRecord,
  { contentType, tag }: { readonly contentType: string; readonly tag: string },
): Record<string, string> =>
  Object.assign({}, recordFields(storage, record), {
    'Content-Type': contentType,
    Vary: 'Accept',
    'Cache-Control': revalidate,
    ETag: formatEntityTag(tag),
  });

/** Returns a large graph as a stream of lines, or `undefined` if the graph is no longer large. */
async function representLines({ storage, req, record, format }: AskedGraph): Promise<Reply | undefined> {
  const tag = `${record.revision}.${variantOf(format)}`;
  const fields = lineFields(storage, record, format);
  if (isConditional(req) && isNotModified(preconditions(req), tag, record)) return notModified(fields, true);
  const wanted = wantedDigests(req, true);
  const isHead = req.method === 'HEAD' && lengthOf(format, record) !== undefined;
  if (isHead && !wanted.repr && !wanted.content) return { status: 200, fields, isCodable: true };
  const graph = await LargeGraph.open(storage, record.iri, format);
  if (!graph) return undefined;
  try {
    const own = lineFields(storage, graph.record, format);
    const digests = new Map<DigestAlgorithm, Buffer>();
    for (const algorithm of Object.values(wanted))
      if (algorithm && !digests.has(algorithm)) digests.set(algorithm, await graph.digest(algorithm));
    Object.assign(
      own,
      digestFields(wanted, (algorithm) => digests.get(algorithm)!),
    );
    // For HEAD, the graph is opened, but not read.
    if (!isHead) return { status: 200, fields: own, body: graph.stream(), isCodable: true };
    await graph.close();
    return { status: 200, fields: own, isCodable: true };
  } catch (error) {
    await graph.close();
    throw error;
  }
}

function lineFields(storage: Storage, record: ResourceRecord, format: RdfFormat): Record<string, string> {
  const tag = `${record.revision}.${variantOf(format)}`;
  const length = lengthOf(format, record);
  const fields = graphFields(storage, record, { contentType: contentTypeOf(format, record.rdfVersion), tag });
  return length === undefined ? fields : { ...fields, 'Content-Length': String(length) };
}
