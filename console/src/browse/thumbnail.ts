/**
 * `<quad-thumbnail>`: small picture of an image, loaded when its row is visible. The image is drawn on a canvas, so that
 * scripts in it do not run and animations stand still. SVG is not drawn: a small file can take minutes.
 */
import { html, LitElement, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { takeUpTo } from '../resource/read.js';
import { succeed } from '../storage/api.js';
import type { ListedMember } from '../storage/container.js';
import { maxThumbnailBytes } from './listing.js';

/** Side of a thumbnail and maximum size of an image, in pixels, and maximum count of cached thumbnails. */
const [side, maxPixels, kept] = [64, 16 << 20, 500];
/** Cached thumbnails by address and date. `undefined`: the image cannot be read. */
const pictures = new Map<string, ImageBitmap | undefined>();
const lanes = Array.from({ length: 4 }, () => Promise.resolve());
let nextLane = 0;

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) (target as Thumbnail).show();
});

@customElement('quad-thumbnail')
export class Thumbnail extends LitElement {
  @property({ attribute: false }) member!: ListedMember;
  private ending = new AbortController();

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate('member');
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    observer.unobserve(this);
    this.ending.abort();
  }

  protected override render(): TemplateResult {
    return html`<canvas width=${side} height=${side} aria-hidden="true"></canvas>`;
  }

  private get key(): string {
    return `${this.member.iri} ${this.member.modified}`;
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('member') || !this.isConnected) return;
    this.ending.abort();
    this.ending = new AbortController();
    this.draw();
    // The observer reports the current visibility when an element is observed again.
    observer.unobserve(this);
    if (!pictures.has(this.key)) observer.observe(this);
  }

  /** Loads and draws the picture. At most four pictures are loaded at a time. */
  show(): void {
    observer.unobserve(this);
    const {
      key,
      member,
      ending: { signal },
    } = this;
    const lane = nextLane++ % lanes.length;
    lanes[lane] = lanes[lane]!.then(async () => {
      if (signal.aborted) return;
      // If loading fails, no picture is shown.
      const picture = await load(member, signal).catch(() => undefined);
      if (signal.aborted) return;
      pictures.set(key, picture);
      if (pictures.size > kept) pictures.delete(pictures.keys().next().value!);
      this.draw();
    });
  }

  private draw(): void {
    const context = this.querySelector('canvas')?.getContext('2d');
    const picture = pictures.get(this.key);
    context?.clearRect(0, 0, side, side);
    if (picture) context?.drawImage(picture, (side - picture.width) / 2, (side - picture.height) / 2);
  }
}

async function load({ iri, mediaType }: ListedMember, signal: AbortSignal): Promise<ImageBitmap | undefined> {
  const bytes = await takeUpTo(await succeed('GET', iri, { signal }), maxThumbnailBytes);
  if (!bytes) return undefined;
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([bytes], { type: mediaType! }));
  try {
    await new Promise((resolve, reject) => {
      image.onload = resolve;
      image.onerror = reject;
    });
    const lengths = [image.naturalWidth, image.naturalHeight];
    // Checked before the image is decoded: a small file may have gigabytes of pixels.
    if (lengths[0]! * lengths[1]! > maxPixels) return undefined;
    const scale = Math.min(1, side / Math.max(...lengths));
    const [resizeWidth = 1, resizeHeight = 1] = lengths.map((length) => Math.max(1, Math.round(length * scale)));
    return await createImageBitmap(image, { resizeWidth, resizeHeight, resizeQuality: 'medium' });
  } finally {
    URL.revokeObjectURL(image.src);
  }
}
