/** Graph view of triples. Nodes can be dragged, and link to their resources. Loaded on demand. */
import { html, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { kindName, labelOf, labels } from '../storage/labels.js';
import { busiest, type DrawnGraph, type DrawnNode, type GraphLink, graphOf, layout, maxNodes } from './graph-model.js';
import { counted, type Frame, legend, Picture } from './picture.js';
import { hrefOf, isOutside } from './table.js';
import { plainText, type ResultRow, type ResultTerm } from './terms.js';

/** Maximum number of links with labels. More would hide the picture. */
const maxNamedLinks = 12;
const settleSteps = 300;
/** Numbers of nodes that a phone shows with their names, and of links of a node that is named among more. */
const [fewNodes, linksOfHub] = [12, 4];
const radius = 7;
const margin = 25;
/** Maximum length of a label, in characters. */
const longestLabel = 28;
/** Largest factor by which a small graph is enlarged. */
const largest = 1.5;
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
  private graph: DrawnGraph = { nodes: [], links: [], types: [], isCut: false };
  private simulation: ReturnType<typeof layout> | undefined;
  /** Roving tabindex: Tab reaches this node, arrow keys move on. */
  private reachable: DrawnNode | undefined;
  /** Node that a pointer drags. */
  private dragged: DrawnNode | undefined;
  /** Number of letters of the labels that the nodes have room for. */
  private letters = -1;
  /** Frame that the picture opened with. The user has not moved it as long as it is the current one. */
  private opening: Frame | undefined;
  private isLarger = false;
  /** Link whose label is shown, although there is no place for it. */
  @state() private pointed: GraphLink | undefined;

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
    const width = Math.min(most * across, Math.max(across / largest, right - left));
    const height = Math.min(most * high, Math.max(high / largest, bottom - top));
    this.isLarger = width < right - left || height < bottom - top;
    const { x = 0, y = 0 } = this.isLarger ? busiest(this.graph) : {};
    this.frame = { x: middleOf(left, right, width, x), y: middleOf(top, bottom, height, y), width, height };
  }

  /** What the picture shows, and what it leaves out. */
  private summary(unnamed: number): string {
    const { nodes, links, isCut } = this.graph;
    const part = isCut ? `the first ${links.length} of` : 'all';
    return [
      `${counted(nodes.length, 'node')}, ${counted(links.length, 'link')}: ${part} ${counted(this.rows.length, 'triple')}.`,
      isCut ? `The picture ends after ${maxNodes} nodes, the table has all.` : '',
      this.isLarger ? 'The graph is larger than the picture: drag it, or select Show all.' : '',
      unnamed > 0 ? `${matchMedia('(hover: none)').matches ? 'Tap' : 'Point at'} a link to read its label.` : '',
    ].join(' ');
  }

  protected override render(): TemplateResult {
    const { nodes, links } = this.graph;
    const named = links.length <= maxNamedLinks ? this.namedLinks() : new Map<GraphLink, undefined>();
    return html`
      <p class="soft" role="status">${this.summary(links.length - named.size)}</p>
      <div class="framed"><svg class="graph" role="group" aria-label="Picture of the graph; its table says the same. Arrow keys go from node to node."
        viewBox=${this.viewBox}
        @pointerdown=${(event: PointerEvent) => this.holdNode(event, undefined)}
        @pointermove=${this.onMove} @pointerup=${this.release} @pointercancel=${this.release}>
        <defs><marker id="graph-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 L8 4 L0 8 z"></path></marker></defs>
        ${links.map((link) => this.link(link, named.get(link)))}
        ${nodes.map((node) => this.node(node))}
      </svg>${this.buttons()}</div>
      ${this.colours()}`;
  }

  /** Places of the labels of links where they cover no other label. Those without a place have a title only. */
  private namedLinks(): ReadonlyMap<GraphLink, Box | undefined> {
    const { nodes, links } = this.graph;
    const placed = nodes.map((node) => boxOf(node, this.label(node.term).length * letterWidth));
    const found = new Map<GraphLink, Box | undefined>();
    for (const link of links) {
      // One label serves a link and its reverse.
      if ([...found.keys()].some((other) => isReverse(other, link))) {
        found.set(link, undefined);
        continue;
      }
      const half = (this.label(link.predicate).length * letterWidth * 0.9) / 2;
      const box = placesOn(link).map((place) => boxAt(place, half));
      const free = box.find((each) => placed.every((other) => !areOverlapping(other, each)));
      if (!free) continue;
      placed.push(free);
      found.set(link, free);
    }
    return found;
  }

  /** Class of the colour of a node: that of its type, or of its kind. */
  private kindOf({ type, term }: DrawnNode): string {
    const at = type === undefined ? -1 : this.graph.types.indexOf(type);
    return at >= 0 ? `type-${at + 1}` : this.graph.types.length > 0 && term.kind === 'iri' ? 'blank' : term.kind;
  }

  private colours(): unknown {
    const { nodes, types } = this.graph;
    const used = new Set(nodes.map((node) => this.kindOf(node)));
    const others = types.length > 0 ? { ...kinds, blank: 'another thing' } : kinds;
    return legend([
      ...types.map((type, at) => [`type-${at + 1}`, kindName(type)] as const),
      ...Object.entries(others).filter(([kind]) => used.has(kind)),
    ]);
  }

  /** Labels can arrive after the layout. */
  private label(term: ResultTerm): string {
    const text = term.kind === 'iri' ? labelOf(term.value, this.prefixes) : plainText(term);
    return text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text;
  }

  private link(link: GraphLink, free: Box | undefined): TemplateResult {
    const { source, target, predicate } = link;
    const place = free ?? (link === this.pointed ? boxAt(placesOn(link)[0]!, 0) : undefined);
    const label = this.label(predicate);
    const [x1, y1, x2, y2] = [source.x ?? 0, source.y ?? 0, target.x ?? 0, target.y ?? 0];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const back = (radius + 4) / length;
    const point = (): void => {
      this.pointed = link;
    };
    return svg`<g class="link" @pointerenter=${point} @pointerdown=${point}><path class="near" d=${`M${x1} ${y1}L${x2} ${y2}`}></path><line x1=${x1} y1=${y1} x2=${x2 - (x2 - x1) * back} y2=${y2 - (y2 - y1) * back}
      marker-end="url(#graph-arrow)"><title>${label}</title></line>
      ${place ? svg`<text x=${(place.left + place.right) / 2} y=${place.y + 3} text-anchor="middle">${label}</text>` : nothing}</g>`;
  }

  private node(node: DrawnNode): TemplateResult {
    const { term, x = 0, y = 0 } = node;
    const href = term.kind === 'iri' ? hrefOf(term.value) : undefined;
    const inside = svg`<title>${plainText(term)}</title><circle r=${radius}></circle>${this.isNamed(node) ? svg`<text x=${radius + 4} y="4">${this.label(term)}</text>` : nothing}`;
    const at = `translate(${x} ${y})`;
    const hold = (event: PointerEvent): void => this.holdNode(event, node);
    const kind = `node ${this.kindOf(node)}`;
    if (href === undefined) return svg`<g class=${kind} transform=${at} @pointerdown=${hold}>${inside}</g>`;
    return svg`<a class=${kind} href=${href} target=${isOutside(term.value) ? '_blank' : nothing} rel="noreferrer"
      transform=${at} tabindex=${node === this.reachable ? 0 : -1} aria-label=${`${this.label(term)}, ${plainText(term)}`} draggable="false"
      @pointerdown=${hold} @focus=${() => this.reach(node)}
      @keydown=${(event: KeyboardEvent) => this.onKey(event, node)} @dragstart=${(event: Event) => event.preventDefault()}
      >${inside}</a>`;
  }

  /** A phone has room for the names of hubs, until the user zooms in. */
  private isNamed(node: DrawnNode): boolean {
    const { links, nodes } = this.graph;
    if (!isNarrow() || nodes.length <= fewNodes || this.frame.width < 0.9 * (this.opening?.width ?? 0)) return true;
    return links.filter(({ source, target }) => source === node || target === node).length >= linksOfHub;
  }

  private reach(node: DrawnNode): void {
    this.reachable = node;
    this.requestUpdate();
  }

  private holdNode(event: PointerEvent, node: DrawnNode | undefined): void {
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
  private onKey(event: KeyboardEvent, from: DrawnNode): void {
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

/** Middle of a frame: that of the picture, or the nearest to a position if the picture is larger. */
const middleOf = (from: number, to: number, size: number, at: number): number =>
  size < to - from ? Math.max(from + size / 2, Math.min(to - size / 2, at)) : (from + to) / 2;

/** A phone shows a part of the graph in a readable size. */
const isNarrow = (): boolean => matchMedia('(max-width: 45rem)').matches;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

const boxAt = ([x, y]: readonly [x: number, y: number], half: number): Box => ({ left: x - half, right: x + half, y });

/** A node with its label to the right. */
const boxOf = ({ x = 0, y = 0 }: DrawnNode, width: number): Box => ({
  left: x - radius - 2,
  right: x + radius + 6 + width,
  y,
});

const isReverse = (one: GraphLink, other: GraphLink): boolean =>
  one.source === other.target && one.target === other.source && one.predicate.value === other.predicate.value;

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
function separate(nodes: readonly DrawnNode[], widthOf: (node: DrawnNode) => number): void {
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
