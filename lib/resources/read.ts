/** Reading data resources: the rendered graph of an RDF resource, the bytes of any other. It must not know HTTP. */
import type { Readable } from 'node:stream';
import { type RdfFormat, turtle } from '../rdf/formats.js';
import type { ResourceRecord } from '../storage/records.js';
import type { Representation } from './representations.js';
import type { Storage } from './storage.js';
import { variantOf } from './variants.js';

/** Blobs up to this size are kept in memory beside the renderings. */
const cachedBlobBytes = 1 << 20;

/**
 * An RDF resource in a serialisation; Turtle where RDF/XML has no way to write the graph. `undefined` when it was
 * deleted since `record` was read; a newer state is answered when it changed.
 */
export async function rdfRepresentation(
  storage: Storage,
  record: ResourceRecord,
  format: RdfFormat,
): Promise<Representation | undefined> {
  const built = await storage.representations.obtain(record.iri, format, record.revision, async () => {
    const found = await storage.store.graph(record.iri);
    if (found?.record.kind !== 'rdf') return undefined;
    const { keys, record: current } = found;
    const rendered = await storage.documents.render(keys, format, record.iri, current.prefixes ?? {});
    if (!rendered) return { ...unwritable, revision: current.revision };
    return {
      revision: current.revision,
      tag: `${current.revision}.${variantOf(format)}`,
      mediaType: format,
      bytes: Buffer.from(rendered.buffer, rendered.byteOffset, rendered.byteLength),
    };
  });
  return built?.tag === '' ? rdfRepresentation(storage, record, turtle) : built;
}

/** Remembers that a format cannot express the graph. */
const unwritable = { tag: '', mediaType: '', bytes: Buffer.alloc(0) };

/** The bytes of a small blob, from memory or the disk; `undefined` for one that is too large to be held. */
export async function smallBlob(storage: Storage, record: ResourceRecord): Promise<Buffer | undefined> {
  if (record.size > cachedBlobBytes || !record.blob) return undefined;
  const { blob, mediaType, revision, iri } = record;
  const built = await storage.representations.obtain(iri, 'blob', revision, async () => ({
    revision,
    tag: revision,
    mediaType,
    bytes: await storage.store.blobs.bytes(blob),
  }));
  return built?.bytes;
}

/** A stream over the bytes of a blob, from `start` to `end` inclusive. */
export const blobStream = (
  storage: Storage,
  record: ResourceRecord,
  range?: { start: number; end: number },
): Promise<Readable> => storage.store.blobs.read(record.blob!, range);
