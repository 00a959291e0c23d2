/** Rows as a file for a spreadsheet (SPARQL 1.1 Query Results CSV). */
import { plainText, type Row } from './terms.js';

export function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = [columns.map(field), ...rows.map((row) => row.map((term) => field(plainText(term))))];
  return `${lines.map((fields) => fields.join(',')).join('\r\n')}\r\n`;
}

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
