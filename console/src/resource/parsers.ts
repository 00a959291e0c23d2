/** Parsers of rendered text, loaded when one is first needed. */
import { dsvFormat } from 'd3-dsv';
import { plotOf } from '../ask/plot.js';
import type { TableAnswer } from '../ask/run.js';
import { literalTerm, type ResultTerm, xsd } from '../ask/terms.js';
import { maxRows } from './rendered.js';

export { markdown } from './markdown.js';

const maxColumns = 50;

/** Parses comma- or tab-separated values into rows of typed terms, at most `maxRows`. */
export function separatedValues(text: string, delimiter: string): TableAnswer {
  const [heads = [], ...lines] = dsvFormat(delimiter)
    .parseRows(text)
    .slice(0, maxRows + 1);
  const columns = heads.slice(0, maxColumns);
  const types = columns.map((_, at) => typeOf(lines.map((line) => line[at] ?? '')));
  const rows = lines.map((line) => columns.map((_, at) => termOf(line[at] ?? '', types[at]!)));
  return { kind: 'rows', hint: '', text: '', mediaType: 'text/csv', columns, rows, prefixes: {} };
}

/** True if a chart can show a table. */
export const hasNumbers = (table: TableAnswer): boolean => table.rows.length > 1 && plotOf(table) !== undefined;

/** Returns the datatype of a column, empty for text. Cells without a value match every type. */
function typeOf(cells: readonly string[]): string {
  const known = cells.filter((cell) => cell.trim() !== '');
  if (known.length === 0) return '';
  if (known.every((cell) => Number.isFinite(Number(cell)))) return `${xsd}decimal`;
  return known.every((cell) => /^\d{4}-\d\d-\d\d(?:T|$)/.test(cell)) ? `${xsd}dateTime` : '';
}

function termOf(cell: string, datatype: string): ResultTerm | undefined {
  if (cell.trim() === '') return undefined;
  const shown = shortTime(cell);
  return { ...literalTerm(cell, '', datatype), ...(shown === cell ? {} : { shown }) };
}

/** Returns a date with a time, without seconds of 00 and UTC: three columns fit on a phone. */
const shortTime = (cell: string): string =>
  cell.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::00(?:\.0+)?)?(?:Z|\+00:00)?$/, '$1 $2');
