/** List of the stored queries that the caller can read: resources with the type that saving sets. Fires `choose` with an IRI. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { searchStorage } from '../search/search.js';
import type { ListedMember } from '../storage/container.js';
import { compact } from '../storage/labels.js';
import { dateText, shortName } from '../storage/names.js';
import { queryType, sparqlQuery } from './saved.js';

@customElement('ask-stored')
export class AskStored extends Page {
  @state() private found: readonly ListedMember[] | undefined;
  @state() private pages = 0;
  @state() private isOffered = true;
  private page = 0;

  protected override render(): TemplateResult {
    return html`<details class="shelf" @toggle=${this.onToggle}><summary>Saved queries</summary>${this.content()}</details>`;
  }

  private content(): TemplateResult {
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!this.isOffered)
      return html`<p class="soft">This storage does not list saved queries (lws.search-index.enabled is off). Open them in Browse.</p>`;
    if (!this.found) return html`<p class="soft">Loading …</p>`;
    if (this.found.length === 0)
      return html`<p class="soft">No saved queries. Save stores the current query as an item, which others can open and run.</p>`;
    return html`<ul>${this.found.map(
      ({ iri, modified }) => html`<li><button type="button" @click=${() => this.choose(iri)}>${shortName(iri)}
        <span class="soft">${compact(iri)}${modified === undefined ? nothing : `, ${dateText(modified)}`}</span></button></li>`,
    )}</ul>
    ${this.page < this.pages ? html`<p class="row"><button type="button" @click=${() => this.read(this.page + 1)}>Show more</button></p>` : nothing}`;
  }

  private onToggle(event: Event): void {
    if ((event.target as HTMLDetailsElement).open) void this.read(1);
  }

  private read(page: number): Promise<void> {
    return this.reading(async () => {
      const hits = await searchStorage(
        { types: [queryType], joined: 'all', words: '' },
        page,
        new AbortController().signal,
      );
      this.isOffered = hits !== undefined;
      const queries = hits?.hits.filter(({ mediaType }) => mediaType === sparqlQuery) ?? [];
      this.found = page === 1 ? queries : [...(this.found ?? []), ...queries];
      [this.page, this.pages] = [page, hits?.pages ?? 0];
    });
  }

  private choose(iri: string): void {
    this.querySelector('details')!.open = false;
    this.dispatchEvent(new CustomEvent('choose', { detail: iri }));
  }
}
