/** Reading data resources: the rendered graph of an RDF resource, the bytes of any other. */
import type { Readable } from 'node:stream';
import { type RdfFormat, rdfXml } from '../rdf/formats.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { DamagedBlobError } from '../storage/keys/blob-integrity.js';
import { blobFacts, type ResourceRecord } from '../storage/keys/records.js';
import type { Obtained, Representation } from './representations.js';
import type { Storage } from './storage.js';
import { variantOf } from './variants.js';

/** Blobs up to this size are kept in memory beside the renderings. */
const cachedBlobBytes = 1 << 20;

/**
 * An RDF resource in a serialisation; in `fallback` where RDF/XML has no way to write the graph. `undefined` when it was
 * deleted since `record` was read; a newer state is answered when it changed. A large graph, which is written as lines, is
 * `undefined` too, but for RDF/XML where that can be written.
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
    found?.tag === '' ? rdfRepresentation(storage, record, { format: fallback, fallback }) : found;
  return built instanceof Promise ? built.then(orFallback) : orFallback(built);
}

/** Remembers that a format cannot express the graph. */
const unwritable = { tag: '', mediaType: '', bytes: Buffer.alloc(0) };

/** Whether the bytes are held in memory, once they were read. */
export const isSmall = ({ size }: ResourceRecord): boolean => size <= cachedBlobBytes;

/**
 * The bytes of a small blob, from memory or the disk; `undefined` when the resource was replaced or deleted since.
 * @throws DamagedBlobError
 */
export async function smallBlob(storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> {
  const { mediaType, revision, iri } = record;
  const built = await storage.representations.obtain(iri, 'blob', revision, async () => {
    const bytes = await blobBytes(storage, record);
    return bytes && { revision, tag: revision, mediaType, bytes };
  });
  return built?.bytes;
}

/** The bytes of a blob from the disk; otherwise like `smallBlob`. */
export const blobBytes = (storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> =>
  unlessReplaced(storage, record, () => storage.store.blobs.bytes(blobFacts(record)));

/** A stream over the bytes of a blob, from `start` to `end` inclusive; otherwise like `smallBlob`. */
export const blobStream = (
  storage: Storage,
  record: ResourceRecord,
  range?: { start: number; end: number },
): Promise<Readable | undefined> =>
  unlessReplaced(storage, record, () => storage.store.blobs.read(blobFacts(record), range));

/** The blob goes after the commit that replaced it: one that is not there while its record stands was lost. */
async function unlessReplaced<T>(
  { store }: Storage,
  { iri, blob }: ResourceRecord,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Another server may have replaced it just now.
    await store.coordination.freshen();
    if (store.record(iri)?.blob !== blob) return undefined;
    throw new DamagedBlobError(blob!, 'is missing');
  }
}
