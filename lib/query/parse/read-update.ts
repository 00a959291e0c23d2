/** Parses and checks updates. Must not depend on the caller or run updates. */
import type { Algebra } from '@comunica/utils-algebra';
import { resolveIri } from '../../rdf/resolve-iri.js';
import { LwsError } from '../../tools/errors.js';
import { decodeEscapes } from './code-point-escapes.js';
import { type DefaultGraph, inDefaultGraph } from './default-graph.js';
import { lowerGraphs } from './graph-names.js';
import { assertGraphNames, assertScopes, nameSolutions, nodesOf } from './query-scopes.js';
import { prefixesOf, type Syntax, sparqlReader } from './sparql-parser.js';
import { explainSyntax } from './syntax-errors.js';

/** Update of one graph, as received from the client. */
export interface SentUpdate {
  readonly text: string;
  /** True for an N3 Patch, false for SPARQL. */
  readonly isN3?: boolean;
}

export interface UpdateTarget {
  /** IRI of the graph. */
  readonly graph: string;
  /** True if the graph does not exist. The result of INSERT DATA then includes the Turtle of the graph. */
  readonly isNew?: boolean | undefined;
  /** Key of a LevelDB entry with the graph in JSON: `revision`, `prefixes`, `keys`. Absent for an RDF resource. */
  readonly entry?: string | undefined;
  /** True to use no worker thread. The result is then `undefined` if the update has variables. */
  readonly inlineOnly?: boolean;
}

/** Context in which an update is parsed. */
export interface UpdatePlace {
  readonly base: string;
  /** Named graph that replaces the default graph. */
  readonly defaultGraph?: DefaultGraph | undefined;
}

/** Operation of an update, with the base IRI. */
export interface UpdateStep {
  readonly operation: Algebra.Operation;
  /** Base IRI for IRI(). */
  readonly base: string;
}

export interface ReadUpdate {
  readonly prefixes: Readonly<Record<string, string>>;
  readonly steps: readonly UpdateStep[];
  /** True to fail unless the WHERE has exactly one solution and all removed triples exist (N3 Patch). */
  readonly isStrict?: boolean;
}

/**
 * Parses an update and rejects operations that do not apply to a resource, which is a single graph.
 * @throws LwsError `malformed-body` for a syntax error, `named-graph` for a named graph, `bad-request` for graph management,
 * LOAD and SERVICE (rule 6.15)
 */
export const readUpdate = (written: string, base: string): Promise<ReadUpdate> =>
  readSteps(written, { base }, assertOneGraph);

/**
 * Parses an update.
 * @param prepare checks the syntax tree before translation, and throws to reject the update
 * @throws LwsError `malformed-body` for a syntax error
 */
async function readSteps(written: string, place: UpdatePlace, prepare: (syntax: Syntax) => void): Promise<ReadUpdate> {
  const { parse, translate } = await sparqlReader(place.base);
  const text = decodeEscapes(written);
  try {
    const syntax = parse(text);
    if (syntax.type !== 'update') throw new Error('it is a query, not an update');
    prepare(syntax);
    const algebra = translate(syntax);
    // The check is skipped for INSERT DATA and DELETE DATA, which may be long.
    if (/bind|select|values/i.test(text)) assertScopes(algebra);
    if (/count/i.test(text)) nameSolutions(algebra, syntax);
    return { prefixes: declaredPrefixes(syntax), steps: stepsOf(syntax, algebra, place) };
  } catch (error) {
    if (error instanceof LwsError && error.code !== 'malformed-query') throw error;
    throw new LwsError('malformed-body', `The update has a syntax error: ${explainSyntax(text, error as Error)}`, {
      cause: error,
    });
  }
}

const managing = new Set(['load', 'clear', 'create', 'drop', 'add', 'move', 'copy']);

function assertOneGraph(root: Syntax): void {
  for (const node of nodesOf(root)) {
    const { type, subType } = node as Syntax;
    if (type === 'updateOperation' && managing.has(String(subType)))
      throw new LwsError(
        'bad-request',
        `${String(subType).toUpperCase()} is not supported: a resource is a single graph.`,
      );
    if (subType === 'service')
      throw new LwsError('bad-request', 'SERVICE is not supported: an update applies to the resource only.');
    if (subType === 'graph' || type === 'graph' || hasDatasetClause(node))
      throw new LwsError(
        'named-graph',
        'The update names a graph (GRAPH, WITH, USING). A resource is a single graph. Omit the name.',
      );
  }
}

/** Returns true for a dataset clause. `WITH <g>` is the member `graph` of a modify operation, `USING` its non-empty `from`. */
function hasDatasetClause(node: Readonly<Record<string, unknown>>): boolean {
  if (node['type'] === 'datasetClauses') return ((node['clauses'] as unknown[] | undefined) ?? []).length > 0;
  return node['type'] === 'updateOperation' && node['subType'] === 'modify' && node['graph'] !== undefined;
}

const unitsOf = (syntax: Syntax): readonly Syntax[] => (syntax['updates'] as Syntax[] | undefined) ?? [];

const declaredPrefixes = (syntax: Syntax): Record<string, string> =>
  Object.assign({}, ...unitsOf(syntax).map(prefixesOf)) as Record<string, string>;

/** Returns the operations with their base IRIs. A prologue before an operation also applies to later operations. */
function stepsOf(syntax: Syntax, algebra: Algebra.Operation, { base: outer, defaultGraph }: UpdatePlace): UpdateStep[] {
  const composite = algebra as Algebra.CompositeUpdate;
  const operations = algebra.type === 'compositeupdate' ? composite.updates : [algebra];
  const steps: UpdateStep[] = [];
  let base = outer;
  let at = 0;
  for (const unit of unitsOf(syntax)) {
    for (const { subType, value } of (unit['context'] as Syntax[] | undefined) ?? [])
      if (subType === 'base') base = resolveIri((value as { value: string }).value, base);
    const written = unit['operation'] as Syntax | undefined;
    if (!written) continue;
    const hasWith = written['graph'] !== undefined;
    const operation = operations[at++]!;
    const placed = defaultGraph ? inDefaultGraph(operation, defaultGraph, hasWith) : operation;
    // The named graph that replaces the default graph may be nonexistent, like the graph of WITH.
    steps.push({ operation: lowerGraphs(placed, hasWith || defaultGraph?.isRead), base });
  }
  return steps;
}

interface ReadGraphsUpdate extends ReadUpdate {
  /** True if an operation has USING, USING NAMED or WITH. */
  readonly namesDataset: boolean;
}

/**
 * Parses an update.
 * @throws LwsError `malformed-body` for a syntax error, `bad-request` for SERVICE and for changes to all graphs, or to the default
 * graph without a name
 */
export async function readGraphsUpdate(written: string, place: UpdatePlace): Promise<ReadGraphsUpdate> {
  let namesDataset = false;
  const prepare = (syntax: Syntax): void => {
    for (const node of nodesOf(syntax)) {
      if (node['subType'] === 'service') throw new LwsError('bad-request', 'SERVICE is not supported in an update.');
      namesDataset ||= hasDatasetClause(node);
    }
    assertGraphNames(syntax);
  };
  const update = await readSteps(written, place, prepare);
  for (const { operation } of update.steps) assertNamed(operation);
  return { ...update, namesDataset };
}

interface Operands {
  readonly source?: unknown;
  readonly destination?: unknown;
}

function assertNamed(operation: Algebra.Operation): void {
  const { type } = operation;
  if (type === 'compositeupdate') for (const each of (operation as Algebra.CompositeUpdate).updates) assertNamed(each);
  else if (type === 'deleteinsert') {
    const { delete: removed = [], insert = [] } = operation as Algebra.DeleteInsert;
    for (const { graph } of [...removed, ...insert]) if (graph.termType === 'DefaultGraph') throw unnamed();
  } else if (type !== 'nop') {
    const { source, destination } = operation as Operands;
    const operands = /^(?:clear|drop|create)$/.test(type) ? [source] : [source, destination];
    if (operands.some((operand) => operand === 'ALL' || operand === 'NAMED')) throw tooMany();
    if (operands.some((operand) => typeof operand !== 'object')) throw unnamed();
  }
}

const unnamed = (): LwsError =>
  new LwsError(
    'bad-request',
    'The update changes the default graph, which is the union of all graphs that you may read. Name each graph to ' +
      'change with GRAPH, WITH or INTO: the IRI of a resource. DEFAULT needs lws.sparql.endpoint.default-graph.',
  );

const tooMany = (): LwsError =>
  new LwsError(
    'bad-request',
    'ALL and NAMED are not supported: the update would change every resource of the storage. Name each graph to change.',
  );
