/** Keeps blank node labels over a PUT for resources with versions, so that the difference to the earlier version is small. */
import { DamagedGraphError } from '../storage/graphs/graph-digests.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { PackedKeys } from '../storage/keys/graph-keys.js';
import { hasBlankNode } from '../storage/keys/key-layout.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { Content } from './body.js';
import type { Storage } from './storage.js';

/** Returns new content with blank nodes renamed to their labels in the current graph, unless the graph is large. */
export async function withKeptLabels(
  { store, documents, keepsVersions }: Storage,
  { iri, kind, triples = 0 }: ResourceRecord,
  content: Content | undefined,
): Promise<Content | undefined> {
  if (content?.kind !== 'rdf' || kind !== 'rdf' || isLargeGraph(triples) || !keepsVersions?.(iri)) return content;
  const { document } = content;
  const { keys } = document;
  if (keys instanceof PackedKeys || isLargeGraph(keys.length) || !keys.some(hasBlankNode)) return content;
  const found = await store.graph(iri).catch((error: unknown) => {
    if (!(error instanceof DamagedGraphError)) throw error;
    return undefined;
  });
  const others = found?.keys.filter(hasBlankNode) ?? [];
  if (others.length === 0) return content;
  return { kind: 'rdf', document: await documents.keepLabels({ ...document, keys }, others, iri) };
}
