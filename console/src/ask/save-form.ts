/** Form for saving a query. Fires `saved` with the saved query, or `cancelled`. */
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { Page, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { save } from './saved.js';
import type { QueryTab } from './tabs.js';

@customElement('ask-save-form')
export class SaveForm extends Page {
  @property({ attribute: false }) tab!: QueryTab;

  protected override render(): TemplateResult {
    const { saved, name } = this.tab;
    const iri = saved?.iri ?? `${storageUri}${encodeURIComponent(name.trim().toLowerCase().replace(/\s+/g, '-'))}.rq`;
    return html`<form class="row" @submit=${this.submit}>
      <label class="inline">Address <input name="iri" type="url" required size="60" .value=${iri}></label>
      <button class="primary">Save</button>
      <button type="button" @click=${() => this.dispatchEvent(new Event('cancelled'))}>Cancel</button>
    </form>`;
  }

  protected override firstUpdated(): void {
    this.querySelector<HTMLInputElement>('input')?.select();
  }

  private submit(event: SubmitEvent): void {
    const iri = submitted(event).text('iri');
    const { query, saved } = this.tab;
    void this.attempt(async () => {
      const detail = await save(iri, query, saved);
      if (detail) this.dispatchEvent(new CustomEvent('saved', { detail }));
    });
  }
}
