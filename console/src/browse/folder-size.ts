/** `<folder-size>`: size of the selected folders, computed on request. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { json } from '../storage/api.js';
import { isContainer, itemsText, sizeText } from '../storage/names.js';

/** Size of all resources that the user can read. */
interface Size {
  readonly bytes: number;
  readonly resources: number;
  /** False if there are more resources than the server counts. */
  readonly isComplete: boolean;
}

@customElement('folder-size')
export class FolderSize extends Page {
  @property({ attribute: false }) selected: ReadonlySet<string> = new Set();
  @state() private size: Size | undefined;
  private ending = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.ending.abort();
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('selected')) return;
    this.ending.abort();
    this.size = undefined;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (![...this.selected].some(isContainer)) return nothing;
    if (!this.size) return html`<button type="button" @click=${this.compute}>Folder size</button>`;
    const { bytes, resources, isComplete } = this.size;
    return html`<span role="status">${isComplete ? '' : 'at least '}${sizeText(bytes)} in ${itemsText(resources)}</span>`;
  }

  private readonly compute = (): Promise<boolean> =>
    this.attempt(async () => {
      this.ending = new AbortController();
      const { signal } = this.ending;
      let sum: Size = { bytes: 0, resources: 0, isComplete: true };
      for (const iri of [...this.selected].filter(isContainer)) {
        const { bytes, resources, isComplete } = await json<Size>(
          `${storageUri}app/size?${new URLSearchParams({ iri })}`,
          { signal },
        );
        sum = {
          bytes: sum.bytes + bytes,
          resources: sum.resources + resources,
          isComplete: sum.isComplete && isComplete,
        };
      }
      if (!signal.aborted) this.size = sum;
    });
}
