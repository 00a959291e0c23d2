/** Computes the changes of INSERT DATA and DELETE DATA without the graph and the SPARQL parser. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad } from '@rdfjs/types';
import { relabel } from '../rdf/blank-nodes.js';
import { boundedPrefixes } from '../rdf/prefixes.js';
import { defaultTurtle } from '../storage/graphs/graph-lines.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { patchConflict } from '../tools/errors.js';
import { wholeKey } from './access/key-reader.js';
import { storedToken } from './access/terms.js';
import type { GraphDelta } from './change-set.js';
import { isStorable } from './operators/graph-results.js';
import { readDataUpdate } from './parse/data-update.js';
import { readN3Patch } from './parse/n3-patch.js';
import type { ReadUpdate, SentUpdate, UpdateTarget } from './parse/read-update.js';
import { runStep } from './query-source.js';

/**
 * Parses an N3 Patch or a data update. Returns `undefined` if the SPARQL parser is required.
 * @throws LwsError as `readN3Patch`
 */
export const readPlain = ({ text, isN3 }: SentUpdate, graph: string): ReadUpdate | undefined =>
  isN3 ? readN3Patch(text, graph) : readDataUpdate(text, graph);

type Part = Pick<Algebra.DeleteInsert, 'where'> & { type: string; insert?: readonly Quad[]; delete?: readonly Quad[] };

const partsOf = (operation: Algebra.Operation) =>
  (operation.type === 'compositeupdate'
    ? (operation as Algebra.CompositeUpdate).updates
    : [operation]) as readonly Part[];

/** Returns true if the update removes triples, with or without a pattern. */
export const removesTriples = ({ steps }: ReadUpdate): boolean =>
  steps.some(({ operation }) => partsOf(operation).some(({ delete: gone = [] }) => gone.length > 0));

const isData = ({ type, where }: Part): boolean => where === undefined && /^(?:deleteinsert|nop)$/.test(String(type));

/** True for a triple without variables. If WHERE is empty, variables are unbound, and triples with variables are omitted. */
const isBound = ({ subject, predicate, object }: Quad): boolean =>
  [subject, predicate, object].every(({ termType }) => termType !== 'Variable');

const tokensOf = ({ subject, predicate, object }: Quad) =>
  [storedToken(subject), storedToken(predicate), storedToken(object)] as const;

/**
 * Returns a change that applies to any state of the graph. Returns `undefined` if the update contains more than INSERT DATA and
 * DELETE DATA, or if a strict update inserts a triple that it removes: the change could not require the triple.
 * @throws LwsError as `storedToken`, `isStorable`, and `patch-conflict` if a strict update inserts invalid RDF
 */
export async function dataDelta(update: ReadUpdate, { graph, isNew }: UpdateTarget): Promise<GraphDelta | undefined> {
  const { steps, isStrict = false } = update;
  if (!steps.every(({ operation }) => partsOf(operation).every(isData))) return undefined;
  const [added, removed] = [new Set<string>(), new Set<string>()];
  let isKnown = true;
  const take = ({ insert = [], delete: gone = [] }: Part): void => {
    for (const triple of gone.filter(isBound)) {
      const key = wholeKey([...tokensOf(triple), graph]);
      added.delete(key);
      removed.add(key);
    }
    for (const triple of relabel(insert.filter(isBound))) {
      const tokens = tokensOf(triple);
      if (isStorable(tokens)) {
        const key = wholeKey([...tokens, graph]);
        if (removed.delete(key) && isStrict) isKnown = false;
        added.add(key);
      } else if (isStrict) throw patchConflict('it inserts a triple that is not valid RDF');
    }
  };
  for (const step of steps)
    await runStep(step, async (operation) => {
      for (const part of partsOf(operation)) take(part);
    });
  if (!isKnown) return undefined;
  const keys = sortKeys([...added]);
  const prefixes = isNew ? boundedPrefixes(update.prefixes) : update.prefixes;
  const after = isNew ? defaultTurtle({ keys }, graph, prefixes) : undefined;
  return { added: keys, removed: sortKeys([...removed]), removes: removesTriples(update), isStrict, prefixes, after };
}
