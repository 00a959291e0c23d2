/** `<resource-preview>`: shows images and PDF from memory. Other content is a download. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { shortName, sizeText } from '../storage/names.js';
import type { Opened } from './read.js';

@customElement('resource-preview')
export class ResourcePreview extends Page {
  @property({ attribute: false }) opened!: Opened;
  @state() private url = '';
  @state() private isBroken = false;

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate('opened');
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.revoke();
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('opened')) return;
    this.revoke();
    this.isBroken = false;
    this.url = this.opened.blob ? URL.createObjectURL(this.opened.blob) : '';
  }

  private revoke(): void {
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = '';
  }

  protected override render(): TemplateResult {
    const { kind, iri, mediaType, size, reason } = this.opened;
    const name = shortName(iri);
    if (kind === 'image' && this.url && !this.isBroken)
      return html`<img class="picture" src=${this.url} alt=${name} @error=${this.broken} />`;
    // The toolbar of the PDF viewer would show the name of the blob.
    if (kind === 'pdf' && this.url)
      return html`<iframe class="pdf" src=${`${this.url}#toolbar=0&navpanes=0`} title=${name}></iframe>
        <p class="soft">Nothing to see? Download it instead.</p>`;
    return html`<div class="empty">
      <p>${this.isBroken ? 'The browser cannot show this picture.' : (reason ?? 'This is not shown here.')}</p>
      <p>${mediaType}${size === undefined ? '' : `, ${sizeText(size)}`}</p>
      <p>Download it to open it on your computer.</p>
    </div>`;
  }

  private readonly broken = (): void => {
    this.isBroken = true;
  };
}
