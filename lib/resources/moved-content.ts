/** What MOVE and COPY write at the new names: graphs with other names, their sizes, and copies of blobs. Made outside of transactions. */
import { assertGrown } from '../rdf/bounds.js';
import { turtle } from '../rdf/formats.js';
import type { BlobWriter } from '../storage/blobs/blobs.js';
import { defaultTurtle, isLargeGraph } from '../storage/graphs/graph-lines.js';
import { IriRewriting } from '../storage/keys/iri-rewriting.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { keyInGraph } from '../storage/keys/quad-keys.js';
import { blobFacts, isContainerIri, type ResourceRecord } from '../storage/keys/records.js';
import { yieldToEventLoop } from '../storage/transactions/batch-filling.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { RevisionConflict } from './optimistic-retry.js';
import type { Storage } from './storage.js';
import type { WriteRequest } from './write.js';

export interface MoveRequest extends Omit<WriteRequest, 'links' | 'model'> {
  /** New IRI, in the same storage. */
  readonly destination: string;
  /** The source stays. */
  readonly copies: boolean;
  /** `Overwrite`. Absent: true, unless the storage requires conditional writes. */
  readonly overwrites: boolean | undefined;
  /** `Depth`: false copies a container without its members. */
  readonly isDeep: boolean;
  /** `Prefer: rewrite-links`: IRIs of what is moved are rewritten in its graphs and links. */
  readonly rewrites: boolean;
  /** Returns the owner of a resource after it was moved into the trash or out of it. Absent: it keeps its owner. */
  readonly ownerAfter?: (tx: Transaction, from: ResourceRecord) => string | undefined;
}

/** A request with the rewriting of the IRIs of what is moved. */
export type Moving = MoveRequest & { readonly rewriting: IriRewriting };

/** A resource with its new name. */
export interface Placed {
  readonly record: ResourceRecord;
  readonly iri: string;
  /** New content of an RDF resource. */
  readonly graph?: { readonly keys: readonly string[]; readonly size: number };
  /** Copy of the bytes of another resource. */
  readonly blob?: BlobWriter;
}

/** Prepares one resource. @throws RevisionConflict if it was changed since its record was read, LwsError `too-large` for a long name */
export async function place(
  storage: Storage,
  request: Moving,
  { record, iri }: Pick<Placed, 'record' | 'iri'>,
): Promise<Placed> {
  if (record.kind !== 'rdf')
    return record.blob === undefined || !request.copies
      ? { record, iri }
      : { record, iri, blob: await copyOf(storage, record) };
  const found = await storage.store.graph(record.iri);
  if (found?.record.revision !== record.revision) throw new RevisionConflict(record.iri);
  // Every key has the name of its graph, and up to three other terms that are rewritten.
  const grown = Math.max(0, iri.length - record.iri.length) * found.keys.length * (request.rewrites ? 4 : 1);
  assertGrown({ before: 0, after: found.keys.length, characters: grown }, 0, { triples: found.keys.length });
  const keys = request.rewrites
    ? await rewritten(found.keys, request.rewriting)
    : found.keys.map((key) => keyInGraph(key, iri));
  return { record, iri, graph: { keys, size: await sizeOf(storage, iri, { keys, prefixes: record.prefixes ?? {} }) } };
}

/** Rewrites the IRIs of what is moved, and those of fragments. */
export const rewritingOf = ({ iri: from, destination }: MoveRequest): IriRewriting =>
  new IriRewriting((iri) => {
    const isOwn = iri === from || (iri.startsWith(from) && (isContainerIri(from) || iri[from.length] === '#'));
    return isOwn ? destination + iri.slice(from.length) : iri;
  });

const keysAtATime = 1_000;

async function rewritten(keys: readonly string[], rewriting: IriRewriting): Promise<readonly string[]> {
  // A rewritten triple may already be in the graph.
  const all = new Set<string>();
  for (let at = 0; at < keys.length; at += keysAtATime) {
    for (const key of rewriting.graph(keys.slice(at, at + keysAtATime))) all.add(key);
    await yieldToEventLoop();
  }
  return sortKeys([...all]);
}

/** Returns the size of the default Turtle. Terms that were relative to the old name may not be relative to the new one. */
async function sizeOf(
  { documents }: Storage,
  iri: string,
  { keys, prefixes }: { readonly keys: readonly string[]; readonly prefixes: Readonly<Record<string, string>> },
): Promise<number> {
  if (isLargeGraph(keys.length)) return defaultTurtle({ keys }, iri, prefixes).size;
  return (await documents.render(keys, turtle, iri, prefixes))!.length;
}

async function copyOf({ store }: Storage, record: ResourceRecord): Promise<BlobWriter> {
  const blob = await store.blobs.create();
  try {
    const bytes = await store.blobs.read(blobFacts(record)).catch((error: NodeJS.ErrnoException) => {
      // It was replaced meanwhile.
      throw error.code === 'ENOENT' ? new RevisionConflict(record.iri) : error;
    });
    for await (const chunk of bytes) await blob.write(chunk as Uint8Array);
    await blob.finish();
    return blob;
  } catch (error) {
    await blob.abort();
    throw error;
  }
}
