/**
 * GRAPH around a group without a triple pattern of its own: it holds for each graph that there is (SPARQL 1.1 18.6), of which
 * the algebra's translation keeps nothing. What finds the graphs is put in front, so that OPTIONAL comes behind it. It must not know the algebra.
 */

import type { Syntax } from './sparql-parser.js';

type Parse = (query: string) => Syntax;

/** Changes the syntax tree of a query. */
export function nameGraphs(root: Syntax, parse: Parse): void {
  const left: unknown[] = [root];
  const done = new Set<Syntax>();
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const each of Object.values(node)) left.push(each);
    const { patterns } = node as { patterns?: Syntax[] };
    patterns?.forEach((pattern) => {
      if (pattern.subType !== 'graph' || done.has(pattern) || inside(pattern).some(bindsGraph)) return;
      done.add(pattern);
      nameFirst(pattern, parse);
    });
  }
}

const inside = (node: Syntax): readonly Syntax[] => (node['patterns'] as Syntax[] | undefined) ?? [];

/** Whether every solution comes from a triple, which says the graph. */
function bindsGraph(node: Syntax): boolean {
  if (node.type === 'query') return true;
  if (node.subType === 'bgp') return ((node['triples'] as Syntax[] | undefined) ?? []).some(hasTriple);
  if (node.subType === 'union') return inside(node).every(bindsGraph);
  return node.subType === 'group' && inside(node).some(bindsGraph);
}

/** A path of no step from a term is in no graph. */
function hasTriple({ subject, predicate, object }: Syntax): boolean {
  const isTerm = (end: unknown): boolean => /^(?:namedNode|literal)$/.test((end as Syntax | undefined)?.subType ?? '');
  return !isNullable(predicate as Syntax | undefined) || !(isTerm(subject) || isTerm(object));
}

function isNullable(path: Syntax | undefined): boolean {
  if (path?.type !== 'path') return false;
  const items = path['items'] as readonly Syntax[];
  switch (path.subType) {
    case '?':
    case '*':
      return true;
    case '/':
      return items.every(isNullable);
    case '!':
      return false;
    default:
      return items.some(isNullable);
  }
}

function nameFirst(graph: Syntax, parse: Parse): void {
  const name = graph['name'] as Syntax;
  const isVariable = name.subType === 'variable';
  const any = 'GRAPH ?graph { ?_graph_s ?_graph_p ?_graph_o }';
  const group = parse(
    isVariable ? `SELECT * { { SELECT DISTINCT ?graph { ${any} } } }` : `SELECT * { FILTER EXISTS { ${any} } }`,
  )['where'] as Syntax & { patterns: Syntax[] };
  rename(group, name);
  (graph['patterns'] as Syntax[]).unshift(...group.patterns);
}

/** Puts the name where `?graph` stands. */
function rename(root: unknown, name: Syntax): void {
  if (typeof root !== 'object' || root === null) return;
  for (const [key, value] of Object.entries(root)) {
    const { subType, value: text } = (value ?? {}) as Syntax;
    if (subType === 'variable' && text === 'graph') (root as Record<string, unknown>)[key] = name;
    else rename(value, name);
  }
}
