/** `<rendered-text>`: Markdown, and comma- or tab-separated values as a table. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { TableAnswer } from '../ask/run.js';
import { Page } from '../frame/page.js';
import type { Opened } from './read.js';

/** Maximum length of a text in characters. */
const maxLength = 256 << 10;
/** Maximum count of rows in a table. */
export const maxRows = 5000;

/** Returns the beginning of a text, and a note if the text is longer. */
export function beginningOf(text: string): { readonly shown: string; readonly note: unknown } {
  const shown = text.slice(0, maxLength);
  return { shown, note: shown.length < text.length ? html`<p class="soft">Only the beginning is shown.</p>` : nothing };
}

/** True if `<rendered-text>` shows a resource. */
export const isRendered = (opened: Opened): boolean =>
  opened.text !== undefined && (isMarkdown(opened) || delimiterOf(opened) !== undefined);

const isMarkdown = ({ mediaType, iri }: Opened): boolean =>
  /^text\/(?:x-)?markdown/.test(mediaType) || /\.(?:md|markdown)$/.test(iri);

/** Returns the delimiter of a table, or `undefined` for other text. */
function delimiterOf({ mediaType, text = '' }: Opened): string | undefined {
  if (/^text\/tab-separated-values/.test(mediaType)) return '\t';
  if (!/^text\/csv/.test(mediaType)) return undefined;
  const [first = ''] = text.split('\n', 1);
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

@customElement('rendered-text')
export class RenderedText extends Page {
  @property({ attribute: false }) opened!: Opened;
  @property() text = '';
  @state() private parsers: typeof import('./parsers.js') | undefined;
  @state() private isChart = false;
  /** Rows of a table, and the columns that a chart needs. `undefined` for other text. */
  private table: TableAnswer | undefined;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      const isTable = delimiterOf(this.opened) !== undefined;
      const [parsers] = await Promise.all([import('./parsers.js'), isTable && import('./values.js')]);
      this.parsers = parsers;
    }, 'Reload the page.');
  }

  protected override willUpdate(changed: PropertyValues): void {
    const delimiter = delimiterOf(this.opened);
    if (!this.parsers || delimiter === undefined) this.table = undefined;
    else if (changed.has('text') || !this.table)
      this.table = this.parsers.separatedValues(beginningOf(this.text).shown, delimiter);
  }

  protected override render(): TemplateResult {
    const { opened, parsers, table } = this;
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!parsers) return html`<p class="soft" role="status">Loading the preview …</p>`;
    const { shown, note } = beginningOf(this.text);
    return table
      ? this.values(table, parsers)
      : html`<div class="markdown">${parsers.markdown(shown, opened.iri)}${note}</div>`;
  }

  private values(table: TableAnswer, { hasNumbers }: typeof import('./parsers.js')): TemplateResult {
    const { columns, rows, prefixes } = table;
    const count = `${rows.length.toLocaleString()} row${rows.length === 1 ? '' : 's'}.`;
    const told = html`<span class="soft grow">${rows.length === maxRows ? `The first ${maxRows.toLocaleString()} rows.` : count}</span>`;
    const chart = hasNumbers(table)
      ? html`<button type="button" aria-pressed=${this.isChart ? 'true' : 'false'} @click=${this.toggleChart}>Chart</button>`
      : nothing;
    if (this.isChart) return html`<div class="row">${told}${chart}</div><ask-chart .answer=${table}></ask-chart>`;
    return html`<ask-table .columns=${columns} .rows=${rows} .prefixes=${prefixes} .beside=${[told, chart]}></ask-table>`;
  }

  private readonly toggleChart = async (): Promise<void> => {
    if (this.isChart) this.isChart = false;
    else
      await this.attempt(async () => {
        await import('../ask/chart.js');
        this.isChart = true;
      });
  };
}
