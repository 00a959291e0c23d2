/**
 * JSON values that keep what `JSON.parse` loses: the digits and format of numbers, and the order of members.
 *
 * Numbers that JavaScript would write differently are `ExactNumber`s. Names that JavaScript objects treat specially carry a mark:
 * `__proto__` would set the prototype, and names of digits would come first.
 */
import { parse } from 'json-custom-numbers';
import { ExactNumber, isKept, readNumber } from './exact-number.js';
import { endOfString, tooDeep } from './json.js';

/** JSON value. `plain` is true without marks and exact numbers, so that the engine's fast parser and writer suffice. */
export interface ExactJson {
  readonly value: unknown;
  readonly plain: boolean;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** Returns the values of a member that may be absent, single or a list. */
export const valuesOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

const mark = '#';
const special = /^#*(?:__proto__|\d+)$/;

/** Returns the name of a member, with a mark if JavaScript would treat it specially. */
export const markedName = (name: string): string => (special.test(name) ? mark + name : name);
/** Returns true if a name has a mark. */
export const isMarked = (name: string): boolean => name.startsWith(mark) && special.test(name);
const plainName = (name: string): string => (isMarked(name) ? name.slice(mark.length) : name);

/** Parses a string that `parseJson` has checked for validity and depth. */
export function readExact(text: string): ExactJson {
  const { exact, marks } = examine(text);
  const marked = withMarks(text, marks);
  const value: unknown = exact ? parse(marked, undefined, (_name, digits) => readNumber(digits)) : JSON.parse(marked);
  return { value, plain: !exact && marks.length === 0 };
}

/** Returns true if the text has numbers that only the slow parser preserves, and the positions of names that need a mark. */
function examine(text: string): { readonly exact: boolean; readonly marks: readonly number[] } {
  const marks: number[] = [];
  let exact = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      const end = endOfString(text, i);
      if (maybeSpecial(text.charCodeAt(i + 1)) && isName(text, end) && special.test(unescaped(text, i, end)))
        marks.push(i + 1);
      i = end;
    } else if (code === 0x2d || isDigit(code)) {
      const end = endOfNumber(text, i);
      exact ||= !isKept(text.slice(i, end));
      i = end - 1;
    }
  }
  return { exact, marks };
}

/** Returns true if the first character of a name may require a mark: a digit, `_`, the mark, or an escape. */
const maybeSpecial = (code: number): boolean => isDigit(code) || code === 0x5f || code === 0x23 || code === 0x5c;

const unescaped = (text: string, start: number, end: number): string =>
  JSON.parse(text.slice(start, end + 1)) as string;

/** Returns true if the string that ends at this position is a member name. */
function isName(text: string, end: number): boolean {
  let i = end + 1;
  while (isBlank(text.charCodeAt(i))) i++;
  return text.charCodeAt(i) === 0x3a;
}

function endOfNumber(text: string, start: number): number {
  let i = start + 1;
  for (; ; i++) {
    const code = text.charCodeAt(i);
    // Fractions and exponents contain `.`, `e`, `E`, `+` or `-`.
    if (!isDigit(code) && code !== 0x2e && code !== 0x65 && code !== 0x45 && code !== 0x2b && code !== 0x2d) return i;
  }
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function withMarks(text: string, marks: readonly number[]): string {
  if (marks.length === 0) return text;
  const ends = [...marks.slice(1), text.length];
  return text.slice(0, marks[0]) + marks.map((at, index) => mark + text.slice(at, ends[index])).join('');
}

/**
 * Writes a value like `JSON.stringify`, with exact numbers unchanged and names without marks.
 * @throws LwsError `malformed-body` if the nesting exceeds the stack
 */
export function writeExact({ value, plain }: ExactJson): string {
  try {
    return plain ? JSON.stringify(value) : written(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw tooDeep();
  }
}

function written(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(plainName(name))}:${written(member)}`,
  );
  return `{${members.join()}}`;
}
