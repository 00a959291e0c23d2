/**
 * SPARQL Update on one graph: what is refused, the cheap way for plain data, and the full language through Comunica.
 * It must not know HTTP or who asks. `runUpdate` can take any amount of time and belongs into a worker.
 */
import type { Quad, Quad_Object, Quad_Subject } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../../errors.js';
import { relabel } from '../../rdf/blank-nodes.js';
import { sortKeys } from '../../storage/key-order.js';
import { decodeGraph, encodeGraph } from '../../storage/quad-keys.js';
import type { DataOperation } from './data-update.js';
import { resolveReferences } from './update-references.js';

const factory = new DataFactory<Quad>();

export interface ParsedUpdate {
  readonly prefixes: Readonly<Record<string, string>>;
  /** The operations, when the update is INSERT DATA and DELETE DATA alone. */
  readonly data: readonly DataOperation[] | undefined;
}

interface Node {
  readonly type?: string;
  readonly subType?: string;
  readonly termType?: string;
  readonly [member: string]: unknown;
}

/** The parser builds its grammar for a quarter of a second when it is made, so it is made once. */
async function makeParser() {
  const [{ Parser }, { toAlgebra }] = await Promise.all([
    import('@traqula/parser-sparql-1-2'),
    import('@traqula/algebra-sparql-1-2'),
  ]);
  return { parser: new Parser(), toAlgebra };
}
let parser: ReturnType<typeof makeParser> | undefined;

/** Loads the SPARQL parser; to be called before the first update needs it. */
export function loadParser(): ReturnType<typeof makeParser> {
  parser ??= makeParser();
  return parser;
}

/**
 * Parses an update and refuses what a resource, being a single graph, cannot do.
 * @throws LwsError `malformed-body` for a syntax error, `named-graph` for anything that names a graph, `bad-request`
 *   for graph management, LOAD and SERVICE (open-points 2.3)
 */
export async function parseUpdate(text: string, base: string): Promise<ParsedUpdate> {
  const { parser, toAlgebra } = await loadParser();
  let syntax: Node;
  let algebra: Node;
  try {
    syntax = parser.parse(resolveReferences(text, base), { baseIRI: base }) as unknown as Node;
    if (syntax.type !== 'update') throw new Error('this is a query, not an update');
    assertOneGraph(syntax);
    algebra = toAlgebra(syntax as never, { quads: true, baseIRI: base, blankToVariable: true }) as unknown as Node;
  } catch (error) {
    if (error instanceof LwsError) throw error;
    throw new LwsError('malformed-body', `The update cannot be read: ${syntaxMessage(error as Error)}`, {
      cause: error,
    });
  }
  return { prefixes: declaredPrefixes(syntax), data: dataOperations(syntax, algebra) };
}

const syntaxMessage = (error: Error): string =>
  error instanceof RangeError ? 'it is nested too deeply.' : error.message.replace(/\s+/g, ' ').slice(0, 300);

const managing = new Set(['load', 'clear', 'create', 'drop', 'add', 'move', 'copy']);

/** Walks the syntax tree without recursion: an update may be nested as deep as its text is long. */
function assertOneGraph(root: Node): void {
  const left: unknown[] = [root];
  while (left.length > 0) {
    const node = left.pop();
    if (Array.isArray(node)) left.push(...node);
    else if (typeof node === 'object' && node !== null) {
      const { type, subType } = node as Node;
      if (type === 'updateOperation' && managing.has(String(subType)))
        throw new LwsError('bad-request', `${String(subType).toUpperCase()} is not possible: a resource is one graph.`);
      if (subType === 'service')
        throw new LwsError('bad-request', 'SERVICE is not possible: an update runs on the resource alone.');
      const values = node as Readonly<Record<string, unknown>>;
      if (subType === 'graph' || type === 'graph' || hasDatasetClause(values))
        throw new LwsError(
          'named-graph',
          'The update names a graph (GRAPH, WITH, USING). A resource is a single graph: leave the name out.',
        );
      left.push(...Object.values(values));
    }
  }
}

/** `WITH <g>` stands as the member `graph` of a modify, `USING` as its non-empty `from`. */
function hasDatasetClause(node: Readonly<Record<string, unknown>>): boolean {
  if (node['type'] === 'datasetClauses') return ((node['clauses'] as unknown[] | undefined) ?? []).length > 0;
  return node['type'] === 'updateOperation' && node['subType'] === 'modify' && node['graph'] !== undefined;
}

function declaredPrefixes(syntax: Node): Record<string, string> {
  const prefixes: Record<string, string> = {};
  for (const update of (syntax['updates'] as Node[] | undefined) ?? [])
    for (const entry of (update['context'] as Node[] | undefined) ?? []) {
      const value = entry['value'] as { value?: unknown } | undefined;
      if (entry.subType === 'prefix' && typeof value?.value === 'string') prefixes[String(entry['key'])] = value.value;
    }
  return prefixes;
}

function dataOperations(syntax: Node, algebra: Node): DataOperation[] | undefined {
  const operations = ((syntax['updates'] as Node[] | undefined) ?? []).map(
    (update) => update['operation'] as Node | undefined,
  );
  const plain = operations.every(
    (operation) => !operation || /^(insertdata|deletedata)$/.test(String(operation.subType)),
  );
  if (!plain) return undefined;
  const updates = algebra.type === 'compositeupdate' ? (algebra['updates'] as Node[]) : [algebra];
  return updates
    .filter((update) => update.type === 'deleteinsert')
    .map((update) => ({ removed: plainQuads(update['delete']), added: plainQuads(update['insert']) }));
}

const plainQuads = (patterns: unknown): Quad[] =>
  ((patterns as Quad[] | undefined) ?? []).map(({ subject, predicate, object }) =>
    factory.quad(subject as Quad_Subject, predicate, object as Quad_Object),
  );

/** The keys of a graph after plain data operations, in order. */
export function applyData(graph: string, keys: readonly string[], operations: readonly DataOperation[]): string[] {
  const result = new Set(keys);
  for (const { removed, added } of operations) {
    for (const key of encodeGraph(graph, removed)) result.delete(key);
    for (const key of encodeGraph(graph, relabel(added))) result.add(key);
  }
  return sortKeys([...result]);
}

type Engine = import('@comunica/query-sparql-rdfjs').QueryEngine;
let engine: Promise<Engine> | undefined;

/** Loads Comunica, which takes half a second. */
export function loadEngine(): Promise<Engine> {
  engine ??= import('@comunica/query-sparql-rdfjs').then(({ QueryEngine }) => new QueryEngine());
  return engine;
}

/**
 * The keys of a graph after an update in the full language, in order, and the prefixes that the update declares. The
 * update sees this graph alone.
 * @throws LwsError as `parseUpdate` and `encodeGraph`
 */
export async function runUpdate(
  graph: string,
  keys: readonly string[],
  text: string,
): Promise<{ keys: string[]; declared: Readonly<Record<string, string>> }> {
  const { data, prefixes: declared } = await parseUpdate(text, graph);
  return { keys: data ? applyData(graph, keys, data) : await runFullUpdate(graph, keys, text), declared };
}

async function runFullUpdate(graph: string, keys: readonly string[], text: string): Promise<string[]> {
  const { DataFactory: N3Factory, Store } = await import('n3');
  const known = new Set<string>();
  const store = new Store();
  for (const { subject, predicate, object } of decodeGraph(keys)) {
    if (subject.termType === 'BlankNode') known.add(subject.value);
    if (object.termType === 'BlankNode') known.add(object.value);
    store.addQuad(N3Factory.quad(subject as never, predicate as never, object as never));
  }
  const comunica = await loadEngine();
  await comunica.queryVoid(resolveReferences(text, graph), {
    sources: [store as never],
    destination: store as never,
    baseIRI: graph,
  });
  return encodeGraph(
    graph,
    relabel(store.getQuads(null, null, null, null) as unknown as Quad[], (label) => known.has(label)),
  );
}
