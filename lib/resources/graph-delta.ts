/** Staging what an update makes of a graph: a part of a large one, or a small one as a whole. */

import type { Link } from '../fields/link.js';
import type { GraphDelta } from '../query/change-set.js';
import { boundedPrefixes } from '../rdf/prefixes.js';
import type { Transaction } from '../storage/engine/transaction.js';
import { applied, type KeyDifference } from '../storage/graphs/graph-changes.js';
import { charactersOf } from '../storage/graphs/graph-keys.js';
import { defaultTurtle, isLargeGraph, lineCounter } from '../storage/graphs/graph-lines.js';
import { newRevision, type ResourceRecord } from '../storage/state/records.js';
import type { Content } from './body.js';
import { stageHeaderLinks } from './metadata.js';
import { dateAfter } from './preconditions.js';
import { OutdatedState } from './turns.js';
import { type Staging, stageContent } from './write.js';

export interface DeltaRequest {
  readonly delta: GraphDelta;
  /** Characters of the update, which say how much longer a graph may become; infinite: they are bounded otherwise. */
  readonly length: number;
  readonly links?: readonly Link[] | undefined;
}

export interface StagedDelta {
  readonly record: ResourceRecord;
  /** The whole content, where that is known now. */
  readonly content?: Content;
}

/**
 * Stages the change of the graph of an RDF resource, and links with it. What changes nothing leaves the state, and its tag, as it was.
 * @returns `undefined`, with nothing staged, when the whole graph has to be written out, which takes too long for a transaction: the delta
 *   needs `after`
 * @throws OutdatedState when the delta is of another state; LwsError `too-large`
 */
export async function stageDelta(
  { storage, tx }: Staging,
  before: ResourceRecord,
  { delta, length, links }: DeltaRequest,
): Promise<StagedDelta | undefined> {
  const { documents } = storage;
  const { iri, triples = 0 } = before;
  if (delta.revision !== undefined && delta.revision !== before.revision) throw new OutdatedState(iri);
  const isLarge = isLargeGraph(triples);
  const keys = isLarge ? undefined : await tx.graph(before);
  const small = keys && applied(keys, delta);
  const change = small ?? (delta.revision === undefined ? await effectOf(tx, before, delta) : delta);
  const { added, removed } = change;
  if (added.length === 0 && removed.length === 0) return { record: stageLinksAlone({ storage, tx }, before, links) };
  const after = triples + added.length - removed.length;
  documents.assertGrown({ before: triples, after, characters: charactersOf(added) - charactersOf(removed) }, length);
  const prefixes = boundedPrefixes({ ...delta.prefixes, ...before.prefixes });
  if (isLarge && isLargeGraph(after)) {
    const size = before.size + (await sizeOf(added)) - (await sizeOf(removed));
    return { record: stagePart({ storage, tx }, before, { change, links, facts: { triples: after, size, prefixes } }) };
  }
  if (!delta.after && !(keys && documents.isSmall(triples))) return undefined;
  const whole = small ?? applied(await tx.graph(before), change);
  const turtle = delta.after ?? defaultTurtle(whole, iri, prefixes);
  const document = { keys: whole.keys, prefixes, ...turtle };
  const content: Content = { kind: 'rdf', document, changed: whole };
  return { record: await stageContent(storage, tx, before, content, { given: links, partial: true }), content };
}

/** The patch changes nothing of the content, but its Link fields may change the metadata. */
export function stageLinksAlone(
  { storage, tx }: Staging,
  before: ResourceRecord,
  links: readonly Link[] | undefined,
): ResourceRecord {
  const after = stageHeaderLinks(storage, tx, before, links, true);
  if (after !== before) put(tx, before, after);
  return after;
}

function put(tx: Transaction, before: ResourceRecord, after: ResourceRecord): void {
  tx.putRecord(after);
  tx.changed({ before, after });
}

interface PartChange extends Pick<DeltaRequest, 'links'> {
  readonly change: KeyDifference;
  /** What is known of the graph afterwards. */
  readonly facts: Pick<ResourceRecord, 'size' | 'triples' | 'prefixes'>;
}

/** Stages the change of a part of a large graph, of which nothing else is looked at. */
function stagePart(
  { storage, tx }: Staging,
  before: ResourceRecord,
  { change, facts, links }: PartChange,
): ResourceRecord {
  const { sharesSecond: _second, ...rest } = before;
  const changed = { ...rest, ...dateAfter(before, storage.clock()), revision: newRevision(), ...facts };
  const record = stageHeaderLinks(storage, tx, changed, links, true);
  tx.changeGraph(before.iri, change, before.triples ?? 0);
  put(tx, before, record);
  return record;
}

const keysAtATime = 1000;

/** What really comes and goes of a large graph. */
async function effectOf(tx: Transaction, record: ResourceRecord, delta: KeyDifference): Promise<KeyDifference> {
  /** Those that are in the graph, or are not. */
  const keysThat = async (are: boolean, keys: readonly string[]): Promise<string[]> => {
    const found: string[] = [];
    for (let at = 0; at < keys.length; at += keysAtATime) {
      const slice = keys.slice(at, at + keysAtATime);
      const present = await tx.hasKeys(record, slice);
      for (const [index, key] of slice.entries()) if (present[index] === are) found.push(key);
    }
    return found;
  };
  return { added: await keysThat(false, delta.added), removed: await keysThat(true, delta.removed) };
}

/** Bytes of the lines of keys. */
async function sizeOf(keys: readonly string[]): Promise<number> {
  const count = lineCounter();
  let size = 0;
  for (const [index, key] of keys.entries()) {
    if (index % keysAtATime === keysAtATime - 1) await new Promise((resolve) => setImmediate(resolve));
    size += count(key);
  }
  return size;
}
