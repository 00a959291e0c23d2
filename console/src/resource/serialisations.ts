/** `<resource-serialisations>`: shows a graph in the other syntaxes that the server writes. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { succeed } from '../storage/api.js';
import { downloadLimit, takeUpTo } from './read.js';

export const serialisations = [
  { mediaType: 'application/ld+json', title: 'JSON-LD', language: 'json' },
  { mediaType: 'application/n-triples', title: 'N-Triples', language: 'turtle' },
  { mediaType: 'application/rdf+xml', title: 'RDF/XML', language: 'text' },
] as const;

@customElement('resource-serialisation')
export class ResourceSerialisation extends Page {
  @property() iri = '';
  @property({ attribute: false }) serialisation: (typeof serialisations)[number] = serialisations[0];
  /** Entity tag of the state that is shown. If the tag changes, the text is loaded again. */
  @property() etag = '';
  @state() private text: string | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (['iri', 'serialisation', 'etag'].some((name) => changed.has(name))) void this.read();
  }

  private async read(): Promise<void> {
    const { iri, serialisation } = this;
    this.text = undefined;
    await this.reading(async () => {
      const response = await succeed('GET', iri, { headers: { Accept: serialisation.mediaType } });
      const bytes = await takeUpTo(response, 2 * downloadLimit);
      if (iri !== this.iri || serialisation !== this.serialisation) return;
      if (!bytes) throw new Error(`The ${serialisation.title} form is too long to be shown.`);
      this.text = new TextDecoder().decode(bytes);
    });
  }

  protected override render(): TemplateResult {
    const { title, language } = this.serialisation;
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (this.text === undefined) return html`<p class="soft" role="status">Reading …</p>`;
    return html`<p class="soft">Stored form, read-only. Edit it as Turtle.</p>
      <quad-editor .language=${language} .label=${title} readonly .value=${this.text}></quad-editor>`;
  }
}
