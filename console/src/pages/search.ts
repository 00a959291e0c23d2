/** Page to search by words, names and types. The URL contains the filter. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { itemIcon } from '../browse/icon.js';
import { headingOf, openHref, Page, placeHref, signInHref } from '../frame/page.js';
import {
  countHits,
  type Hits,
  isStructural,
  type Joined,
  readFacets,
  readTypes,
  type Search,
  type SearchHit,
  type Snippet,
  searchStorage,
} from '../search/search.js';
import { onSession, storageUri, who } from '../session/session.js';
import { lwsNamespace, messageOf, serviceEndpoint } from '../storage/api.js';
import { kindName, labelOf, labels } from '../storage/labels.js';
import { dateText, decoded, formatName, isContainer, parentIri } from '../storage/names.js';

const switchedOff = 'This storage does not offer search by type (lws.search-index.enabled is off).';
/** Names of the types that the server assigns. */
const kindNames: Readonly<Record<string, string>> = { Container: 'Folders', DataResource: 'Files' };
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
/** Minimum count of classes for which the list has a filter. */
const manyFacets = 8;
/** Markdown marks to remove from excerpts: headings, quotations, lists, tables, emphasis, code and links. */
const markdownMarks = /(^|\s)(?:#{1,6}|-{1,3}|[>|])(?=\s)|\*{1,3}|`{1,3}|!?\[(?=[^\][]*\]\()|\]\([^()\s]*\)/g;
/** Maximum count of types whose resources are counted, and of concurrent requests for these counts. */
const [maxCounted, countsAtATime] = [40, 3];

/** Removes the root from the hits: the storage is not an item in itself. */
function withoutRoot(found: Hits | undefined): Hits | undefined {
  const hits = found?.hits.filter(({ iri }) => iri !== storageUri) ?? [];
  return found && { ...found, hits, total: found.total - found.hits.length + hits.length };
}

@customElement('page-search')
export class SearchPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private facets: readonly string[] | undefined;
  @state() private total = 0;
  @state() private filter = '';
  @state() private found: Hits | undefined;
  @state() private types: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map();
  @state() private isOn = true;
  @state() private isSearching = false;
  /** True if the storage has a text search. */
  @state() private hasWords = false;
  /** Count of matching resources by type. */
  @state() private counts: ReadonlyMap<string, number> = new Map();
  private controller: AbortController | undefined;
  private counting: AbortController | undefined;

  constructor() {
    super();
    onSession(() => {
      this.controller?.abort();
      this.counting?.abort();
    });
  }

  private get wanted(): Search {
    const joined: Joined = this.parameters.get('joined') === 'any' ? 'any' : 'all';
    const words = this.parameters.get('q')?.trim() ?? '';
    return { types: [...new Set(this.parameters.getAll('type'))], joined, words };
  }

  private get page(): number {
    return Math.max(1, Number.parseInt(this.parameters.get('page') ?? '1', 10) || 1);
  }

  protected override willUpdate(): void {
    this.follow(labels);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get('parameters') as URLSearchParams | undefined;
    if (changed.has('parameters')) void this.find();
    if (changed.has('facets') || (before && before.get('q') !== this.parameters.get('q'))) void this.count();
  }

  /** Reads the classes again: new resources may have added some. */
  protected override async load(): Promise<void> {
    try {
      this.hasWords = (await serviceEndpoint('TextSearchService')) !== undefined;
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
      this.found = withoutRoot(await searchStorage(this.wanted, this.page, controller.signal));
      this.failure = '';
      const iris = (this.found?.hits ?? []).map(({ iri }) => iri);
      this.types = await readTypes(iris, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.failure = messageOf(error);
    }
    if (this.controller === controller) this.isSearching = false;
  }

  /** Counts the resources of each type. */
  private async count(): Promise<void> {
    this.counting?.abort();
    this.counting = new AbortController();
    const { signal } = this.counting;
    this.counts = new Map();
    const { words } = this.wanted;
    const left = (this.facets ?? []).filter((type) => !isStructural(type)).slice(0, maxCounted);
    const work = async (): Promise<void> => {
      for (let type = left.shift(); type !== undefined; type = left.shift()) {
        const total = await countHits(type, words, signal);
        this.counts = new Map([...this.counts, [type, total]]);
      }
    };
    try {
      await Promise.all(Array.from({ length: countsAtATime }, work));
    } catch (error) {
      if (!signal.aborted) this.failure = messageOf(error);
    }
  }

  private href({ types, joined, words }: Search, page = 1): string {
    const parameters = new URLSearchParams(types.map((type) => ['type', type]));
    if (words !== '') parameters.set('q', words);
    if (joined === 'any') parameters.set('joined', joined);
    if (page > 1) parameters.set('page', String(page));
    return `${placeHref('search')}?${parameters}`;
  }

  private go(part: Partial<Search>): void {
    location.hash = this.href({ ...this.wanted, ...part });
  }

  protected override render(): TemplateResult {
    if (!this.isOn && !this.hasWords)
      return html`<h1>Search by type</h1><p class="empty">${switchedOff} The operator of the server can switch it on.</p>`;
    return html`
      <h1>${this.hasWords ? 'Search' : 'Search by type'}</h1>
      ${this.hasWords ? this.box() : nothing}
      <div class="search">
        ${this.isOn ? this.facetList() : nothing}
        <section aria-label="Items found" aria-busy=${this.isSearching ? 'true' : 'false'}>
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

  /** Renders the search field, and the types whose names contain the typed words. */
  private box(): TemplateResult {
    const { words } = this.wanted;
    const named = (this.facets ?? []).filter((type) => kindName(type).toLowerCase().includes(words.toLowerCase()));
    return html`<form class="row" role="search" @submit=${(event: SubmitEvent) => {
      event.preventDefault();
      const text = new FormData(event.target as HTMLFormElement).get('q');
      this.go({ words: String(text).trim(), types: this.wanted.types.slice(0, 1) });
    }}>
      <label class="visually-hidden" for="words">Words, "phrases" and beginnings such as hydro*</label>
      <input id="words" class="grow" name="q" type="search" maxlength="1000" .value=${words}
        placeholder="Search words">
      <button>Search</button>
    </form>
    ${
      words !== '' && named.length > 0
        ? html`<p class="soft">Types: ${named
            .slice(0, 5)
            .map(
              (type) => html`<a href=${this.href({ types: [type], joined: 'all', words: '' })}>${kindName(type)}</a> `,
            )}</p>`
        : nothing
    }`;
  }

  private facetList(): TemplateResult {
    const { types, joined, words } = this.wanted;
    const wantedText = this.filter.trim().toLowerCase();
    // A class in the URL may have no visible instances. It is listed, so that the user can remove it.
    const facets = this.facets ?? [];
    const all = [...types.filter((type) => !facets.includes(type)), ...facets];
    const isFound = (type: string): boolean => words === '' || this.counts.get(type) !== 0;
    const shown = all.filter(
      (type) => types.includes(type) || (type.toLowerCase().includes(wantedText) && isFound(type)),
    );
    const countOf = (type: string): number => this.counts.get(type) ?? 0;
    const own = shown.filter((type) => !isStructural(type)).sort((a, b) => countOf(b) - countOf(a));
    const structural = shown.filter(isStructural);
    const isEmpty = this.facets !== undefined && !all.some((type) => !isStructural(type));
    // On a phone the types are folded, so that the first hits are visible.
    const isOpen = types.length > 0 || matchMedia('(min-width: 52rem)').matches;
    return html`<form class="facets" @submit=${(event: Event) => event.preventDefault()}><details ?open=${isOpen}><summary><h2>Filters</h2></summary>
      ${
        all.filter((type) => !isStructural(type) && isFound(type)).length >= manyFacets
          ? html`<label>Filter types <input type="search" .value=${this.filter} @input=${(event: Event) => {
              this.filter = (event.target as HTMLInputElement).value;
            }}></label>`
          : nothing
      }
      <fieldset class="bare" ?hidden=${words !== '' || types.length < 2}><legend class="visually-hidden">An item must have</legend>
        ${(['all', 'any'] as const).map(
          (each) => html`<label class="inline"><input type="radio" name="joined" .checked=${live(joined === each)}
            @change=${() => this.go({ joined: each })}>${each === 'all' ? 'All selected types' : 'Any selected type'}</label>`,
        )}
      </fieldset>
      ${this.facets === undefined && !this.failure ? html`<p>Loading …</p>` : nothing}
      ${
        isEmpty
          ? html`<p class="soft">No types yet. An item gets a type by a triple such as
              <code>&lt;&gt; a &lt;http://schema.org/Dataset&gt;</code> in its Turtle, or by a type in its metadata.</p>`
          : nothing
      }
      ${own.length > 0 ? this.choices(own, types) : nothing}
      ${structural.length > 0 ? html`<h3>Kind</h3>${this.choices(structural, types)}` : nothing}
      ${
        this.total > (this.facets?.length ?? 0) && this.facets
          ? html`<p class="soft">The first ${this.facets.length.toLocaleString()} of ${this.total.toLocaleString()} types.</p>`
          : nothing
      }
      ${types.length > 0 ? html`<p><a href=${placeHref('search')}>Clear selection</a></p>` : nothing}
    </details></form>`;
  }

  private choices(offered: readonly string[], chosen: readonly string[]): TemplateResult {
    return html`<ul>${repeat(
      offered,
      (type) => type,
      (type) => html`<li><label title=${type}><input type="checkbox" .checked=${live(chosen.includes(type))}
        @change=${(event: Event) => this.choose(type, (event.target as HTMLInputElement).checked)}>
        <span>${kindNames[type.slice(lwsNamespace.length)] ?? kindName(type)}<span class="visually-hidden"> ${type}</span>
          ${this.counts.has(type) ? html`<span class="soft">${this.counts.get(type)!.toLocaleString()}</span>` : nothing}</span></label></li>`,
    )}</ul>`;
  }

  private choose(type: string, isChosen: boolean): void {
    const others = this.wanted.words === '' ? this.wanted.types.filter((each) => each !== type) : [];
    this.go({ types: isChosen ? [...others, type] : others });
  }

  private summary(): string {
    if (!this.found) return this.failure ? '' : 'Searching …';
    const { total, pages } = this.found;
    const count = `${total.toLocaleString()} item${total === 1 ? '' : 's'}`;
    const place = pages > 1 ? `, page ${this.page} of ${pages}` : '';
    return this.wanted.types.length === 0 && this.wanted.words === ''
      ? `${count} that you may read${place}.`
      : `${count} found${place}.`;
  }

  private hits(): TemplateResult | typeof nothing {
    const { found, page, wanted } = this;
    if (!found) return nothing;
    if (found.hits.length === 0 && wanted.words !== '')
      return html`<p class="empty">No readable item has these words${wanted.types.length > 0 ? ' and this type' : ''}. All words must match.</p>`;
    if (found.hits.length === 0 && wanted.types.length === 0)
      return html`<p class="empty">No items that you can read.
        ${who().kind === 'subject' ? nothing : html`<a href=${signInHref()}>Sign in</a> with another identity.`}</p>`;
    if (found.hits.length === 0)
      return html`<p class="empty">No readable item has ${
        wanted.joined === 'all' && wanted.types.length > 1
          ? 'all of these types. Remove one, or choose “Any selected type”.'
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

  /** Renders a link to a subject in a document. The link opens the table of the subject's triples. */
  private thing(iri: string, subject: string | undefined, text: string): TemplateResult {
    return subject?.startsWith(`${iri}#`) ? html`<a href=${openHref(subject)}>${text}</a>` : html`${text}`;
  }

  private excerpt(iri: string, { text, matches, subject }: Snippet, isMarkdown: boolean): TemplateResult {
    const plain = (part: string): string => (isMarkdown ? part.replace(markdownMarks, '$1') : part);
    const parts = matches.map(([start, end], at) => [
      plain(text.slice(matches[at - 1]?.[1] ?? 0, start)),
      text.slice(start, end),
    ]);
    const excerpt = html`${parts.map(([before, match]) => html`${before}<mark>${match}</mark>`)}${plain(text.slice(matches.at(-1)?.[1] ?? 0))}`;
    if (!subject?.startsWith(`${iri}#`)) return html`<p>${excerpt}</p>`;
    // If the excerpt begins with the label, it is not shown twice.
    const label = labelOf(subject);
    if (text.startsWith(label) || labels.peek(subject) !== '')
      return html`<p><a href=${openHref(subject)}>${excerpt}</a></p>`;
    return html`<p><a href=${openHref(subject)}>${label}</a>: ${excerpt}</p>`;
  }

  private hit({ iri, types, mediaType, modified, snippet }: SearchHit): TemplateResult {
    const name = headingOf(iri);
    // The subject of an excerpt, or the item, if it has a label.
    const [thing, label] = [snippet?.subject, iri]
      .map((each) => [each, each && labels.of(each)] as const)
      .find(([, found]) => found) ?? [iri, undefined];
    const above = parentIri(iri);
    const folder = above === storageUri ? headingOf(above) : decoded(above.slice(storageUri.length, -1));
    const type = isContainer(iri) ? 'Folder' : mediaType && formatName(mediaType);
    const about = [iri === storageUri ? '' : folder, type, modified && dates.format(new Date(modified))]
      .filter(Boolean)
      .join(' · ');
    const { wanted } = this;
    const things = this.types.get(iri);
    // With "all", or a single type, every hit has the searched types. With "any", the matching type of a hit is not known.
    const sure = wanted.joined === 'all' || wanted.types.length === 1 ? wanted.types : [];
    const shown = [...new Set([...types, ...sure, ...(things?.keys() ?? [])])].filter(
      (type) => type.includes(':') && !isStructural(type),
    );
    return html`<li class="hit">
      ${itemIcon(iri)}${
        label
          ? html`<a href=${openHref(thing?.startsWith(`${iri}#`) ? thing : iri)}>${label}</a> <span class="soft">${name}</span>`
          : html`<a href=${openHref(iri)}>${name}</a>`
      }
      <div class="facts-line"><p class="soft" title=${modified ? dateText(modified) : nothing}>${about}</p>${
        shown.length > 0
          ? html`<ul class="chips" aria-label="Types of ${name}">${shown.map((type) => html`<li title=${type}>${this.thing(iri, things?.get(type), kindName(type))}</li>`)}</ul>`
          : nothing
      }</div>
      ${snippet ? this.excerpt(iri, snippet, /\bmarkdown\b/.test(mediaType ?? '')) : nothing}
    </li>`;
  }
}
