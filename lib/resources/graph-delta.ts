/** Stages the changes of an update to a graph: the difference for a large graph, all triples for a small one. */

import type { GraphDelta } from '../query/change-set.js';
import { turtle } from '../rdf/formats.js';
import { joinedPrefixes } from '../rdf/prefixes.js';
import { defaultTurtle, isLargeGraph, lineCounter } from '../storage/graphs/graph-lines.js';
import { changedSize } from '../storage/graphs/turtle-size.js';
import { applied, type KeyDifference } from '../storage/keys/graph-changes.js';
import { charactersOf } from '../storage/keys/graph-keys.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { Again } from '../storage/transactions/again.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { slices } from '../tools/collections.js';
import { patchConflict } from '../tools/errors.js';
import { yieldToEventLoop } from '../tools/event-loop.js';
import type { Link } from '../tools/fields/link.js';
import type { Content } from './body.js';
import { stageHeaderLinks } from './metadata.js';
import { type ContentFacts, type Staging, stageFacts } from './write.js';

export interface DeltaRequest {
  readonly delta: GraphDelta;
  /**
   * Length of the update in characters, which limits the growth of the graph. Infinity: only triples are limited. Absent: no
   * limit.
   */
  readonly length?: number;
  /** True if the caller cannot read the graph. Each update then sets a new revision, which reveals nothing (rule 6.13). */
  readonly isBlind?: boolean;
  /** True if a small graph can be serialized inside the transaction, even if that takes long. */
  readonly isPatient?: boolean;
}

/** A graph after a staged change. */
export interface ChangedContent {
  readonly facts: ContentFacts;
  /** True if no triple was added or removed. */
  readonly isSame: boolean;
  /** Complete content, if it is available. */
  readonly content?: Content;
}

/**
 * Stages the change to the graph of an RDF resource, and its links. A change without effect keeps the revision, unless the
 * caller cannot read the graph (`isBlind`).
 * @returns `undefined` with nothing staged, as `changeGraph`
 * @throws as `changeGraph`
 */
export async function stageDelta(
  staging: Staging,
  before: ResourceRecord,
  request: DeltaRequest & { readonly links?: readonly Link[] | undefined },
): Promise<(Pick<ChangedContent, 'content'> & { readonly record: ResourceRecord }) | undefined> {
  const changed = await changeGraph(staging, before, request);
  if (!changed) return undefined;
  const { facts, isSame, content } = changed;
  const { links } = request;
  if (isSame && !request.isBlind) return { record: stageLinksAlone(staging, before, links) };
  const record = stageFacts(staging, before, { facts, links: { given: links, partial: true } });
  return content ? { record, content } : { record };
}

/**
 * Stages the change to a graph: the difference for a large graph, all triples for a small one.
 * @returns `undefined` with nothing staged if serializing the graph would take too long for a transaction. The caller
 * then provides `delta.after`
 * @throws Again if the delta was computed from another revision; LwsError `too-large`, `patch-conflict`
 */
export async function changeGraph(
  { storage, tx }: Staging,
  before: ResourceRecord,
  { delta, length, isPatient = false }: DeltaRequest,
): Promise<ChangedContent | undefined> {
  const { documents } = storage;
  const { iri, triples: had = 0 } = before;
  if (delta.revision !== undefined && delta.revision !== before.revision) throw new Again(iri);
  const isLarge = isLargeGraph(had);
  const keys = isLarge ? undefined : await tx.before.graph(before);
  const small = keys && applied(keys, delta);
  const change = small ?? (delta.revision === undefined ? await effectOf(tx, before, delta) : delta);
  const { added, removed } = change;
  if (delta.isStrict && delta.revision === undefined && removed.length < delta.removed.length)
    throw patchConflict('it removes triples that do not exist');
  const triples = had + added.length - removed.length;
  const isSame = added.length === 0 && removed.length === 0;
  const known = before.prefixes ?? {};
  const prefixes = joinedPrefixes(isSame ? {} : delta.prefixes, known);
  const facts = { kind: 'rdf', mediaType: turtle, triples, prefixes } as const;
  if (isSame) return { facts: Object.assign(facts, { size: before.size }), isSame };
  if (length !== undefined)
    documents.assertGrown(
      { before: had, after: triples, characters: charactersOf(added) - charactersOf(removed) },
      length,
    );
  if (isLarge && isLargeGraph(triples)) {
    const size = before.size + (await sizeOf(added)) - (await sizeOf(removed));
    tx.changeGraph(iri, change, had);
    return { facts: Object.assign(facts, { size }), isSame };
  }
  const isSum = !delta.after && small && prefixes === known;
  const size = isSum ? changedSize({ keys, size: before.size }, small, { base: iri, prefixes }) : undefined;
  if (!delta.after && size === undefined && !(keys && (isPatient || documents.isSmall(had)))) return undefined;
  const changed = small ?? applied(await tx.before.graph(before), change);
  const written = delta.after ?? (size === undefined ? defaultTurtle(changed, iri, prefixes) : { size });
  const content: Content = { kind: 'rdf', document: { keys: changed.keys, prefixes, ...written } };
  if (keys && !isLargeGraph(triples)) tx.putGraph(iri, keys, changed);
  else await tx.replaceGraph(before, changed.keys);
  return { facts: Object.assign(facts, { size: written.size }), isSame, content };
}

/** Stages the Link fields of a patch that does not change the content. */
export function stageLinksAlone(
  { storage, tx }: Staging,
  before: ResourceRecord,
  links: readonly Link[] | undefined,
): ResourceRecord {
  const after = stageHeaderLinks(storage, tx, before, links, true);
  if (after === before) return before;
  tx.putRecord(after);
  tx.changed({ before, after });
  return after;
}

const keysAtATime = 1000;

/** Returns the part of a delta that changes a large graph: additions that the graph lacks, and removals that it contains. */
async function effectOf(tx: Transaction, record: ResourceRecord, delta: KeyDifference): Promise<KeyDifference> {
  /** Returns the keys that are in the graph (`are` is true), or the keys that are not. */
  const keysThat = async (are: boolean, keys: readonly string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const slice of slices(keys, keysAtATime)) {
      const present = await tx.before.hasKeys(record, slice);
      for (const [index, key] of slice.entries()) if (present[index] === are) found.push(key);
    }
    return found;
  };
  return { added: await keysThat(false, delta.added), removed: await keysThat(true, delta.removed) };
}

/** Returns the size of the keys as N-Triples lines, in bytes. */
async function sizeOf(keys: readonly string[]): Promise<number> {
  const count = lineCounter();
  let size = 0;
  for (const [index, key] of keys.entries()) {
    if (index % keysAtATime === keysAtATime - 1) await yieldToEventLoop();
    size += count(key);
  }
  return size;
}
