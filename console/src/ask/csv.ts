/** Rows as a file for a spreadsheet (SPARQL 1.1 Query Results CSV), and files for the user to keep. */
import { plainText, type Row } from './terms.js';

export function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [columns.map(field), ...rows.map((row) => row.map((term) => field(plainText(term))))];
  return `${lines.map((fields) => fields.join(',')).join('\r\n')}\r\n`;
}

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** Hands a string to the browser as a download. */
export function download(text: string, mediaType: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
