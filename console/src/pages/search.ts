/** Search by type: classes and their instances. The URL contains the filter. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { labelOf } from '../ask/terms.js';
import { openHref, Page, placeHref, signInHref } from '../frame/page.js';
import { type Hits, isStructural, type Joined, readFacets, readTypes, search, type Wanted } from '../search/search.js';
import { onSession, storageUri, who } from '../session/session.js';
import { messageOf } from '../storage/api.js';
import type { Member } from '../storage/container.js';
import { labels } from '../storage/labels.js';
import { dateText, decoded } from '../storage/names.js';

const switchedOff = 'This storage does not offer search by type (lws.search-index.enabled is off).';
/** Number of classes from which they can be filtered. */
const manyFacets = 8;

@customElement('page-search')
export class SearchPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private facets: readonly string[] | undefined;
  @state() private total = 0;
  @state() private filter = '';
  @state() private found: Hits | undefined;
  @state() private types: ReadonlyMap<string, readonly string[]> = new Map();
  @state() private isOn = true;
  @state() private isSearching = false;
  private controller: AbortController | undefined;

  constructor() {
    super();
    onSession(() => this.controller?.abort());
  }

  private get wanted(): Wanted {
    const joined: Joined = this.parameters.get('joined') === 'any' ? 'any' : 'all';
    return { types: [...new Set(this.parameters.getAll('type'))], joined };
  }

  private get page(): number {
    return Math.max(1, Number.parseInt(this.parameters.get('page') ?? '1', 10) || 1);
  }

  protected override willUpdate(): void {
    this.follow(labels);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.find();
  }

  /** Resources written meanwhile add their classes. */
  protected override async load(): Promise<void> {
    try {
      const facets = await readFacets();
      this.isOn = facets !== undefined;
      this.facets = facets?.types;
      this.total = facets?.total ?? 0;
    } catch (error) {
      this.failure = messageOf(error);
    }
  }

  private async find(): Promise<void> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.isSearching = true;
    this.found = undefined;
    try {
      this.found = await search(this.wanted, this.page, controller.signal);
      this.failure = '';
      const iris = (this.found?.hits ?? []).map(({ iri }) => iri);
      this.types = await readTypes(iris, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.failure = messageOf(error);
    }
    if (this.controller === controller) this.isSearching = false;
  }

  private href({ types, joined }: Wanted, page = 1): string {
    const parameters = new URLSearchParams(types.map((type) => ['type', type]));
    if (joined === 'any') parameters.set('joined', joined);
    if (page > 1) parameters.set('page', String(page));
    return `${placeHref('search')}?${parameters}`;
  }

  private go(part: Partial<Wanted>): void {
    location.hash = this.href({ ...this.wanted, ...part });
  }

  protected override render(): TemplateResult {
    if (!this.isOn)
      return html`<h1>Search by type</h1><p class="empty">${switchedOff} The operator of the server can switch it on.</p>`;
    return html`
      <h1>Search by type</h1>
      <p class="soft">Resources are listed and counted. One is found by its own types, and by those of the things that it describes at
        addresses below its own, such as <code>#it</code>.</p>
      <div class="search">
        ${this.facetList()}
        <section aria-label="Resources found" aria-busy=${this.isSearching ? 'true' : 'false'}>
          ${
            this.failure
              ? html`<p class="problem" role="alert">${this.failure}
                  ${this.page > 1 ? html`<a href=${this.href(this.wanted)}>Go to the first page</a>` : nothing}</p>`
              : nothing
          }
          <p class="soft" role="status">${this.summary()}</p>
          ${this.hits()}
        </section>
      </div>`;
  }

  private facetList(): TemplateResult {
    const { types, joined } = this.wanted;
    const wantedText = this.filter.trim().toLowerCase();
    // A class in the URL may have no visible instances. It can still be removed.
    const facets = this.facets ?? [];
    const all = [...types.filter((type) => !facets.includes(type)), ...facets];
    const shown = all.filter((type) => types.includes(type) || type.toLowerCase().includes(wantedText));
    const [own, structural] = [shown.filter((type) => !isStructural(type)), shown.filter(isStructural)];
    const isEmpty = this.facets !== undefined && !all.some((type) => !isStructural(type));
    return html`<form class="facets" @submit=${(event: Event) => event.preventDefault()}>
      <h2>Types</h2>
      ${
        all.length >= manyFacets
          ? html`<label>Filter types <input type="search" .value=${this.filter} @input=${(event: Event) => {
              this.filter = (event.target as HTMLInputElement).value;
            }}></label>`
          : nothing
      }
      <fieldset class="bare"><legend class="visually-hidden">A resource must have</legend>
        ${(['all', 'any'] as const).map(
          (each) => html`<label class="inline"><input type="radio" name="joined" .checked=${live(joined === each)}
            @change=${() => this.go({ joined: each })}>${each === 'all' ? 'All of them' : 'Any of them'}</label>`,
        )}
      </fieldset>
      ${this.facets === undefined && !this.failure ? html`<p>Loading …</p>` : nothing}
      ${
        isEmpty
          ? html`<p class="soft">No types yet. A resource gets a type by a triple such as
              <code>&lt;&gt; a &lt;http://schema.org/Dataset&gt;</code> in its Turtle, or by a type in its metadata.</p>`
          : nothing
      }
      ${own.length > 0 ? this.choices(own, types) : nothing}
      ${structural.length > 0 ? html`<h3>Given by the server</h3>${this.choices(structural, types)}` : nothing}
      ${
        this.total > (this.facets?.length ?? 0) && this.facets
          ? html`<p class="soft">The first ${this.facets.length.toLocaleString()} of ${this.total.toLocaleString()} types.</p>`
          : nothing
      }
      ${types.length > 0 ? html`<p><a href=${placeHref('search')}>Clear the choice</a></p>` : nothing}
    </form>`;
  }

  private choices(offered: readonly string[], chosen: readonly string[]): TemplateResult {
    return html`<ul>${repeat(
      offered,
      (type) => type,
      (type) => html`<li><label title=${type}><input type="checkbox" .checked=${live(chosen.includes(type))}
        @change=${(event: Event) => this.choose(type, (event.target as HTMLInputElement).checked)}>
        <span>${labelOf(type)}<span class="visually-hidden"> ${type}</span></span></label></li>`,
    )}</ul>`;
  }

  private choose(type: string, isChosen: boolean): void {
    const others = this.wanted.types.filter((each) => each !== type);
    this.go({ types: isChosen ? [...others, type] : others });
  }

  private summary(): string {
    if (!this.found) return this.failure ? '' : 'Searching …';
    const { total, pages } = this.found;
    const count = `${total.toLocaleString()} resource${total === 1 ? '' : 's'}`;
    const place = pages > 1 ? `, page ${this.page} of ${pages}` : '';
    return this.wanted.types.length === 0 ? `${count} that you may read${place}.` : `${count} found${place}.`;
  }

  private hits(): TemplateResult | typeof nothing {
    const { found, page, wanted } = this;
    if (!found) return nothing;
    if (found.hits.length === 0 && wanted.types.length === 0)
      return html`<p class="empty">Nothing here that you can read.
        ${who().kind === 'subject' ? nothing : html`<a href=${signInHref()}>Sign in</a> with another identity.`}</p>`;
    if (found.hits.length === 0)
      return html`<p class="empty">No readable resource has ${
        wanted.joined === 'all' && wanted.types.length > 1
          ? 'all of these types. Remove one, or choose “Any of them”.'
          : 'such a type. Choose another one.'
      }</p>`;
    return html`
      <ul class="hits">${found.hits.map((hit) => this.hit(hit))}</ul>
      ${
        found.pages > 1
          ? html`<nav class="row" aria-label="Pages of the search">
              ${page > 1 ? html`<a class="button" href=${this.href(wanted, page - 1)}>Previous</a>` : nothing}
              ${page < found.pages ? html`<a class="button" href=${this.href(wanted, page + 1)}>Next</a>` : nothing}
            </nav>`
          : nothing
      }`;
  }

  private hit({ iri, types, mediaType, modified }: Member): TemplateResult {
    const path = iri === storageUri ? 'The storage itself' : decoded(iri.slice(storageUri.length));
    const about = [mediaType, modified && dateText(modified)].filter(Boolean).join(', ');
    const { wanted } = this;
    // Resources have at least the classes that they were found by.
    const sure = wanted.joined === 'all' || wanted.types.length === 1 ? wanted.types : [];
    const shown = [...new Set([...types, ...sure, ...(this.types.get(iri) ?? [])])].filter(
      (type) => type.includes(':') && !isStructural(type),
    );
    return html`<li class="hit">
      <a href=${openHref(iri)}>${path}</a>
      <span class="soft">${about}</span>
      ${
        shown.length > 0
          ? html`<ul class="chips" aria-label="Types of ${path}">${shown.map((type) => html`<li title=${type}>${labelOf(type)}</li>`)}</ul>`
          : nothing
      }
    </li>`;
  }
}
