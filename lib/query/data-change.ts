/** Updates that only name triples, as the keys that come and go: what they do to a graph without looking at it. Pure. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad } from '@rdfjs/types';
import { relabel } from '../rdf/blank-nodes.js';
import { sortKeys } from '../storage/graphs/key-order.js';
import { encodeGraph, lacksLanguage } from '../storage/graphs/quad-keys.js';
import type { ReadUpdate } from './parse/read-update.js';

/** GSPO keys in order; none is on both sides. */
export interface DataChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly prefixes: Readonly<Record<string, string>>;
}

/**
 * What an update does, where each of its operations is INSERT DATA or DELETE DATA; `undefined` for any other.
 * @throws LwsError see `encodeTerm`
 */
export function dataChange({ steps, prefixes }: ReadUpdate, graph: string): DataChange | undefined {
  const last = new Map<string, boolean>();
  for (const { operation } of steps)
    for (const part of partsOf(operation)) {
      if (!isData(part)) return undefined;
      for (const key of encodeGraph(graph, (part.delete ?? []).filter(isTriple))) last.set(key, false);
      // Blank nodes are new ones, in each operation.
      for (const key of encodeGraph(graph, relabel((part.insert ?? []).filter(isTriple)))) last.set(key, true);
    }
  const keysThat = (come: boolean): string[] =>
    sortKeys([...last].flatMap(([key, comes]) => (comes === come ? [key] : [])));
  return { added: keysThat(true), removed: keysThat(false), prefixes };
}

/** What RDF does not allow is skipped (rule 6.16), and an unbound variable makes no triple (SPARQL 1.1 Update 3.1.3). */
const isTriple = ({ subject, predicate, object }: Quad): boolean =>
  (subject.termType === 'NamedNode' || subject.termType === 'BlankNode') &&
  predicate.termType === 'NamedNode' &&
  object.termType !== 'Variable' &&
  !lacksLanguage(object);

interface DataOperation extends Algebra.Operation {
  readonly delete?: readonly Quad[];
  readonly insert?: readonly Quad[];
}

const isData = (operation: Algebra.Operation): operation is DataOperation =>
  operation.type === 'deleteinsert' && (operation as { where?: unknown }).where === undefined;

function partsOf(operation: Algebra.Operation): readonly Algebra.Operation[] {
  if (operation.type === 'nop') return [];
  return operation.type === 'compositeupdate' ? (operation as Algebra.CompositeUpdate).updates : [operation];
}
