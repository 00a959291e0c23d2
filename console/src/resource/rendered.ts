/** Rendered text of a resource: Markdown, and comma- or tab-separated values as a table. */
import { html, nothing, type TemplateResult } from 'lit';
import { scrollTable } from '../frame/page.js';
import { markdown } from './markdown.js';
import type { Opened } from './read.js';

/** Maximum length of a text in characters, and number of rows and columns of a table. */
const [maxLength, maxRows, maxColumns] = [256 << 10, 200, 50];

/** Returns the beginning of a text, and a note if it is not the whole. */
export function beginningOf(text: string): { readonly shown: string; readonly note: unknown } {
  const shown = text.slice(0, maxLength);
  return { shown, note: shown.length < text.length ? html`<p class="soft">Only the beginning is shown.</p>` : nothing };
}

export const isRendered = (opened: Opened): boolean =>
  opened.text !== undefined && (isMarkdown(opened) || delimiterOf(opened) !== undefined);

/** Renders the text of a resource for which `isRendered` is true. */
export function rendered(opened: Opened, text: string): TemplateResult {
  const { shown, note } = beginningOf(text);
  const delimiter = delimiterOf(opened);
  return delimiter ? table(shown, delimiter) : html`${markdown(shown, opened.iri)}${note}`;
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
function rowsOf(text: string, delimiter: string): string[][] {
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
