/** Reads data resources: the serialized graph of an RDF resource, the bytes of any other resource. */
import type { Readable } from 'node:stream';
import { type RdfFormat, rdfXml, turtle } from '../rdf/formats.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { DamagedBlobError } from '../storage/keys/blob-integrity.js';
import { blobFacts, type ResourceRecord } from '../storage/keys/records.js';
import type { Obtained, Representation } from './representations.js';
import type { Storage } from './storage.js';
import { variantOf } from './variants.js';

/** Maximum size in bytes of a blob that is cached like a rendering. */
const cachedBlobBytes = 1 << 20;

/**
 * Renders an RDF resource in `format`, or in `fallback` if `format` cannot express the graph. If the resource has changed since
 * `record` was read, renders the newer state.
 * @returns `undefined` if the resource was deleted, and for a large graph, which is streamed as lines (except in RDF/XML within
 * its limit)
 */
export function rdfRepresentation(
  storage: Storage,
  record: ResourceRecord,
  { format, fallback }: { readonly format: RdfFormat; readonly fallback: RdfFormat },
): Obtained {
  const built = storage.representations.obtain(record.iri, format, record.revision, async () => {
    const found = await storage.store.graph(record.iri);
    if (found?.record.kind !== 'rdf') return undefined;
    const { keys, record: current } = found;
    if (isLargeGraph(keys.length) && format !== rdfXml) return undefined;
    const rendered = await storage.documents.render(keys, format, record.iri, current.prefixes ?? {});
    if (!rendered) return { ...unwritable, revision: current.revision };
    return {
      revision: current.revision,
      tag: `${current.revision}.${variantOf(format)}`,
      mediaType: format,
      bytes: Buffer.from(rendered.buffer, rendered.byteOffset, rendered.byteLength),
    };
  });
  const orFallback = (found: Representation | undefined): Obtained =>
    found?.tag === '' ? rdfRepresentation(storage, record, { format: fallback, fallback: turtle }) : found;
  return built instanceof Promise ? built.then(orFallback) : orFallback(built);
}

/** Cache entry for a format that cannot express the graph. */
const unwritable = { tag: '', mediaType: '', bytes: Buffer.alloc(0) };

/** Returns true if the bytes are kept in memory after the first read. */
export const isSmall = ({ size }: ResourceRecord): boolean => size <= cachedBlobBytes;

/** Returns the bytes of a small blob, or `undefined` if the resource was replaced or deleted. @throws DamagedBlobError */
export async function smallBlob(storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> {
  const { mediaType, revision, iri } = record;
  const built = await storage.representations.obtain(iri, 'blob', revision, async () => {
    const bytes = await blobBytes(storage, record);
    return bytes && { revision, tag: revision, mediaType, bytes };
  });
  return built?.bytes;
}

/** Like `smallBlob`, but reads the blob from disk. */
export const blobBytes = (storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> =>
  unlessReplaced(storage, record, () => storage.store.blobs.bytes(blobFacts(record)));

/** Like `smallBlob`, but returns a stream of the bytes from `start` to `end` inclusive. */
export const blobStream = (
  storage: Storage,
  record: ResourceRecord,
  range?: { start: number; end: number },
): Promise<Readable | undefined> =>
  unlessReplaced(storage, record, () => storage.store.blobs.read(blobFacts(record), range));

/** Reads a blob. Returns `undefined` if it is missing because its resource changed. @throws DamagedBlobError if it was lost */
async function unlessReplaced<T>(
  { store }: Storage,
  { iri, blob }: ResourceRecord,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Another server may have replaced the resource. Apply its changes first.
    await store.coordination.freshen();
    if (store.record(iri)?.blob !== blob) return undefined;
    throw new DamagedBlobError(blob!, 'is missing');
  }
}
