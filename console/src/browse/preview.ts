/** `<browse-preview>`: the selected member beside the listing. Markdown and tables are rendered, other text is highlighted. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page, scrollTable } from '../frame/page.js';
import '../resource/preview.js';
import { type Opened, readResource } from '../resource/read.js';
import { shortName } from '../storage/names.js';
import { markdown } from './markdown.js';

/** Maximum length of a text in characters, and number of rows and columns of a table. */
const [maxLength, maxRows, maxColumns] = [256 << 10, 200, 50];

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
      const isSource = opened.text !== undefined && !isMarkdown(opened) && !delimiterOf(opened);
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
    const shown = text.slice(0, maxLength);
    const delimiter = delimiterOf(opened);
    const note = shown.length < text.length ? html`<p class="soft">Only the beginning is shown.</p>` : nothing;
    if (isMarkdown(opened)) return html`${markdown(shown, iri)}${note}`;
    if (delimiter) return table(shown, delimiter);
    const language = kind === 'rdf' ? 'turtle' : kind === 'json' ? 'json' : 'text';
    return html`<quad-editor .language=${language} .label=${`Content of ${shortName(iri)}`} readonly .value=${shown}></quad-editor>${note}`;
  }
}

const isMarkdown = ({ mediaType, iri }: Opened): boolean =>
  /^text\/(?:x-)?markdown/.test(mediaType) || /\.(?:md|markdown)$/.test(iri);

/** Returns the delimiter of a table, `undefined` for other text. */
function delimiterOf({ mediaType, text = '' }: Opened): string | undefined {
  if (/^text\/tab-separated-values/.test(mediaType)) return '\t';
  if (!/^text\/csv/.test(mediaType)) return undefined;
  const [first = ''] = text.split('\n', 1);
  return first.includes(';') && !first.includes(',') ? ';' : ',';
}

function table(text: string, delimiter: string): TemplateResult {
  const [heads = [], ...rows] = rowsOf(text, delimiter);
  const cells = rows.map((row) => html`<tr>${row.slice(0, maxColumns).map((cell) => html`<td>${cell}</td>`)}</tr>`);
  return html`${scrollTable('Rows', heads.slice(0, maxColumns), cells)}
    <p class="soft">${rows.length === maxRows ? `The first ${maxRows} rows.` : `${rows.length} rows.`}</p>`;
}

/** Parses the first rows of a text (RFC 4180), the heading included. */
export function rowsOf(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < text.length && rows.length <= maxRows; at++) {
    const char = text[at]!;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === delimiter || char === '\n') {
      row.push(char === '\n' ? cell.replace(/\r$/, '') : cell);
      cell = '';
      if (char === '\n') {
        rows.push(row);
        row = [];
      }
    } else cell += char;
  }
  if (rows.length <= maxRows && (cell !== '' || row.length > 0)) rows.push([...row, cell]);
  return rows;
}
