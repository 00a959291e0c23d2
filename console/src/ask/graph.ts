/** Graph view of triples. Nodes can be dragged, and link to their resources. Loaded on demand. */
import { html, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { kindName, labelOf, labels } from '../storage/labels.js';
import { extentOf, type PlacedName, pillAt, placeNames, radiusOf, type Sizes } from './graph-labels.js';
import { type DrawnGraph, type DrawnNode, graphOf, layout, maxNodes, type NodePair, pairsOf } from './graph-model.js';
import { counted, type Frame, legend, Picture } from './picture.js';
import { hrefOf, isOutside } from './table.js';
import { plainText, type ResultRow, type ResultTerm } from './terms.js';

/** Maximum count of links with names. More names would cover the picture. */
const maxNamedLinks = 12;
/** Distance of the graph from the edges of the picture, and approximate width of a letter, in pixels. */
const [padding, letterWidth] = [24, 7.2];
/** Maximum characters of a name on a screen and on a phone, and characters for which a phone reserves room. */
const [longestLabel, longestNarrow, roomNarrow] = [28, 18, 9];
/** Count of nodes from which a phone reserves no room for names. */
const manyNodes = 40;
/** Classes and heights of the picture on a screen in pixels, by the count of nodes up to which they suffice. As in the style sheet. */
const heights = [
  { most: 8, name: 'low', height: 320 },
  { most: 16, name: 'middle', height: 420 },
  { most: Number.POSITIVE_INFINITY, name: 'high', height: 576 },
] as const;
/** Maximum factor by which a small graph is enlarged. */
const largest = 1.5;

/** Descriptions of the kinds of nodes, for the legend. */
const kinds = { iri: 'thing with an address', blank: 'thing without one', literal: 'value', triple: 'triple term' };

@customElement('ask-graph')
export class AskGraph extends Picture {
  @property({ attribute: false }) rows: readonly ResultRow[] = [];
  @property({ attribute: false }) prefixes: Readonly<Record<string, string>> = {};
  private graph: DrawnGraph = { nodes: [], links: [], types: [], isCut: false };
  private simulation: ReturnType<typeof layout> | undefined;
  /** Node that Tab focuses. Arrow keys focus other nodes (roving tabindex). */
  private reachable: DrawnNode | undefined;
  /** Node that a pointer drags. */
  private dragged: DrawnNode | undefined;
  /** Total letters of the names for which the frame was computed. */
  private letters = -1;
  /** Initial frame of the picture. While this is the current frame, the user has not moved the picture. */
  private opening: Frame | undefined;
  private pairs: readonly NodePair[] = [];
  /** Pair of nodes whose line the pointer entered or pressed last. The name of its links is shown even without room for it. */
  @state() private pointed: NodePair | undefined;
  /** Selected node. Its name is shown below the picture. */
  @state() private selected: DrawnNode | undefined;
  private wasSelected = false;

  protected override willUpdate(changed: PropertyValues): void {
    this.follow(labels);
    if (changed.has('rows')) this.draw();
    // Labels may load after the layout. Then the frame is computed again.
    const letters = this.graph.nodes.reduce((sum, { term }) => sum + this.label(term).length, 0);
    if (letters === this.letters) return;
    this.letters = letters;
    if (this.frame !== this.opening) return;
    this.fit();
    this.opening = this.frame;
  }

  private draw(): void {
    this.simulation?.stop();
    this.graph = graphOf(this.rows);
    this.pairs = pairsOf(this.graph.links);
    this.selected = undefined;
    this.reachable = this.graph.nodes.find(({ term }) => hrefOf(term.value) !== undefined && term.kind === 'iri');
    const nameWidth = ({ term }: DrawnNode): number => this.label(term).length * letterWidth;
    // Compute the layout before it is shown, so that nothing moves by itself, also with reduced motion.
    this.simulation = layout(this.graph, { ...this.room, nameWidth });
    this.simulation.on('tick', () => this.requestUpdate());
    this.letters = -1;
    this.opening = this.frame;
  }

  /** Size of the picture in pixels, as in the style sheet, because the picture is not rendered yet when it opens. */
  private get room(): { readonly width: number; readonly height: number } {
    const height = isNarrow() ? 0.5 * innerHeight : Math.min(0.7 * innerHeight, this.size.height);
    return { width: this.clientWidth || 800, height };
  }

  private get size(): (typeof heights)[number] {
    return heights.find(({ most }) => this.graph.nodes.length <= most)!;
  }

  /** Units of the picture per pixel. */
  private get unit(): number {
    const { width, height } = this.room;
    return Math.max(this.frame.width / width, this.frame.height / height);
  }

  private sizesAt(unit: number): Sizes {
    const { x, y, width, height } = this.frame;
    const sight = { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
    return { unit, sight, nameOf: ({ term }) => this.label(term), linkNameOf: (pair) => this.linkName(pair) };
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.simulation?.stop();
  }

  /** Shows all nodes. Names have the same size at each zoom, so the zoom determines how much of the width they need. */
  protected fit(): void {
    if (this.graph.nodes.length === 0) return;
    const { width, height } = this.room;
    const room = this.graph.nodes.length > manyNodes ? 0 : roomNarrow;
    const most = isNarrow() ? room : longestLabel;
    let [unit, extent] = [1, extentOf(this.graph, this.sizesAt(1), most)];
    for (let round = 0; round < 6; round++) {
      const across = (extent.right - extent.left) / (width - 2 * padding);
      unit = Math.max(1 / largest, across, (extent.bottom - extent.top) / (height - 2 * padding));
      extent = extentOf(this.graph, this.sizesAt(unit), most);
    }
    const { left, right, top, bottom } = extent;
    this.frame = { x: (left + right) / 2, y: (top + bottom) / 2, width: width * unit, height: height * unit };
  }

  /** Returns a summary of what the picture shows and omits. */
  private summary(unnamed: number, unnamedLinks: number): string {
    const { nodes, links, isCut } = this.graph;
    const part = isCut ? `the first ${links.length} of` : 'all';
    const point = matchMedia('(hover: none)').matches ? 'tap' : 'point at';
    return [
      `${counted(nodes.length, 'node')}, ${counted(links.length, 'link')}: ${part} ${counted(this.rows.length, 'triple')}.`,
      isCut ? `The picture ends after ${maxNodes} nodes, the table has all.` : '',
      unnamed > 0 ? `${counted(unnamed, 'name')} left out, for lack of room: zoom in, or ${point} a node.` : '',
      unnamedLinks > 0 ? `${point === 'tap' ? 'Tap' : 'Point at'} a link to read its label.` : '',
    ].join(' ');
  }

  protected override render(): TemplateResult {
    const { pairs, unit } = this;
    const { nodes } = this.graph;
    const sizes = this.sizesAt(unit);
    const named = placeNames(this.graph, pairs.length <= maxNamedLinks ? pairs : [], sizes);
    const { left, right, top, bottom } = sizes.sight;
    const inSight = nodes.filter(({ x = 0, y = 0 }) => x > left && x < right && y > top && y < bottom);
    const unnamed = inSight.filter((node) => !named.nodes.has(node)).length;
    return html`
      <p class="soft" role="status">${this.summary(unnamed, pairs.length - named.links.size)}</p>
      <div class="framed"><svg class=${`graph ${this.size.name}`} role="group" aria-label="Picture of the graph; its table says the same. Arrow keys go from node to node."
        viewBox=${this.viewBox} font-size=${13 * unit}
        @pointerdown=${(event: PointerEvent) => this.holdNode(event, undefined)}
        @pointermove=${this.onMove} @pointerup=${this.release} @pointercancel=${this.release}>
        <defs><marker id="graph-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
          <path d="M0 0 L8 4 L0 8 z"></path></marker></defs>
        ${pairs.map((pair) => this.line(pair))}
        ${pairs.map((pair) => this.pill(pair, named.links.get(pair)))}
        ${nodes.map((node) => this.node(node, named.nodes.get(node)))}
      </svg>${this.buttons()}</div>
      ${this.selected ? html`<p class="soft">${this.label(this.selected.term)} <span class="iri">${plainText(this.selected.term)}</span></p>` : nothing}
      ${this.colours()}`;
  }

  /** Returns the colour class of a node: by its type, otherwise by its kind. */
  private kindOf({ type, term }: DrawnNode): string {
    const at = type === undefined ? -1 : this.graph.types.indexOf(type);
    return at >= 0 ? `type-${at + 1}` : this.graph.types.length > 0 && term.kind === 'iri' ? 'blank' : term.kind;
  }

  private colours(): unknown {
    const { nodes, types } = this.graph;
    const used = new Set(nodes.map((node) => this.kindOf(node)));
    const others = types.length > 0 ? { ...kinds, blank: 'Other' } : kinds;
    return legend([
      ...types.map((type, at) => [`type-${at + 1}`, kindName(type)] as const),
      ...Object.entries(others).filter(([kind]) => used.has(kind)),
    ]);
  }

  /** Returns the label of a term. Labels may load after the layout. */
  private label(term: ResultTerm): string {
    const text = term.kind === 'iri' ? labelOf(term.value, this.prefixes) : plainText(term);
    const most = isNarrow() ? longestNarrow : longestLabel;
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }

  /** Returns the names of the links of a pair, without prefixes. */
  private linkName({ links }: NodePair): string {
    const names = links.map(({ predicate }) => this.label(predicate).replace(/^[\w-]*:(?=\S)/, ''));
    const text = [...new Set(names)].join(', ');
    return text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text;
  }

  private line(pair: NodePair): TemplateResult {
    const { source, target, isMutual } = pair;
    const [x1, y1, x2, y2] = [source.x ?? 0, source.y ?? 0, target.x ?? 0, target.y ?? 0];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const back = Math.min(0.5, (radiusOf(this.unit) + 4 * this.unit) / length);
    const [dx, dy] = [(x2 - x1) * back, (y2 - y1) * back];
    const point = (): void => {
      this.pointed = pair;
    };
    return svg`<g class="link" stroke-width=${this.unit} @pointerenter=${point} @pointerdown=${point}><path class="near" stroke-width=${14 * this.unit} d=${`M${x1} ${y1}L${x2} ${y2}`}></path>
      <line x1=${isMutual ? x1 + dx : x1} y1=${isMutual ? y1 + dy : y1} x2=${x2 - dx} y2=${y2 - dy}
      marker-start=${isMutual ? 'url(#graph-arrow)' : nothing} marker-end="url(#graph-arrow)"><title>${this.linkName(pair)}</title></line></g>`;
  }

  private pill(pair: NodePair, free: PlacedName | undefined): TemplateResult | typeof nothing {
    const name = this.linkName(pair);
    const label = free ?? (pair === this.pointed ? pillAt(pair, 0.5, name.length, this.unit) : undefined);
    if (!label) return nothing;
    const { left, right, top, bottom } = label.box;
    return svg`<g class="link-name"><rect x=${left} y=${top} width=${right - left} height=${bottom - top} rx=${(bottom - top) / 2}></rect>
      <text x=${label.x} y=${label.y} text-anchor="middle">${name}</text></g>`;
  }

  private node(node: DrawnNode, label: PlacedName | undefined): TemplateResult {
    const { term, x = 0, y = 0 } = node;
    const href = term.kind === 'iri' ? hrefOf(term.value) : undefined;
    const radius = radiusOf(this.unit) * (term.kind === 'literal' ? 0.6 : 1);
    const inside = svg`<title>${plainText(term)}</title><circle r=${radius}></circle>${
      label
        ? svg`<text x=${label.x - x} y=${label.y - y} text-anchor=${label.anchor} stroke-width=${4 * this.unit}>${this.label(term)}</text>`
        : nothing
    }`;
    const at = `translate(${x} ${y})`;
    const hold = (event: PointerEvent): void => this.holdNode(event, node);
    const kind = `node ${this.kindOf(node)}`;
    if (href === undefined) return svg`<g class=${kind} transform=${at} @pointerdown=${hold}>${inside}</g>`;
    return svg`<a class=${kind} href=${href} target=${isOutside(term.value) ? '_blank' : nothing} rel="noreferrer"
      transform=${at} tabindex=${node === this.reachable ? 0 : -1} aria-label=${`${this.label(term)}, ${plainText(term)}`} draggable="false"
      @pointerdown=${hold} @focus=${() => this.reach(node)} @click=${this.onOpen}
      @keydown=${(event: KeyboardEvent) => this.onKey(event, node)} @dragstart=${(event: Event) => event.preventDefault()}
      >${inside}</a>`;
  }

  /** Handles a click on a node. If the pointer cannot hover, the first tap shows the name, and the second opens the node. */
  private onOpen(event: Event): void {
    if (matchMedia('(hover: none)').matches && !this.wasSelected) event.preventDefault();
  }

  private reach(node: DrawnNode): void {
    this.reachable = node;
    this.requestUpdate();
  }

  private holdNode(event: PointerEvent, node: DrawnNode | undefined): void {
    event.stopPropagation();
    this.wasSelected = node !== undefined && node === this.selected;
    this.selected = node;
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
    // Move the other nodes too, unless reduced motion is preferred.
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.simulation?.alpha(0.2).restart();
    this.requestUpdate();
  }

  /** Moves the focus to the nearest node in the direction of an arrow key. */
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

const isNarrow = (): boolean => matchMedia('(max-width: 45rem)').matches;
