/** Nodes and links of triples, and their layout. */

import * as d3 from 'd3-force';
import type { ResultRow, ResultTerm } from './terms.js';

const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
/** Count of types that have a colour. */
const colourCount = 6;

export interface DrawnNode extends d3.SimulationNodeDatum {
  readonly term: ResultTerm;
  /** First rdf:type, which determines the colour. */
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
/** Maximum count of nodes on a circle. For more nodes, count of steps until the layout is at rest. */
const [nodesOfCircle, settleSteps] = [8, 300];

/** Returns the nodes and links of triples. @param rows subject, predicate and object of each triple */
export function graphOf(rows: readonly ResultRow[]): DrawnGraph {
  const nodes = new Map<string, DrawnNode>();
  const links: GraphLink[] = [];
  let isCut = false;
  // If a result has only types, the types are nodes.
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

/** Returns the types of the nodes, most frequent first. */
function frequentTypes(nodes: readonly DrawnNode[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { type } of nodes) if (type !== undefined) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, colourCount)
    .map(([type]) => type);
}

/** Links between two nodes, which are drawn as one line. */
export interface NodePair {
  readonly source: DrawnNode;
  readonly target: DrawnNode;
  readonly links: readonly GraphLink[];
  /** True if some links lead back from the target to the source. */
  readonly isMutual: boolean;
}

export function pairsOf(links: readonly GraphLink[]): readonly NodePair[] {
  const found = new Map<DrawnNode, Map<DrawnNode, GraphLink[]>>();
  for (const link of links) {
    const { source, target } = link;
    const there = found.get(source)?.get(target) ?? found.get(target)?.get(source);
    if (there) there.push(link);
    else found.set(source, (found.get(source) ?? new Map()).set(target, [link]));
  }
  return [...found.values()].flatMap((targets) =>
    [...targets.values()].map((each) => {
      const { source, target } = each[0]!;
      return { source, target, links: each, isMutual: each.some((link) => link.source !== source) };
    }),
  );
}

/** Returns the groups of connected nodes, largest groups first. */
function groupsOf({ nodes, links }: DrawnGraph): readonly (readonly DrawnNode[])[] {
  const next = new Map<DrawnNode, DrawnNode[]>(nodes.map((node) => [node, []]));
  for (const { source, target } of links) {
    next.get(source)!.push(target);
    next.get(target)!.push(source);
  }
  const seen = new Set<DrawnNode>();
  const groups: DrawnNode[][] = [];
  const byLinks = nodes.toSorted((a, b) => next.get(b)!.length - next.get(a)!.length);
  for (const start of byLinks) {
    if (seen.has(start)) continue;
    const group: DrawnNode[] = [];
    const left = [start];
    seen.add(start);
    for (let node = left.pop(); node; node = left.pop()) {
      group.push(node);
      for (const each of next.get(node)!)
        if (!seen.has(each)) {
          seen.add(each);
          left.push(each);
        }
    }
    groups.push(group);
  }
  return groups.sort((a, b) => b.length - a.length);
}

const keyOf = ({ kind, value }: ResultTerm): string => `${kind} ${value}`;

/** Size of the picture for which a graph is laid out, in pixels, and width of a name. */
export interface Room {
  readonly width: number;
  readonly height: number;
  readonly nameWidth: (node: DrawnNode) => number;
}

type Layout = d3.Simulation<DrawnNode, GraphLink>;

/** Returns a layout that changes only on an explicit step. */
export function layout(graph: DrawnGraph, room: Room): Layout {
  const { nodes, links } = graph;
  const simulation = d3
    .forceSimulation<DrawnNode, GraphLink>([...nodes])
    .force(
      'links',
      d3
        .forceLink<DrawnNode, GraphLink>([...links])
        .distance(90)
        .strength(0.4),
    )
    .force('charge', d3.forceManyBody().strength(-240).distanceMax(600))
    .force('collide', d3.forceCollide(24))
    .force('x', d3.forceX(0).strength(0.05))
    .force('y', d3.forceY(0).strength(0.05))
    .stop();
  if (nodes.length <= nodesOfCircle) arrangeOnCircle(groupsOf(graph).flat(), room);
  else {
    simulation.tick(settleSteps);
    arrangeGroups(groupsOf(graph), room, simulation);
  }
  return simulation;
}

/** Arranges few nodes on an ellipse, connected nodes beside each other, and fixes their positions. */
function arrangeOnCircle(nodes: readonly DrawnNode[], { width, height, nameWidth }: Room): void {
  const widest = Math.max(0, ...nodes.map(nameWidth));
  const y = Math.max(60, height / 2 - 60);
  const x = Math.max(60, Math.min(1.8 * y, width / 2 - 50 - widest));
  nodes.forEach((node, at) => {
    const angle = (at / nodes.length) * 2 * Math.PI - (nodes.length === 2 ? Math.PI : Math.PI / 2);
    const own = nodes.length === 1 ? 0 : 1;
    node.fx = node.x = own * x * Math.cos(angle);
    node.fy = node.y = own * (nodes.length === 2 ? 0 : y) * Math.sin(angle);
  });
}

/** Arranges groups in rows, in about the proportions of the picture. */
function arrangeGroups(groups: readonly (readonly DrawnNode[])[], room: Room, simulation: Layout): void {
  const ratio = room.width / room.height;
  const boxes = groups.map((group) => {
    if (groups.length === 1) stretch(group, ratio);
    const [xs, ys] = [group.map(({ x = 0 }) => x), group.map(({ y = 0 }) => y)];
    const name = Math.max(...group.map(room.nameWidth));
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    return { group, left, top, width: Math.max(...xs) - left + name + 50, height: Math.max(...ys) - top + 60 };
  });
  const area = boxes.reduce((sum, { width, height }) => sum + width * height, 0);
  const most = Math.max(Math.sqrt(area * ratio) * 1.15, ...boxes.map(({ width }) => width));
  const rows: { boxes: typeof boxes; width: number; height: number }[] = [];
  for (const box of boxes) {
    const last = rows.at(-1);
    if (last && last.width + box.width <= most) {
      last.boxes.push(box);
      [last.width, last.height] = [last.width + box.width, Math.max(last.height, box.height)];
    } else rows.push({ boxes: [box], width: box.width, height: box.height });
  }
  const homes = new Map<DrawnNode, readonly [x: number, y: number]>();
  let y = 0;
  for (const row of rows) {
    let x = -row.width / 2;
    for (const { group, left, top, width, height } of row.boxes) {
      const above = y + (row.height - height) / 2;
      for (const node of group) {
        node.x = (node.x ?? 0) - left + x;
        node.y = (node.y ?? 0) - top + above;
        homes.set(node, [x + width / 2, above + height / 2]);
      }
      x += width;
    }
    y += row.height;
  }
  // These forces keep groups apart when a node is dragged.
  simulation
    .force('x', d3.forceX<DrawnNode>((node) => homes.get(node)![0]).strength(0.05))
    .force('y', d3.forceY<DrawnNode>((node) => homes.get(node)![1]).strength(0.05));
}

/** Stretches a group to about the proportions of the picture. */
function stretch(group: readonly DrawnNode[], ratio: number): void {
  const sizeOf = (values: readonly number[]): number => Math.max(1, Math.max(...values) - Math.min(...values));
  const own = sizeOf(group.map(({ x = 0 }) => x)) / sizeOf(group.map(({ y = 0 }) => y));
  const by = Math.min(1.5, Math.max(0.7, Math.sqrt(ratio / own)));
  for (const node of group) {
    node.x = (node.x ?? 0) * by;
    node.y = (node.y ?? 0) / by;
  }
}
