/** `<browse-preview>`: the selected member beside the listing. Markdown and tables are rendered, other text is highlighted. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page } from '../frame/page.js';
import '../resource/preview.js';
import { type Opened, readResource } from '../resource/read.js';
import { beginningOf, isRendered } from '../resource/rendered.js';
import { shortName } from '../storage/names.js';

@customElement('browse-preview')
export class BrowsePreview extends Page {
  @property() iri = '';
  @state() private opened: Opened | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('iri')) void this.read(this.iri);
  }

  private async read(iri: string): Promise<void> {
    this.opened = undefined;
    await this.reading(async () => {
      const opened = await readResource(iri);
      const isSource = opened.text !== undefined && !isRendered(opened);
      if (isSource) await import('../editor/quad-editor.js');
      if (iri === this.iri) this.opened = opened;
    });
  }

  protected override render(): TemplateResult {
    const { opened } = this;
    return html`<section class="preview card" aria-label="Preview">
      <div class="row"><h2 class="grow">${shortName(this.iri)}</h2><a href=${openHref(this.iri)}>Open</a></div>
      ${
        this.failure
          ? html`<p class="problem" role="alert">${this.failure}</p>`
          : opened
            ? this.content(opened)
            : html`<p class="soft" role="status">Reading …</p>`
      }
    </section>`;
  }

  private content(opened: Opened): TemplateResult {
    const { text, kind, iri } = opened;
    if (text === undefined) return html`<resource-preview .opened=${opened}></resource-preview>`;
    if (isRendered(opened)) return html`<rendered-text .opened=${opened} .text=${text}></rendered-text>`;
    const { shown, note } = beginningOf(text);
    const language = kind === 'rdf' ? 'turtle' : kind === 'json' ? 'json' : 'text';
    return html`<quad-editor .language=${language} .label=${`Content of ${shortName(iri)}`} readonly .value=${shown}></quad-editor>${note}`;
  }
}
