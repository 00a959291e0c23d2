/**
 * Queries with several correct results, and the check of a result against that of a query without this choice: a subset of the
 * rows (LIMIT), an order with ties (ORDER BY), any member of a group (SAMPLE).
 */
import type { Term } from '@rdfjs/types';
import { areSame, type Outcome, type Solution, writeRow } from './sparql-oracles.js';

export interface Variation {
  /** Returns the query to send, derived from the query with the complete result. */
  of(whole: string): string;
  isRight(ours: Outcome, whole: Outcome): boolean;
}

type Answered = Exclude<Outcome, { error: string }>;

const held =
  (test: (ours: Answered, whole: Answered) => boolean): Variation['isRight'] =>
  (ours, whole) =>
    'error' in ours || 'error' in whole ? areSame(ours, whole) : test(ours, whole);

/** Removes rows from a multiset. Returns undefined if one is missing. */
function without(all: readonly string[], some: readonly string[]): string[] | undefined {
  const counts = new Map<string, number>();
  for (const row of all) counts.set(row, (counts.get(row) ?? 0) + 1);
  for (const row of some) {
    const count = counts.get(row) ?? 0;
    if (count === 0) return undefined;
    counts.set(row, count - 1);
  }
  return [...counts].flatMap(([row, count]) => new Array<string>(count).fill(row));
}

export const sliced = (offset: number, limit: number): Variation => ({
  of: (whole) => `${whole} LIMIT ${limit} OFFSET ${offset}`,
  isRight: held(
    ({ rows }, { rows: all }) =>
      without(all, rows) !== undefined && rows.length === Math.min(limit, Math.max(0, all.length - offset)),
  ),
});

export interface OrderKey {
  readonly name: string;
  readonly isDescending: boolean;
}

/** Limit of pairwise comparisons. The order is not transitive, because some terms are incomparable. */
const maxCompared = 200;

export const ordered = (keys: readonly OrderKey[], limit: number | undefined): Variation => ({
  of: (whole) =>
    [
      whole,
      'ORDER BY',
      ...keys.map(({ name, isDescending }) => (isDescending ? `DESC(?${name})` : `?${name}`)),
      ...(limit === undefined ? [] : [`LIMIT ${limit}`]),
    ].join(' '),
  isRight: held(({ rows, given = [] }, { rows: all, given: others = [] }) => {
    const left = without(all, rows);
    if (!left || rows.length !== Math.min(limit ?? all.length, all.length)) return false;
    const first = given.slice(0, maxCompared);
    if (first.some((row, at) => first.slice(at + 1).some((later) => isBehind(row, later, keys)))) return false;
    const isLeft = new Set(left);
    const behind = others.filter((row) => isLeft.has(writeRow(row))).slice(0, maxCompared);
    return !behind.some((row) => first.some((kept) => isBehind(kept, row, keys)));
  }),
});

/** Returns true if a row must come after another one. */
function isBehind(row: Solution, other: Solution, keys: readonly OrderKey[]): boolean {
  for (const { name, isDescending } of keys) {
    const [a, b] = [row.get(name), other.get(name)];
    const order = compare(a, b);
    if (order === undefined) return false;
    if (order !== 0) return order > 0 !== isDescending;
  }
  return false;
}

const kinds = [undefined, 'BlankNode', 'NamedNode', 'Literal'];

/** Compares terms by SPARQL 1.1, 15.1. `undefined` if the order is not defined. */
function compare(a: Term | undefined, b: Term | undefined): number | undefined {
  const kind = kinds.indexOf(a?.termType) - kinds.indexOf(b?.termType);
  if (kind !== 0) return kind;
  if (!a || a.equals(b)) return 0;
  if (a.termType === 'NamedNode') return a.value < b!.value ? -1 : 1;
  const [own, other] = [comparable(a), comparable(b!)];
  if (!own || own.type !== other?.type || own.value === other.value) return undefined;
  return own.value < other.value ? -1 : own.value > other.value ? 1 : undefined;
}

const numbers = new Set(['integer', 'decimal', 'double', 'float']);

function comparable(term: Term): { readonly type: string; readonly value: number | string } | undefined {
  if (term.termType !== 'Literal') return undefined;
  const [, type = ''] = term.datatype.value.split('XMLSchema#');
  if (numbers.has(type)) {
    const value = Number(term.value.replace('INF', 'Infinity'));
    return Number.isNaN(value) ? undefined : { type: 'number', value };
  }
  if (type === 'string' || type === 'boolean') return { type, value: term.value };
  return type === 'dateTime' && term.value.endsWith('Z') ? { type, value: Date.parse(term.value) } : undefined;
}

export interface Sampled {
  readonly head: string;
  readonly asked: string;
  readonly keys: readonly string[];
}

/** The complete result contains each distinct value of each group. */
export const sampled = ({ head, asked, keys }: Sampled): Variation => ({
  of: (whole) => `${whole.replace(head, asked)}${keys.length > 0 ? ` GROUP BY ${keys.join(' ')}` : ''}`,
  isRight: held(({ rows, given = [] }, { rows: all, given: others = [] }) => {
    const groupOf = (row: Solution): string =>
      writeRow(new Map([...row].filter(([name]) => keys.includes(`?${name}`))));
    const groups = new Set(others.map(groupOf));
    if (groups.size === 0 && keys.length === 0) return rows.length === 1 && rows[0] === '';
    return (
      rows.every((row) => all.includes(row)) &&
      new Set(given.map(groupOf)).size === rows.length &&
      groups.size === rows.length
    );
  }),
});
