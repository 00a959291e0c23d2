/** Graph picture of triples: nodes that can be dragged and opened. Loaded on demand. */

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
import { html, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { hrefOf, isOutside } from './table.js';
import { labelOf, plainText, type Row, type Term } from './terms.js';

/** Centre and size, in layout units. */
type View = Readonly<Record<'x' | 'y' | 'width' | 'height', number>>;

/** Maximum number of links with labels. More would hide the picture. */
const maxNamedLinks = 80;
const settleSteps = 300;
const radius = 7;
const margin = 25;
/** About the width of a letter of a label. */
const letterWidth = 7;

@customElement('ask-graph')
export class AskGraph extends Page {
  @property({ attribute: false }) rows: readonly Row[] = [];
  @state() private view: View = { x: 0, y: 0, width: 800, height: 500 };
  private graph: Graph = { nodes: [], links: [], isCut: false };
  private simulation: ReturnType<typeof layout> | undefined;
  /** Roving tabindex: Tab reaches this node, arrow keys move on. */
  private reachable: GraphNode | undefined;
  private held: { readonly node: GraphNode | undefined; x: number; y: number; moved: boolean } | undefined;

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has('rows')) return;
    this.simulation?.stop();
    this.graph = graphOf(this.rows);
    this.reachable = this.graph.nodes.find(({ term }) => hrefOf(term.value) !== undefined && term.kind === 'iri');
    this.simulation = layout(this.graph);
    // Layout is computed before it is shown, so nothing moves by itself, also with reduced motion.
    this.simulation.tick(settleSteps);
    this.simulation.on('tick', () => this.requestUpdate());
    this.fit();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.simulation?.stop();
  }

  override firstUpdated(): void {
    // Template listeners are passive, but the page must not scroll while the wheel zooms.
    this.querySelector('svg')?.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
  }

  private fit(): void {
    const { nodes } = this.graph;
    if (nodes.length === 0) return;
    const ys = nodes.map(({ y = 0 }) => y);
    const left = Math.min(...nodes.map(({ x = 0 }) => x)) - margin;
    // Labels are drawn to the right of their nodes.
    const right = Math.max(...nodes.map(({ x = 0, label }) => x + 2 * radius + label.length * letterWidth)) + margin;
    const [top, bottom] = [Math.min(...ys) - margin, Math.max(...ys) + margin];
    const [width, height] = [Math.max(400, right - left), Math.max(250, bottom - top)];
    this.view = { x: (left + right) / 2, y: (top + bottom) / 2, width, height };
  }

  protected override render(): TemplateResult {
    const { nodes, links, isCut } = this.graph;
    const { x, y, width, height } = this.view;
    return html`
      <div class="row">
        <button type="button" @click=${() => this.zoom(0.8)}>Zoom in</button>
        <button type="button" @click=${() => this.zoom(1.25)}>Zoom out</button>
        <button type="button" @click=${this.fit}>Show all</button>
        <span class="soft" role="status">${nodes.length} nodes, ${links.length} links.${
          isCut ? ` There is more: the picture shows the first ${maxNodes} nodes, the table all.` : ''
        }</span>
      </div>
      <svg class="graph" role="group" aria-label="Picture of the graph; its table says the same. Arrow keys go from node to node."
        viewBox="${x - width / 2} ${y - height / 2} ${width} ${height}"
        @pointerdown=${(event: PointerEvent) => this.hold(event, undefined)}
        @pointermove=${this.onMove} @pointerup=${this.release} @pointercancel=${this.release}>
        <defs><marker id="graph-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 L8 4 L0 8 z"></path></marker></defs>
        ${links.map((link) => this.link(link, links.length <= maxNamedLinks))}
        ${nodes.map((node) => this.node(node))}
      </svg>`;
  }

  private link({ source, target, label }: GraphLink, isNamed: boolean): TemplateResult {
    const [x1, y1, x2, y2] = [source.x ?? 0, source.y ?? 0, target.x ?? 0, target.y ?? 0];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const back = (radius + 2) / length;
    return svg`<g class="link"><line x1=${x1} y1=${y1} x2=${x2 - (x2 - x1) * back} y2=${y2 - (y2 - y1) * back}
      marker-end="url(#graph-arrow)"><title>${label}</title></line>
      ${isNamed ? svg`<text x=${(x1 + x2) / 2} y=${(y1 + y2) / 2 - 3} text-anchor="middle">${label}</text>` : nothing}</g>`;
  }

  private node(node: GraphNode): TemplateResult {
    const { term, label, x = 0, y = 0 } = node;
    const href = term.kind === 'iri' ? hrefOf(term.value) : undefined;
    const inside = svg`<title>${plainText(term)}</title><circle r=${radius}></circle><text x=${radius + 4} y="4">${label}</text>`;
    const at = `translate(${x} ${y})`;
    const hold = (event: PointerEvent): void => this.hold(event, node);
    if (href === undefined) return svg`<g class="node ${term.kind}" transform=${at} @pointerdown=${hold}>${inside}</g>`;
    return svg`<a class="node" href=${href} target=${isOutside(term.value) ? '_blank' : nothing} rel="noreferrer"
      transform=${at} tabindex=${node === this.reachable ? 0 : -1} aria-label=${plainText(term)} draggable="false"
      @pointerdown=${hold} @focus=${() => this.reach(node)}
      @keydown=${(event: KeyboardEvent) => this.onKey(event, node)} @dragstart=${(event: Event) => event.preventDefault()}
      >${inside}</a>`;
  }

  private reach(node: GraphNode): void {
    this.reachable = node;
    this.requestUpdate();
  }

  private hold(event: PointerEvent, node: GraphNode | undefined): void {
    event.stopPropagation();
    this.held = { node, x: event.clientX, y: event.clientY, moved: false };
  }

  private onMove(event: PointerEvent): void {
    const { held } = this;
    if (!held) return;
    const picture = this.querySelector('svg')!;
    const scale = this.unitsPerPixel(picture);
    const [dx, dy] = [(event.clientX - held.x) * scale, (event.clientY - held.y) * scale];
    // Tolerance: the pointer moves a little during a click.
    if (!held.moved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < 4) return;
    // The click that ends a drag goes to the picture and opens no node.
    if (!held.moved) picture.setPointerCapture(event.pointerId);
    held.moved = true;
    [held.x, held.y] = [event.clientX, event.clientY];
    if (!held.node) {
      this.view = { ...this.view, x: this.view.x - dx, y: this.view.y - dy };
      return;
    }
    held.node.fx = held.node.x = (held.node.x ?? 0) + dx;
    held.node.fy = held.node.y = (held.node.y ?? 0) + dy;
    // The other nodes follow, unless reduced motion is preferred.
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.simulation?.alpha(0.2).restart();
    this.requestUpdate();
  }

  private release(): void {
    this.held = undefined;
  }

  private unitsPerPixel(picture: Element): number {
    const { width, height } = picture.getBoundingClientRect();
    return Math.max(this.view.width / width, this.view.height / height);
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.1 : 1 / 1.1);
  }

  private zoom(factor: number): void {
    const width = Math.min(20_000, Math.max(60, this.view.width * factor));
    this.view = { ...this.view, width, height: (this.view.height * width) / this.view.width };
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
  /** True if the picture is incomplete. */
  readonly isCut: boolean;
}

export const maxNodes = 500;
const longestLabel = 28;

/** @param rows subject, predicate and object of each triple */
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
    // Each literal is a separate node: equal names must not connect resources.
    const target = source && node(object, object.kind === 'literal' ? `literal ${index}` : keyOf(object));
    if (source && target) links.push({ source, target, label: short(labelOf(predicate.value)) });
  });
  return { nodes: [...nodes.values()], links, isCut };
}

const keyOf = ({ kind, value }: Term): string => `${kind} ${value}`;
const short = (text: string): string => (text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text);

/** Layout that changes only on an explicit step. */
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
