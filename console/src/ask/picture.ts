/** Base of the pictures of a result: an SVG that is moved and zoomed with pointer, wheel and buttons. */
import { html, nothing, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';

/** Centre and size, in units of the picture. */
export type Frame = Readonly<Record<'x' | 'y' | 'width' | 'height', number>>;

/** Maximum pixels that a pointer may move during a click. */
const tolerance = 4;

/** Returns a legend for the colours of a picture, unless there is only one colour. @param entries class of the dot, and text */
export const legend = (entries: readonly (readonly [kind: string, text: string])[]): TemplateResult | typeof nothing =>
  entries.length < 2
    ? nothing
    : html`<ul class="legend soft" aria-label="Colours">${entries.map(([kind, text]) => html`<li><i class="dot ${kind}"></i> ${text}</li>`)}</ul>`;

/** Returns a count with a noun, for the summary of a picture. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;

export abstract class Picture extends Page {
  @state() protected frame: Frame = { x: 0, y: 0, width: 800, height: 500 };
  /** Minimum and maximum width of the frame. */
  protected widths: readonly [number, number] = [60, 20_000];
  private held: { x: number; y: number; moved: boolean } | undefined;
  /** Positions of the pointers on the picture. Two fingers zoom. */
  private readonly pointers = new Map<number, readonly [x: number, y: number]>();

  /** Changes the frame so that it shows everything. */
  protected abstract fit(): void;
  /** Called for a click at a position of the picture. */
  protected clicked(_x: number, _y: number): void {}

  override firstUpdated(): void {
    // Template listeners are passive, but the page must not scroll while the wheel zooms.
    this.picture?.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
  }

  private get picture(): SVGSVGElement | null {
    return this.querySelector('svg.graph');
  }

  protected get viewBox(): string {
    const { x, y, width, height } = this.frame;
    return `${x - width / 2} ${y - height / 2} ${width} ${height}`;
  }

  /** Returns the buttons over a corner of the picture. */
  protected buttons(): TemplateResult {
    const button = (name: string, path: string, act: () => void): TemplateResult =>
      html`<button type="button" aria-label=${name} title=${name} @click=${act}>
        <svg viewBox="0 0 16 16" aria-hidden="true"><path d=${path}></path></svg></button>`;
    return html`<div class="zoom">
      ${button('Zoom in', 'M8 3v10M3 8h10', () => this.zoom(0.8))}
      ${button('Zoom out', 'M3 8h10', () => this.zoom(1.25))}
      ${button('Show all', 'M6 2.5H2.5V6M10 2.5h3.5V6M6 13.5H2.5V10M10 13.5h3.5V10', () => this.fit())}
    </div>`;
  }

  protected hold({ clientX: x, clientY: y, pointerId }: PointerEvent): void {
    this.pointers.set(pointerId, [x, y]);
    this.held = { x, y, moved: this.pointers.size > 1 };
  }

  protected readonly onMove = (event: PointerEvent): void => {
    const { held, picture, pointers } = this;
    const isPinch = pointers.size > 1 && pointers.has(event.pointerId);
    if (isPinch) this.pinch(event);
    if (isPinch || !held || !picture) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < tolerance) return;
    // The click that ends a drag goes to the picture and opens no node.
    if (!held.moved) picture.setPointerCapture(event.pointerId);
    this.held = { x: event.clientX, y: event.clientY, moved: true };
    this.drag(dx * this.unitsPerPixel, dy * this.unitsPerPixel);
  };

  protected readonly release = (event: PointerEvent): void => {
    const { held } = this;
    this.held = undefined;
    this.pointers.delete(event.pointerId);
    if (held && !held.moved && event.type === 'pointerup') this.clicked(...this.placeOf(event));
  };

  /** Zooms by the distance of two fingers, around the point between them. */
  private pinch({ pointerId, clientX, clientY }: PointerEvent): void {
    const before = this.spread().distance;
    this.pointers.set(pointerId, [clientX, clientY]);
    const { distance, middle } = this.spread();
    if (before > 0 && distance > 0) this.zoom(before / distance, this.placeOf(middle));
  }

  private spread() {
    const [[x1, y1] = [0, 0], [x2, y2] = [0, 0]] = [...this.pointers.values()];
    const middle = { clientX: (x1 + x2) / 2, clientY: (y1 + y2) / 2 };
    return { distance: Math.hypot(x2 - x1, y2 - y1), middle };
  }

  protected drag(dx: number, dy: number): void {
    this.frame = { ...this.frame, x: this.frame.x - dx, y: this.frame.y - dy };
  }

  protected get unitsPerPixel(): number {
    const { width, height } = this.picture!.getBoundingClientRect();
    return Math.max(this.frame.width / width, this.frame.height / height);
  }

  /** Returns the position of a pointer in the picture. */
  private placeOf({ clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>): [number, number] {
    const { left, top, width, height } = this.picture!.getBoundingClientRect();
    const scale = this.unitsPerPixel;
    return [this.frame.x + (clientX - left - width / 2) * scale, this.frame.y + (clientY - top - height / 2) * scale];
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.1 : 1 / 1.1, this.placeOf(event));
  }

  /** Zooms the picture. @param at fixed position (default: the centre) */
  protected zoom(factor: number, [x, y]: readonly [number, number] = [this.frame.x, this.frame.y]): void {
    const { frame } = this;
    const width = Math.min(this.widths[1], Math.max(this.widths[0], frame.width * factor));
    const scale = width / frame.width;
    this.frame = {
      x: x + (frame.x - x) * scale,
      y: y + (frame.y - y) * scale,
      width,
      height: frame.height * scale,
    };
  }
}
