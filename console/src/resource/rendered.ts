/** `<rendered-text>`: Markdown, and comma- or tab-separated values as a table. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page, scrollTable } from '../frame/page.js';
import type { Opened } from './read.js';

/** Maximum length of a text in characters, and number of rows and columns of a table. */
const [maxLength, maxRows, maxColumns] = [256 << 10, 200, 50];

/** Returns the beginning of a text, and a note if it is not the whole. */
export function beginningOf(text: string): { readonly shown: string; readonly note: unknown } {
  const shown = text.slice(0, maxLength);
  return { shown, note: shown.length < text.length ? html`<p class="soft">Only the beginning is shown.</p>` : nothing };
}

/** True if `<rendered-text>` shows a resource. */
export const isRendered = (opened: Opened): boolean =>
  opened.text !== undefined && (isMarkdown(opened) || delimiterOf(opened) !== undefined);

const isMarkdown = ({ mediaType, iri }: Opened): boolean =>
  /^text\/(?:x-)?markdown/.test(mediaType) || /\.(?:md|markdown)$/.test(iri);

/** Returns the delimiter of a table, `undefined` for other text. */
function delimiterOf({ mediaType, text = '' }: Opened): string | undefined {
  if (/^text\/tab-separated-values/.test(mediaType)) return '\t';
  if (!/^text\/csv/.test(mediaType)) return undefined;
  const [first = ''] = text.split('\n', 1);
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

/** A date with a time, without the parts that every line repeats: three columns fit on a phone. */
const shortTime = (cell: string): string =>
  cell.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::00(?:\.0+)?)?(?:Z|\+00:00)?$/, '$1 $2');

@customElement('rendered-text')
export class RenderedText extends Page {
  @property({ attribute: false }) opened!: Opened;
  @property() text = '';
  @state() private parsers: typeof import('./parsers.js') | undefined;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      this.parsers = await import('./parsers.js');
    }, 'Reload the page.');
  }

  protected override render(): TemplateResult {
    const { opened, parsers } = this;
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!parsers) return html`<p class="soft" role="status">Loading the preview …</p>`;
    const { shown, note } = beginningOf(this.text);
    const delimiter = delimiterOf(opened);
    if (delimiter === undefined) return html`${parsers.markdown(shown, opened.iri)}${note}`;
    const [heads = [], ...rows] = parsers
      .dsvFormat(delimiter)
      .parseRows(shown)
      .slice(0, maxRows + 1);
    const isNumber = (cell = ''): boolean => cell.trim() !== '' && Number.isFinite(Number(cell));
    const cells = rows.map(
      (row) =>
        html`<tr>${row.slice(0, maxColumns).map((cell) => html`<td class=${isNumber(cell) ? 'number' : nothing} title=${shortTime(cell) === cell ? nothing : cell}>${shortTime(cell)}</td>`)}</tr>`,
    );
    const titles = heads
      .slice(0, maxColumns)
      .map((head, at) => html`<span class=${isNumber(rows[0]?.[at]) ? 'number' : nothing}>${head}</span>`);
    return html`<p class="soft">${rows.length === maxRows ? `The first ${maxRows} rows.` : `${rows.length} row${rows.length === 1 ? '' : 's'}.`}</p>
      ${scrollTable('Rows', titles, cells)}`;
  }
}
