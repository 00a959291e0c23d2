/** Graph picture of triples: nodes that can be dragged and opened. Loaded on demand. */

import * as d3 from 'd3-force';
import { html, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { labelOf, labels } from '../storage/labels.js';
import { type Frame, legend, Picture } from './picture.js';
import { hrefOf, isOutside } from './table.js';
import { plainText, type ResultRow, type ResultTerm } from './terms.js';

/** Maximum number of links with labels. More would hide the picture. */
const maxNamedLinks = 80;
const settleSteps = 300;
const radius = 7;
const margin = 25;
/** Maximum number of nodes whose labels are moved apart. */
const maxSeparated = 200;
/** Height of a label with a distance to the next. */
const lineHeight = 19;
/** About the width of a letter of a label. */
const letterWidth = 7.4;

/** What nodes are, for the legend. */
const kinds = { iri: 'thing with an address', blank: 'thing without one', literal: 'value', triple: 'triple term' };

@customElement('ask-graph')
export class AskGraph extends Picture {
  @property({ attribute: false }) rows: readonly ResultRow[] = [];
  @property({ attribute: false }) prefixes: Readonly<Record<string, string>> = {};
  private graph: DrawnGraph = { nodes: [], links: [], isCut: false };
  private simulation: ReturnType<typeof layout> | undefined;
  /** Roving tabindex: Tab reaches this node, arrow keys move on. */
  private reachable: GraphNode | undefined;
  /** Node that a pointer drags. */
  private dragged: GraphNode | undefined;
  /** Number of letters of the labels that the nodes have room for. */
  private letters = -1;
  /** Frame that the picture opened with. The user has not moved it as long as it is the current one. */
  private opening: Frame | undefined;
  private isLarger = false;

  protected override willUpdate(changed: PropertyValues): void {
    this.follow(labels);
    if (changed.has('rows')) this.draw();
    // Labels arrive after the layout.
    const letters = this.graph.nodes.reduce((sum, { term }) => sum + this.label(term).length, 0);
    if (letters === this.letters) return;
    this.letters = letters;
    if (this.graph.nodes.length <= maxSeparated)
      separate(this.graph.nodes, ({ term }) => this.label(term).length * letterWidth);
    if (this.frame !== this.opening) return;
    this.fit(isNarrow() ? 1.2 : 2.5);
    this.opening = this.frame;
  }

  private draw(): void {
    this.simulation?.stop();
    this.graph = graphOf(this.rows);
    this.reachable = this.graph.nodes.find(({ term }) => hrefOf(term.value) !== undefined && term.kind === 'iri');
    this.simulation = layout(this.graph, this.clientWidth || 800);
    // Layout is computed before it is shown, so nothing moves by itself, also with reduced motion.
    this.simulation.tick(settleSteps);
    this.simulation.on('tick', () => this.requestUpdate());
    this.letters = -1;
    this.opening = this.frame;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.simulation?.stop();
  }

  /** @param most largest factor by which labels are smaller. A larger graph begins at the node with the most links. */
  protected fit(most = Number.POSITIVE_INFINITY): void {
    const { nodes } = this.graph;
    if (nodes.length === 0) return;
    const ys = nodes.map(({ y = 0 }) => y);
    const left = Math.min(...nodes.map(({ x = 0 }) => x)) - margin;
    // Labels are drawn to the right of their nodes.
    const right =
      Math.max(...nodes.map(({ x = 0, term }) => x + 2 * radius + this.label(term).length * letterWidth)) + margin;
    const [top, bottom] = [Math.min(...ys) - margin, Math.max(...ys) + margin];
    const across = this.clientWidth || 800;
    // As in the style sheet. The picture is not rendered yet when it opens.
    const high = isNarrow() ? 0.5 * innerHeight : Math.min(0.7 * innerHeight, 576);
    const width = Math.min(most * across, Math.max(across, right - left));
    const height = Math.min(most * high, Math.max(250, bottom - top));
    this.isLarger = width < right - left || height < bottom - top;
    const { x = 0, y = 0 } = this.isLarger ? busiest(this.graph) : {};
    this.frame = { x: middleOf(left, right, width, x), y: middleOf(top, bottom, height, y), width, height };
  }

  /** What the picture shows, and what it leaves out. */
  private summary(unnamed: number): string {
    const { nodes, links, isCut } = this.graph;
    const part = isCut ? `the first ${links.length} of` : 'all';
    return [
      `${nodes.length} nodes, ${links.length} links: ${part} ${this.rows.length.toLocaleString()} triples.`,
      isCut ? `The picture ends after ${maxNodes} nodes, the table has all.` : '',
      this.isLarger ? 'The graph is larger than the picture: drag it, or select Show all.' : '',
      unnamed > 0 ? `${unnamed} links have no label, since labels would overlap: ${howToRead()}.` : '',
    ].join(' ');
  }

  protected override render(): TemplateResult {
    const { nodes, links } = this.graph;
    const named = links.length <= maxNamedLinks ? this.namedLinks() : new Map<GraphLink, Box>();
    return html`
      <div class="row">
        ${this.buttons()}
        <span class="soft grow" role="status">${this.summary(links.length - named.size)}</span>
      </div>
      <svg class="graph" role="group" aria-label="Picture of the graph; its table says the same. Arrow keys go from node to node."
        viewBox=${this.viewBox}
        @pointerdown=${(event: PointerEvent) => this.holdNode(event, undefined)}
        @pointermove=${this.onMove} @pointerup=${this.release} @pointercancel=${this.release}>
        <defs><marker id="graph-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 L8 4 L0 8 z"></path></marker></defs>
        ${links.map((link) => this.link(link, named.get(link)))}
        ${nodes.map((node) => this.node(node))}
      </svg>
      ${legend(Object.entries(kinds).filter(([kind]) => nodes.some(({ term }) => term.kind === kind)))}`;
  }

  /** Places of the labels of links where they cover no other label. Those without a place have a title only. */
  private namedLinks(): ReadonlyMap<GraphLink, Box> {
    const { nodes, links } = this.graph;
    const placed = nodes.map((node) => boxOf(node, this.label(node.term).length * letterWidth));
    const found = new Map<GraphLink, Box>();
    for (const link of links) {
      const half = (this.label(link.predicate).length * letterWidth * 0.9) / 2;
      const box = placesOn(link).map(([x, y]): Box => ({ left: x - half, right: x + half, y }));
      const free = box.find((each) => placed.every((other) => !areOverlapping(other, each)));
      if (!free) continue;
      placed.push(free);
      found.set(link, free);
    }
    return found;
  }

  /** Labels can arrive after the layout. */
  private label(term: ResultTerm): string {
    const text = term.kind === 'iri' ? labelOf(term.value, this.prefixes) : plainText(term);
    return text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text;
  }

  private link({ source, target, predicate }: GraphLink, place: Box | undefined): TemplateResult {
    const label = this.label(predicate);
    const [x1, y1, x2, y2] = [source.x ?? 0, source.y ?? 0, target.x ?? 0, target.y ?? 0];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const back = (radius + 2) / length;
    return svg`<g class="link"><line x1=${x1} y1=${y1} x2=${x2 - (x2 - x1) * back} y2=${y2 - (y2 - y1) * back}
      marker-end="url(#graph-arrow)"><title>${label}</title></line>
      ${place ? svg`<text x=${(place.left + place.right) / 2} y=${place.y + 3} text-anchor="middle">${label}</text>` : nothing}</g>`;
  }

  private node(node: GraphNode): TemplateResult {
    const { term, x = 0, y = 0 } = node;
    const href = term.kind === 'iri' ? hrefOf(term.value) : undefined;
    const inside = svg`<title>${plainText(term)}</title><circle r=${radius}></circle><text x=${radius + 4} y="4">${this.label(term)}</text>`;
    const at = `translate(${x} ${y})`;
    const hold = (event: PointerEvent): void => this.holdNode(event, node);
    if (href === undefined) return svg`<g class="node ${term.kind}" transform=${at} @pointerdown=${hold}>${inside}</g>`;
    return svg`<a class="node" href=${href} target=${isOutside(term.value) ? '_blank' : nothing} rel="noreferrer"
      transform=${at} tabindex=${node === this.reachable ? 0 : -1} aria-label=${`${this.label(term)}, ${plainText(term)}`} draggable="false"
      @pointerdown=${hold} @focus=${() => this.reach(node)}
      @keydown=${(event: KeyboardEvent) => this.onKey(event, node)} @dragstart=${(event: Event) => event.preventDefault()}
      >${inside}</a>`;
  }

  private reach(node: GraphNode): void {
    this.reachable = node;
    this.requestUpdate();
  }

  private holdNode(event: PointerEvent, node: GraphNode | undefined): void {
    event.stopPropagation();
    this.dragged = node;
    this.hold(event);
  }

  protected override drag(dx: number, dy: number): void {
    const { dragged } = this;
    if (!dragged) {
      super.drag(dx, dy);
      return;
    }
    dragged.fx = dragged.x = (dragged.x ?? 0) + dx;
    dragged.fy = dragged.y = (dragged.y ?? 0) + dy;
    // The other nodes follow, unless reduced motion is preferred.
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.simulation?.alpha(0.2).restart();
    this.requestUpdate();
  }

  /** Arrow keys move to the nearest node in their direction. */
  private onKey(event: KeyboardEvent, from: GraphNode): void {
    const directions: Record<string, readonly [number, number]> = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowDown: [0, 1],
      ArrowUp: [0, -1],
    };
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const [nearest] = this.graph.nodes
      .filter((node) => node !== from && node.term.kind === 'iri' && hrefOf(node.term.value) !== undefined)
      .map((node) => {
        const [dx, dy] = [(node.x ?? 0) - (from.x ?? 0), (node.y ?? 0) - (from.y ?? 0)];
        const along = dx * direction[0] + dy * direction[1];
        const aside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
        return { node, along, cost: along + 2 * aside };
      })
      .filter(({ along }) => along > 0)
      .sort((a, b) => a.cost - b.cost);
    if (!nearest) return;
    this.reach(nearest.node);
    void this.updateComplete.then(() => this.querySelector<SVGElement>('a.node[tabindex="0"]')?.focus());
  }
}

interface GraphNode extends d3.SimulationNodeDatum {
  readonly term: ResultTerm;
}

export interface GraphLink extends d3.SimulationLinkDatum<GraphNode> {
  readonly source: GraphNode;
  readonly target: GraphNode;
  readonly predicate: ResultTerm;
}

export interface DrawnGraph {
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
  /** True if the picture is incomplete. */
  readonly isCut: boolean;
}

export const maxNodes = 500;
const longestLabel = 28;

/** @param rows subject, predicate and object of each triple */
export function graphOf(rows: readonly ResultRow[]): DrawnGraph {
  const nodes = new Map<string, GraphNode>();
  const links: GraphLink[] = [];
  let isCut = false;
  const node = (term: ResultTerm, key: string): GraphNode | undefined => {
    const known = nodes.get(key);
    if (known) return known;
    if (nodes.size === maxNodes) {
      isCut = true;
      return undefined;
    }
    const made: GraphNode = { term };
    nodes.set(key, made);
    return made;
  };
  rows.forEach(([subject, predicate, object], index) => {
    if (!subject || !predicate || !object) return;
    const source = node(subject, keyOf(subject));
    // Each literal is a separate node: equal names must not connect resources.
    const target = source && node(object, object.kind === 'literal' ? `literal ${index}` : keyOf(object));
    if (source && target) links.push({ source, target, predicate });
  });
  return { nodes: [...nodes.values()], links, isCut };
}

/** Node with the most links. */
function busiest({ nodes, links }: DrawnGraph): GraphNode {
  const counts = new Map<GraphNode, number>();
  for (const end of links.flatMap(({ source, target }) => [source, target]))
    counts.set(end, (counts.get(end) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return nodes.find((node) => counts.get(node) === most) ?? nodes[0]!;
}

/** Middle of a frame: that of the picture, or the nearest to a position if the picture is larger. */
const middleOf = (from: number, to: number, size: number, at: number): number =>
  size < to - from ? Math.max(from + size / 2, Math.min(to - size / 2, at)) : (from + to) / 2;

/** A phone shows a part of the graph in a readable size. */
const isNarrow = (): boolean => matchMedia('(max-width: 45rem)').matches;

/** Fingers cannot point at a link. */
const howToRead = (): string =>
  matchMedia('(hover: none)').matches ? 'the table names them' : 'point at one to read it';

interface Box {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** A node with its label to the right. */
const boxOf = ({ x = 0, y = 0 }: GraphNode, width: number): Box => ({
  left: x - radius - 2,
  right: x + radius + 6 + width,
  y,
});

/** Places for the label of a link: in its middle and beside it, above and below the line. */
const placesOn = ({ source, target }: GraphLink): (readonly [x: number, y: number])[] =>
  [0.5, 0.35, 0.65].flatMap((part) =>
    [-6, 16, -20, 24].map(
      (up) =>
        [
          (source.x ?? 0) + ((target.x ?? 0) - (source.x ?? 0)) * part,
          (source.y ?? 0) + ((target.y ?? 0) - (source.y ?? 0)) * part + up,
        ] as const,
    ),
  );

const areOverlapping = (one: Box, other: Box): boolean =>
  Math.abs(one.y - other.y) < lineHeight && one.left < other.right && other.left < one.right;

/** Moves nodes up and down until no label covers another. */
function separate(nodes: readonly GraphNode[], widthOf: (node: GraphNode) => number): void {
  for (let round = 0, isFree = false; round < 200 && !isFree; round++) {
    isFree = true;
    const sorted = nodes.toSorted((a, b) => (a.y ?? 0) - (b.y ?? 0));
    sorted.forEach((upper, at) => {
      for (const lower of sorted.slice(at + 1)) {
        if (!areOverlapping(boxOf(upper, widthOf(upper)), boxOf(lower, widthOf(lower)))) continue;
        const by = (lineHeight - ((lower.y ?? 0) - (upper.y ?? 0))) / 2 + 0.1;
        upper.y = (upper.y ?? 0) - by;
        lower.y = (lower.y ?? 0) + by;
        isFree = false;
      }
    });
  }
}

const keyOf = ({ kind, value }: ResultTerm): string => `${kind} ${value}`;

/** Layout that changes only on an explicit step. @param across width of the picture, which wider distances use */
export function layout({ nodes, links }: DrawnGraph, across: number): d3.Simulation<GraphNode, GraphLink> {
  const scale = Math.min(1.5, Math.max(0.6, across / 800));
  return d3
    .forceSimulation<GraphNode, GraphLink>([...nodes])
    .force(
      'links',
      d3
        .forceLink<GraphNode, GraphLink>([...links])
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
