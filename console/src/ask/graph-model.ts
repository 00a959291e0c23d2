/** Nodes and links of triples, and their layout. */

import * as d3 from 'd3-force';
import type { ResultRow, ResultTerm } from './terms.js';

const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
/** Number of types that have a colour. */
const colourCount = 6;

export interface DrawnNode extends d3.SimulationNodeDatum {
  readonly term: ResultTerm;
  /** First type (rdf:type), which is its colour. */
  type?: string;
}

export interface GraphLink extends d3.SimulationLinkDatum<DrawnNode> {
  readonly source: DrawnNode;
  readonly target: DrawnNode;
  readonly predicate: ResultTerm;
}

export interface DrawnGraph {
  readonly nodes: readonly DrawnNode[];
  readonly links: readonly GraphLink[];
  /** Types with a colour, the most frequent first. */
  readonly types: readonly string[];
  /** True if the picture is incomplete. */
  readonly isCut: boolean;
}

export const maxNodes = 500;
const fewNodes = 15;

/** @param rows subject, predicate and object of each triple */
export function graphOf(rows: readonly ResultRow[]): DrawnGraph {
  const nodes = new Map<string, DrawnNode>();
  const links: GraphLink[] = [];
  let isCut = false;
  // A result of types alone has them as nodes.
  const hasLinks = rows.some(([, predicate, object]) => !isType(predicate, object));
  const node = (term: ResultTerm, key: string): DrawnNode | undefined => {
    const known = nodes.get(key);
    if (known) return known;
    if (nodes.size === maxNodes) {
      isCut = true;
      return undefined;
    }
    const made: DrawnNode = { term };
    nodes.set(key, made);
    return made;
  };
  rows.forEach(([subject, predicate, object], index) => {
    if (!subject || !predicate || !object) return;
    const source = node(subject, keyOf(subject));
    if (hasLinks && isType(predicate, object)) {
      if (source) source.type ??= object.value;
      return;
    }
    // Each literal is a separate node: equal names must not connect resources.
    const target = source && node(object, object.kind === 'literal' ? `literal ${index}` : keyOf(object));
    if (source && target) links.push({ source, target, predicate });
  });
  const all = [...nodes.values()];
  return { nodes: all, links, types: frequentTypes(all), isCut };
}

const isType = (predicate: ResultTerm | undefined, object: ResultTerm | undefined): boolean =>
  predicate?.value === rdfType && object?.kind === 'iri';

/** Types of the nodes, the most frequent first. */
function frequentTypes(nodes: readonly DrawnNode[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { type } of nodes) if (type !== undefined) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, colourCount)
    .map(([type]) => type);
}

/** Node with the most links. */
export function busiest({ nodes, links }: DrawnGraph): DrawnNode {
  const counts = new Map<DrawnNode, number>();
  for (const end of links.flatMap(({ source, target }) => [source, target]))
    counts.set(end, (counts.get(end) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return nodes.find((node) => counts.get(node) === most) ?? nodes[0]!;
}

const keyOf = ({ kind, value }: ResultTerm): string => `${kind} ${value}`;

/** Layout that changes only on an explicit step. @param across width of the picture, which wider distances use */
export function layout({ nodes, links }: DrawnGraph, across: number): d3.Simulation<DrawnNode, GraphLink> {
  // Few nodes have more room each.
  const scale = Math.min(1.5, Math.max(0.6, across / 800)) * (nodes.length < fewNodes ? 1.5 : 1);
  return d3
    .forceSimulation<DrawnNode, GraphLink>([...nodes])
    .force(
      'links',
      d3
        .forceLink<DrawnNode, GraphLink>([...links])
        .distance(90 * scale)
        .strength(0.4),
    )
    .force(
      'charge',
      d3
        .forceManyBody()
        .strength(-220 * scale ** 2)
        .distanceMax(600),
    )
    .force('collide', d3.forceCollide(22))
    .force('centre', d3.forceCenter(0, 0))
    .force('x', d3.forceX(0).strength(0.04))
    .force('y', d3.forceY(0).strength(0.06))
    .stop();
}
