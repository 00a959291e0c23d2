/**
 * GRAPH around a group without a triple pattern of its own: it holds for each graph that there is (SPARQL 1.1 18.6), of which the algebra's
 * translation keeps nothing. What finds the graphs is put in front, so that OPTIONAL comes after it.
 */

import { nodesOf } from './query-scopes.js';
import type { Syntax } from './sparql-parser.js';

/** The predicate of a pattern that every graph matches, once. No query can write it. */
export const anyGraph = 'urn:every graph';

type Parse = (query: string) => Syntax;

/** Changes the syntax tree of a query. */
export function nameGraphs(root: Syntax, parse: Parse): void {
  const done = new Set<Syntax>();
  for (const { patterns } of nodesOf(root) as Iterable<{ readonly patterns?: readonly Syntax[] }>)
    for (const pattern of patterns ?? []) {
      if (pattern.subType !== 'graph' || done.has(pattern) || inside(pattern).some(bindsGraph)) continue;
      done.add(pattern);
      nameFirst(pattern, parse);
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
  const { patterns } = parse('SELECT * { <urn:x> <urn:x> <urn:x> }')['where'] as Syntax & { patterns: Syntax[] };
  for (const node of nodesOf(patterns) as Iterable<Record<string, unknown>>)
    if (node['subType'] === 'namedNode') node['value'] = anyGraph;
  (graph['patterns'] as Syntax[]).unshift(...patterns);
}
