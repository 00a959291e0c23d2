/** Named graph that replaces the default graph of an update (rule 14.17). */
import type { Algebra } from '@comunica/utils-algebra';
import type { NamedNode, Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';

export interface DefaultGraph {
  readonly iri: string;
  /** True if WHERE reads the graph. False if the request has a dataset for WHERE, and only changes use the graph. */
  readonly isRead: boolean;
}

const factory = new DataFactory<Quad>();

type Change = Algebra.Operation & {
  readonly delete?: readonly Quad[];
  readonly insert?: readonly Quad[];
  readonly where?: Algebra.Operation;
};
type Operand = NamedNode | string | undefined;

/** Returns the operation with GRAPH around its templates. Without WITH or USING, WHERE gets GRAPH, too. */
export function inDefaultGraph(operation: Algebra.Operation, graph: DefaultGraph, hasWith: boolean): Algebra.Operation {
  const name = factory.namedNode(graph.iri);
  if (operation.type !== 'deleteinsert') return ofGraphs(operation, name);
  const { delete: removed, insert, where } = operation as Change;
  const place = (pattern: Quad) =>
    pattern.graph.termType === 'DefaultGraph'
      ? Object.assign(factory.quad(pattern.subject, pattern.predicate, pattern.object, name), { type: 'pattern' })
      : pattern;
  // The patterns of DELETE WHERE are also its template, so each pattern gets the graph.
  const wrapped = (within: Algebra.Operation) =>
    within.type === 'bgp'
      ? { ...within, patterns: (within as unknown as { patterns: Quad[] }).patterns.map(place) }
      : { type: 'graph', name, input: within };
  const isWrapped = where && where.type !== 'from' && graph.isRead && !hasWith;
  return {
    ...operation,
    ...(removed && { delete: removed.map(place) }),
    ...(insert && { insert: insert.map(place) }),
    ...(isWrapped && { where: wrapped(where) }),
  } as Algebra.Operation;
}

/** Rewrites graph management. The default graph always exists: CLEAR succeeds if it is absent, DROP and MOVE empty it. */
function ofGraphs(operation: Algebra.Operation, name: NamedNode): Algebra.Operation {
  const { type, source, destination } = operation as Algebra.Operation & { source?: Operand; destination?: Operand };
  const named = (operand: Operand): Operand => (operand === 'DEFAULT' ? name : operand);
  const emptied = { type: 'clear', source: name, silent: true };
  if (type === 'clear' || type === 'drop') return (source === 'DEFAULT' ? emptied : operation) as Algebra.Operation;
  if (type === 'create' || type === 'nop') return operation;
  const target = type === 'load' ? (destination ?? name) : named(destination);
  const transfer = { ...operation, source: named(source), destination: target };
  if (type !== 'move' || source !== 'DEFAULT' || (target as NamedNode).value === name.value)
    return transfer as Algebra.Operation;
  return { type: 'compositeupdate', updates: [{ ...transfer, type: 'copy' }, emptied] } as Algebra.Operation;
}
