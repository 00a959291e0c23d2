/** Statements as nodes and links, and where they lie. */
import {
  forceCenter,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force';
import { labelOf, plainText, type Row, type Term } from './terms.js';

export interface GraphNode extends SimulationNodeDatum {
  readonly term: Term;
  readonly label: string;
}

export interface GraphLink extends SimulationLinkDatum<GraphNode> {
  readonly source: GraphNode;
  readonly target: GraphNode;
  readonly label: string;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
  /** Whether there is more than is in it. */
  readonly isCut: boolean;
}

export const maxNodes = 500;
const longestLabel = 28;

/** @param rows subject, predicate and object of each statement */
export function graphOf(rows: readonly Row[]): Graph {
  const nodes = new Map<string, GraphNode>();
  const links: GraphLink[] = [];
  let isCut = false;
  const node = (term: Term, key: string): GraphNode | undefined => {
    const known = nodes.get(key);
    if (known) return known;
    if (nodes.size === maxNodes) {
      isCut = true;
      return undefined;
    }
    const made: GraphNode = { term, label: short(term.kind === 'iri' ? labelOf(term.value) : plainText(term)) };
    nodes.set(key, made);
    return made;
  };
  rows.forEach(([subject, predicate, object], index) => {
    if (!subject || !predicate || !object) return;
    const source = node(subject, keyOf(subject));
    // Each literal is a node of its own: that two things are called the same does not join them.
    const target = source && node(object, object.kind === 'literal' ? `literal ${index}` : keyOf(object));
    if (source && target) links.push({ source, target, label: short(labelOf(predicate.value)) });
  });
  return { nodes: [...nodes.values()], links, isCut };
}

const keyOf = ({ kind, value }: Term): string => `${kind} ${value}`;
const short = (text: string): string => (text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text);

/** A layout that stands still until it is stepped. */
export function layout({ nodes, links }: Graph): Simulation<GraphNode, GraphLink> {
  return forceSimulation<GraphNode, GraphLink>([...nodes])
    .force(
      'links',
      forceLink<GraphNode, GraphLink>([...links])
        .distance(90)
        .strength(0.4),
    )
    .force('charge', forceManyBody().strength(-220).distanceMax(600))
    .force('collide', forceCollide(22))
    .force('centre', forceCenter(0, 0))
    .force('x', forceX(0).strength(0.04))
    .force('y', forceY(0).strength(0.06))
    .stop();
}
