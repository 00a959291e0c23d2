/** Result rows, filtered and sorted. Of long results only the visible rows are in the document. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { compact, iriName, labelled, labelOf, labels } from '../storage/labels.js';
import { compareTerms, numberOf, plainText, type ResultRow, type ResultTerm } from './terms.js';

/** Maximum count of rows that are all in the document and wrap their text. */
const fewRows = 300;
/** Up to this many rows, the table is as high as its rows. */
const fewest = 50;
/** Height of a row in pixels, as in the style sheet. */
const rowHeight = 32;
/** Count of extra rows above and below the visible rows. */
const spare = 20;
/** Maximum count of rows: browsers limit the height of a page to some 17 million pixels. */
const maxRows = 400_000;

type Direction = 'ascending' | 'descending';

@customElement('ask-table')
export class AskTable extends Page {
  @property({ attribute: false }) columns: readonly string[] = [];
  @property({ attribute: false }) rows: readonly ResultRow[] = [];
  @property({ attribute: false }) prefixes: Readonly<Record<string, string>> = {};
  /** Shown before and after the filter. */
  @property({ attribute: false }) beside: readonly [before: unknown, after: unknown] = [nothing, nothing];
  @state() private filter = '';
  @state() private order: { readonly column: number; readonly direction: Direction } | undefined;
  @state() private from = 0;
  private inSight = 40;
  private chosen: readonly ResultRow[] = [];
  /** Language or datatype that all terms of a column share, shown in the heading. Empty: shown in each cell. */
  private notes: readonly string[] = [];
  /** True for columns of numbers, whose headings are also aligned at the end. */
  private numeric: readonly boolean[] = [];
  /** Decimals of columns of numbers, so that decimal points are aligned. */
  private decimals: readonly number[] = [];

  protected override willUpdate(changed: PropertyValues): void {
    this.follow(labels);
    if (changed.has('rows')) {
      this.filter = '';
      this.order = undefined;
    }
    // Private state is not part of PropertyValues<this>.
    if (!['rows', 'filter', 'order'].some((name) => changed.has(name))) return;
    if (changed.has('rows')) {
      this.notes = this.columns.map((_, index) => this.sharedNote(index));
      this.numeric = this.columns.map((_, index) => this.isNumeric(index));
      this.decimals = this.columns.map((_, index) => (this.numeric[index] ? this.decimalsIn(index) : 0));
    }
    this.chosen = this.sorted(this.filtered());
    this.from = 0;
  }

  protected override updated(changed: PropertyValues): void {
    if (!['rows', 'filter', 'order'].some((name) => changed.has(name))) return;
    const scroll = this.querySelector('.scroll');
    if (scroll) scroll.scrollTop = 0;
  }

  /** Returns the language or datatype that all terms of a column share. Compares the terms, because this reads all rows. */
  private sharedNote(column: number): string {
    let first: ResultTerm | undefined;
    for (const { [column]: term } of this.rows) {
      first ??= term;
      if (term && (term.language !== first!.language || term.datatype !== first!.datatype)) return '';
    }
    return first && this.rows.length > 1 ? noteOf(first, this.prefixes) : '';
  }

  private isNumeric(column: number): boolean {
    const isNumber = ({ [column]: term }: ResultRow): boolean => !term || numberOf(term) !== undefined;
    return this.rows.every(isNumber) && this.rows.some((row) => row[column]);
  }

  /** Returns the largest count of decimals in a column, or 0 if a number has very many. */
  private decimalsIn(column: number): number {
    const most = this.rows.reduce((found, { [column]: term }) => Math.max(found, decimalsOf(term?.value ?? '')), 0);
    return most <= maxDecimals ? most : 0;
  }

  private filtered(): readonly ResultRow[] {
    const wanted = this.filter.trim().toLowerCase();
    if (wanted === '') return this.rows;
    return this.rows.filter((row) => row.some((term) => this.textOf(term, wanted).toLowerCase().includes(wanted)));
  }

  /** Returns the text that is searched: the value, and for an IRI its label and its name with a prefix. */
  private textOf(term: ResultTerm | undefined, wanted: string): string {
    if (term?.kind !== 'iri') return plainText(term);
    return `${term.value} ${labels.peek(term.value)} ${wanted.includes(':') ? compact(term.value, this.prefixes) : ''}`;
  }

  private sorted(rows: readonly ResultRow[]): readonly ResultRow[] {
    if (!this.order) return rows;
    const { column, direction } = this.order;
    const sign = direction === 'ascending' ? 1 : -1;
    return [...rows].sort((a, b) => sign * compareTerms(a[column], b[column]));
  }

  protected override render(): TemplateResult {
    const count = this.chosen.length;
    const isLong = count > fewRows;
    const shown = Math.min(count, maxRows);
    const from = isLong ? Math.max(0, this.from - spare) : 0;
    const to = isLong ? Math.min(shown, this.from + this.inSight + spare) : shown;
    return html`
      <div class="row">${this.beside[0]}
        <label class="grow"><span class="visually-hidden">Filter</span>
          <input class="filter" type="search" .value=${this.filter} placeholder="Rows that contain …" @input=${this.onFilter}>
        </label>
        <span class="soft" role="status">${
          count === this.rows.length ? '' : `${count.toLocaleString()} of ${this.rows.length.toLocaleString()} rows`
        }${count > maxRows ? ` The first ${maxRows.toLocaleString()} are shown: filter, or download all.` : ''}</span>${this.beside[1]}
      </div>
      <div class="scroll answer ${isLong ? 'long' : count <= fewest ? 'short' : ''}" tabindex="0" role="region" aria-label="Rows" @scroll=${this.onScroll}>
        <table aria-rowcount=${shown + 1}>
          <thead><tr aria-rowindex="1">${this.columns.map((name, index) => this.heading(name, index))}</tr></thead>
          <tbody>
            ${this.space(from)}
            ${this.chosen.slice(from, to).map(
              (row, index) =>
                html`<tr aria-rowindex=${from + index + 2}>${row.map(
                  (term, column) => html`<td
                  class=${numberOf(term) === undefined ? '' : 'number'}
                  title=${isLong || term?.shown !== undefined ? plainText(term) : nothing}
                >${termContent(term, this.prefixes, this.notes[column] === '' && !this.numeric[column] && term?.shown === undefined)}${this.filler(term, column)}</td>`,
                )}</tr>`,
            )}
            ${this.space(shown - to)}
          </tbody>
        </table>
      </div>`;
  }

  /** Returns invisible digits after the decimals of a number, for alignment. */
  private filler(term: ResultTerm | undefined, column: number): TemplateResult | typeof nothing {
    const [own, all] = [decimalsOf(term?.value ?? ''), this.decimals[column] ?? 0];
    if (!term || own >= all) return nothing;
    return html`<span class="filler" aria-hidden="true">${own === 0 ? '.' : ''}${'0'.repeat(all - own)}</span>`;
  }

  private heading(name: string, index: number): TemplateResult {
    const note = this.notes[index] ?? '';
    // Hide the XSD datatypes, as of numbers and dates.
    const isHidden = note.startsWith('xsd:');
    const direction = this.order?.column === index ? this.order.direction : undefined;
    return html`<th scope="col" class=${this.numeric[index] ? 'number' : ''} aria-sort=${direction ?? 'none'}>
      <button type="button" class="sort" title=${isHidden ? note : nothing} @click=${() => this.sort(index)}>${name}<span aria-hidden="true">${
        direction === 'ascending' ? ' ▲' : direction === 'descending' ? ' ▼' : ''
      }</span></button>${isHidden ? nothing : noted(note)}</th>`;
  }

  private space(rows: number): TemplateResult | typeof nothing {
    if (rows <= 0) return nothing;
    return html`<tr class="space" aria-hidden="true"><td colspan=${this.columns.length} height=${rows * rowHeight}></td></tr>`;
  }

  private sort(column: number): void {
    const again = this.order?.column === column ? this.order.direction : undefined;
    this.order =
      again === 'descending' ? undefined : { column, direction: again === 'ascending' ? 'descending' : 'ascending' };
  }

  private onFilter(event: Event): void {
    this.filter = (event.target as HTMLInputElement).value;
  }

  private onScroll(event: Event): void {
    const { scrollTop, clientHeight } = event.target as HTMLElement;
    const at = Math.floor(scrollTop / rowHeight);
    this.inSight = Math.ceil(clientHeight / rowHeight);
    // Render other rows only when half of the extra rows are used.
    if (Math.abs(at - this.from) >= spare / 2) this.from = at;
  }
}

/** Maximum number of decimals that are aligned. */
const maxDecimals = 6;
const decimalsOf = (number: string): number => (/^[+-]?\d*\.(\d+)$/.exec(number)?.[1] ?? '').length;

/** Returns the link target of an IRI: a console page for the storage, the IRI on the web, `undefined` for other schemes. */
export function hrefOf(iri: string): string | undefined {
  if (!iri.startsWith(storageUri)) return /^https?:\/\//i.test(iri) ? iri : undefined;
  const at = iri.replace(/#.*$/s, '').replace(/\.meta$/, '');
  return openHref(at);
}

export const isOutside = (iri: string): boolean => !iri.startsWith(storageUri);

/** Returns the language or datatype of a literal. */
function noteOf({ language, datatype }: ResultTerm, prefixes: Readonly<Record<string, string>>): string {
  if (language !== '') return `@${language}`;
  return datatype === '' ? '' : labelOf(datatype, prefixes);
}

const noted = (note: string): TemplateResult | typeof nothing =>
  note === '' ? nothing : html` <span class="soft term-note">${note}</span>`;

/** Renders a term. @param hasNote true to show the language or datatype of a literal */
export function termContent(
  term: ResultTerm | undefined,
  prefixes: Readonly<Record<string, string>>,
  hasNote = true,
): TemplateResult | typeof nothing {
  if (!term) return nothing;
  if (term.kind === 'blank') return html`<span class="soft">_:${term.value}</span>`;
  if (term.kind === 'literal')
    return html`${term.shown ?? term.value}${hasNote ? noted(noteOf(term, prefixes)) : nothing}`;
  if (term.terms) return html`&lt;&lt;( ${term.terms.map((each) => html`${termContent(each, prefixes)} `)})&gt;&gt;`;
  const href = hrefOf(term.value);
  const name = iriName(term.value, labelled(term.value, prefixes));
  if (href === undefined) return name;
  return isOutside(term.value)
    ? html`<a href=${href} target="_blank" rel="noreferrer">${name}</a>`
    : html`<a href=${href}>${name}</a>`;
}
