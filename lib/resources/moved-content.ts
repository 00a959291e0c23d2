/** Builds the content that MOVE and COPY write: renamed graphs, their sizes, copies of blobs. Runs before the transaction. */
import { assertGrown } from '../rdf/bounds.js';
import { turtle } from '../rdf/formats.js';
import type { BlobWriter } from '../storage/blobs/blobs.js';
import { comparedBlocks } from '../storage/graphs/graph-digests.js';
import { isLargeGraph, lineCounter } from '../storage/graphs/graph-lines.js';
import { StoreSnapshot } from '../storage/graphs/snapshot.js';
import {
  allOf,
  blocksOf,
  type KeyChunk,
  type PackedKeys,
  packChunk,
  packedOf,
  packKeys,
} from '../storage/keys/graph-keys.js';
import { IriRewriting } from '../storage/keys/iri-rewriting.js';
import { KeyRuns } from '../storage/keys/key-runs.js';
import { graphPrefix, keyInGraph } from '../storage/keys/quad-keys.js';
import { blobFacts, isContainerIri, type ResourceRecord, rangeOf } from '../storage/keys/records.js';
import { Again } from '../storage/transactions/again.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { yieldToEventLoop } from '../tools/event-loop.js';
import type { Storage } from './storage.js';
import type { WriteRequest } from './write.js';

export interface MoveRequest extends Omit<WriteRequest, 'links' | 'model'> {
  /** New IRI in the same storage. */
  readonly destination: string;
  /** True to let a container replace a data resource, and vice versa, if only the final slash differs (RFC 4918 9.8.4). */
  readonly replacesOtherKind?: boolean;
  /** True for COPY, which keeps the source. */
  readonly copies: boolean;
  /** Value of `Overwrite`. Absent: true, unless the storage requires conditional writes. */
  readonly overwrites: boolean | undefined;
  /** Value of `Depth`. False copies a container without its members. */
  readonly isDeep: boolean;
  /** True for `Prefer: rewrite-links`: IRIs of the moved resources are rewritten in their graphs and links. */
  readonly rewrites: boolean;
  /** Returns the owner of a resource after a move into or out of the trash. Absent: the owner does not change. */
  readonly ownerAfter?: (tx: Transaction, from: ResourceRecord) => string | undefined;
}

/** A request, and the function that rewrites the IRIs of the moved resources. */
export type Moving = MoveRequest & { readonly rewriting: IriRewriting };

/** A resource with its new name. */
export interface Placed {
  readonly record: ResourceRecord;
  readonly iri: string;
  /** Keys and size of an RDF resource's graph at the new name. */
  readonly graph?: { readonly keys: PackedKeys; readonly size: number };
  /** Copy of the source's blob, for COPY. */
  readonly blob?: BlobWriter;
}

/** Prepares a resource. @throws Again if it has changed since its record was read, LwsError `too-large` if the graph grows */
export async function place(
  storage: Storage,
  request: Moving,
  { record, iri }: Pick<Placed, 'record' | 'iri'>,
): Promise<Placed> {
  if (record.kind !== 'rdf')
    return record.blob === undefined || !request.copies
      ? { record, iri }
      : { record, iri, blob: await copyOf(storage, record) };
  const triples = record.triples ?? 0;
  // Every key contains the name of its graph, and up to three other terms that are rewritten.
  const grown = Math.max(0, iri.length - record.iri.length) * triples * (request.rewrites ? 4 : 1);
  assertGrown({ before: 0, after: triples, characters: grown }, 0, { triples });
  if (isLargeGraph(triples)) return { record, iri, graph: await largeGraphAt(storage, request, { record, iri }) };
  const found = await storage.store.graph(record.iri);
  if (found?.record.revision !== record.revision) throw new Again(record.iri);
  const keys = request.rewrites
    ? allOf((await rewritten(blocksOf(found.keys), request.rewriting)).merged(() => {}))
    : found.keys.map((key) => keyInGraph(key, iri));
  return { record, iri, graph: { keys: packKeys(keys), size: await sizeOf(storage, { record, iri }, keys) } };
}

/** Reads a large graph in blocks, and packs its keys with the new name. */
async function largeGraphAt(
  storage: Storage,
  { rewrites, rewriting }: Moving,
  { record, iri }: Pick<Placed, 'record' | 'iri'>,
): Promise<NonNullable<Placed['graph']>> {
  const snapshot = new StoreSnapshot(storage.store.level);
  const chunks: KeyChunk[] = [];
  try {
    const [found] = await snapshot.records([record.iri]);
    if (found?.revision !== record.revision) throw new Again(record.iri);
    const read = () => snapshot.keys(rangeOf(graphPrefix(record.iri)));
    const blocks = comparedBlocks(record, read, (found) => storage.store.returned.remove(found));
    if (!rewrites) {
      for await (const keys of blocks) chunks.push(packChunk(keys.map((key) => keyInGraph(key, iri))));
      return { keys: packedOf(chunks), size: record.size };
    }
    const runs = await rewritten(blocks, rewriting);
    const count = lineCounter();
    let size = 0;
    for (const chunk of runs.chunks((key) => (size += count(key)))) {
      chunks.push(chunk);
      await yieldToEventLoop();
    }
    const keys = packedOf(chunks);
    return { keys, size: isLargeGraph(keys.length) ? size : await sizeOf(storage, { record, iri }, allOf(keys)) };
  } finally {
    await snapshot.close();
  }
}

/** Returns the rewriting of the IRIs of the moved resources, including their fragments. */
export const rewritingOf = ({ iri: from, destination }: MoveRequest): IriRewriting =>
  new IriRewriting((iri) => {
    const isOwn = iri === from || (iri.startsWith(from) && (isContainerIri(from) || iri[from.length] === '#'));
    return isOwn ? destination + iri.slice(from.length) : iri;
  });

async function rewritten(
  blocks: Iterable<readonly string[]> | AsyncIterable<readonly string[]>,
  rewriting: IriRewriting,
): Promise<KeyRuns> {
  // A rewritten triple may already be in the graph. `KeyRuns` removes such duplicates.
  const runs = new KeyRuns();
  for await (const keys of blocks) {
    for (const key of rewriting.graph(keys)) runs.add(key);
    await yieldToEventLoop();
  }
  return runs;
}

/** Returns the size of the default Turtle. It can change, if an IRI is relative to the old name but not to the new one. */
async function sizeOf(
  { documents }: Storage,
  { record, iri }: Pick<Placed, 'record' | 'iri'>,
  keys: readonly string[],
): Promise<number> {
  return (await documents.render(keys, turtle, iri, record.prefixes ?? {}))!.length;
}

async function copyOf({ store }: Storage, record: ResourceRecord): Promise<BlobWriter> {
  const blob = await store.blobs.create();
  try {
    const bytes = await store.blobs.read(blobFacts(record)).catch((error: NodeJS.ErrnoException) => {
      // The blob was deleted because the resource was replaced meanwhile.
      throw error.code === 'ENOENT' ? new Again(record.iri) : error;
    });
    for await (const chunk of bytes) await blob.write(chunk as Uint8Array);
    await blob.finish();
    return blob;
  } catch (error) {
    await blob.abort();
    throw error;
  }
}
