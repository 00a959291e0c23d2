/** Selects the columns of a chart and their values. Does not draw. */
import { kindName, labelOf } from '../storage/labels.js';
import { numberOf, plainText, type ResultRow, timeOf } from './terms.js';

export type PlotKind = 'bars' | 'lines' | 'points';
export type Scale = 'number' | 'time' | 'names';

export interface Plot {
  readonly kind: PlotKind;
  /** Index of the column on the horizontal axis. */
  readonly x: number;
  readonly ys: readonly number[];
}

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly ResultRow[];
  readonly prefixes: Readonly<Record<string, string>>;
}

/** Maximum count of rows that determine the type of a column, because results can be long. */
const looked = 1000;

export function scaleOf({ rows }: Table, column: number): Scale {
  const terms = rows
    .slice(0, looked)
    .map((row) => row[column])
    .filter((term) => term !== undefined);
  if (terms.length > 0 && terms.every((term) => numberOf(term) !== undefined)) return 'number';
  if (terms.length > 0 && terms.every((term) => timeOf(term) !== undefined)) return 'time';
  return 'names';
}

/** Returns a default chart, or `undefined` for a result without numbers. */
export function plotOf(table: Table): Plot | undefined {
  const scales = table.columns.map((_, index) => scaleOf(table, index));
  const numbers = scales.flatMap((scale, index) => (scale === 'number' ? [index] : []));
  if (numbers.length === 0) return undefined;
  const time = scales.indexOf('time');
  // Several rows of a time belong to different things, which a line must not connect.
  if (time >= 0) return { kind: isRepeated(table, time) ? 'points' : 'lines', x: time, ys: comparable(table, numbers) };
  const name = scales.indexOf('names');
  if (name >= 0) return { kind: 'bars', x: name, ys: comparable(table, numbers) };
  if (numbers.length === 1) return { kind: 'bars', x: numbers[0]!, ys: numbers };
  return { kind: 'points', x: numbers[0]!, ys: numbers.slice(1) };
}

function isRepeated({ rows }: Table, column: number): boolean {
  const some = rows.slice(0, looked).flatMap(({ [column]: term }) => (term ? [term.value] : []));
  return new Set(some).size < some.length;
}

/** Maximum ratio of the largest values of two columns that are drawn together. */
const maxRatio = 20;

/**
 * Returns the columns of numbers that can share an axis. A measure, which has fractions, is drawn without columns of counts.
 */
function comparable({ rows }: Table, columns: readonly number[]): readonly number[] {
  const numberIn = (row: ResultRow, column: number): number => numberOf(row[column]) ?? 0;
  const largest = (column: number): number =>
    Math.max(...rows.slice(0, looked).map((row) => Math.abs(numberIn(row, column))));
  const isMeasure = (column: number): boolean => rows.some((row) => !Number.isInteger(numberIn(row, column)));
  const first = columns.find(isMeasure) ?? columns[0]!;
  const ratioOf = (column: number): number => Math.abs(Math.log(largest(column) / largest(first)));
  return columns.filter(
    (column) => column === first || (isMeasure(column) === isMeasure(first) && ratioOf(column) <= Math.log(maxRatio)),
  );
}

export interface PlotData {
  readonly scale: Scale;
  readonly xs: readonly number[];
  readonly ys: readonly (readonly (number | null)[])[];
  /** For the scale `names`: labels at 0, 1, 2 and so on. */
  readonly names: readonly string[];
}

/** Returns the values in the order of the horizontal axis, without rows that have no value there. */
export function dataOf(table: Table, { x, ys, kind }: Plot): PlotData {
  // Bars have equal distances, for all values.
  const own = scaleOf(table, x);
  const scale = kind === 'bars' && own === 'number' ? 'names' : own;
  const rows = table.rows.filter((row) => row[x] !== undefined);
  const at = (row: ResultRow, index: number): number =>
    scale === 'names'
      ? index
      : scale === 'time'
        ? (timeOf(row[x]) ?? Number.NaN) / 1000
        : (numberOf(row[x]) ?? Number.NaN);
  const points = rows
    .map((row, index) => ({ row, at: at(row, index) }))
    .filter((point) => !Number.isNaN(point.at))
    .sort((a, b) => a.at - b.at);
  return {
    scale,
    xs: points.map((point) => point.at),
    ys: ys.map((y) => points.map(({ row }) => numberOf(row[y]) ?? null)),
    names: scale === 'names' ? rows.map((row) => nameOf(row[x], table.prefixes)) : [],
  };
}

/** Maximum length of a name, in characters. */
const longestName = 40;

function nameOf(term: ResultRow[number], prefixes: Table['prefixes']): string {
  const name = term?.kind === 'iri' ? labelOf(term.value, prefixes) : plainText(term);
  // Show a class by the name of its kind.
  const text = term?.kind === 'iri' && /^[\w-]*:\p{Lu}/u.test(name) ? kindName(term.value) : name;
  return text.length > longestName ? `${text.slice(0, longestName - 1)}…` : text;
}
