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
      if (pattern.subType !== 'graph' || done.has(pattern) || bindsGraph(pattern)) return;
      done.add(pattern);
      nameFirst(pattern, parse);
    });
  }
}

const inside = (node: Syntax): readonly Syntax[] => (node['patterns'] as Syntax[] | undefined) ?? [];

/** Whether every solution comes from a triple, which says the graph. */
function bindsGraph(node: Syntax): boolean {
  if (node.type === 'query') return true;
  if (node.subType === 'bgp') return ((node['triples'] as unknown[] | undefined) ?? []).length > 0;
  if (node.subType === 'union') return inside(node).every(bindsGraph);
  return (node.subType === 'group' || node.subType === 'graph') && inside(node).some(bindsGraph);
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
