/**
 * The layout of the key of a quad, which is quadstore's: `<index>\0\0<a>\0\0<b>\0\0<c>\0\0<d>\0\0<types and lengths><length of
 * that>`.
 */

export const separator = '\u0000\u0000';
/** Where the first value of a key begins: after the name of the index. */
export const firstAt = 4 + separator.length;
/** Digits of the length at the end of a key; only the last two are ever other than 0. */
export const endDigits = 5;
const lengthDigits = 4;

/**
 * How many characters the type and lengths of a term take, by the letter of the type: 0 an IRI, 1 a blank node, 2 a literal of any other
 * type, 3 a plain string, 4 a string with a language, 5 a number, 7 an instant.
 */
export const suffixLengths: Readonly<Record<string, number>> = { 0: 5, 1: 5, 2: 9, 3: 5, 4: 9, 5: 13, 7: 13 };

/** One term of a key. */
export interface TermSpan {
  /** The letter of its type. */
  readonly type: string;
  /** Its type with its lengths, as they are at the end of the key. */
  readonly suffix: string;
  readonly from: number;
  readonly end: number;
  /** Where its own text begins: after the language or the datatype, and the sortable form of a number. */
  readonly textAt: number;
  /** Where its language or datatype begins; the same as its end when there is none. */
  readonly qualifierAt: number;
  readonly qualifierEnd: number;
}

const digit = (code: number): number => (code < 58 ? code - 48 : code - 87);

/** The length in the four base-36 digits of a key from an index on. */
export const lengthAt = (key: string, at: number): number =>
  ((digit(key.charCodeAt(at)) * 36 + digit(key.charCodeAt(at + 1))) * 36 + digit(key.charCodeAt(at + 2))) * 36 +
  digit(key.charCodeAt(at + 3));

/** The index at which the types and lengths of a key begin. */
export const suffixStart = (key: string): number =>
  key.length - endDigits - (digit(key.charCodeAt(key.length - 2)) * 36 + digit(key.charCodeAt(key.length - 1)));

/** The types and lengths of a key, which say where its terms are. */
export const suffixOfKey = (key: string): string => key.slice(suffixStart(key), -endDigits);

/** The lengths of one term: of its text, its qualifier and the sortable form of a number. In the key these parts are in the reverse order. */
function lengthsOf(own: string): number[] {
  const lengths: number[] = [];
  for (let i = 1; i < own.length; i += lengthDigits) lengths.push(lengthAt(own, i));
  return lengths;
}

/** The lengths of the parts of each of the four terms, as `lengthsOf`. */
export function termLengths(suffix: string): number[][] {
  const terms: number[][] = [];
  for (let at = 0; at < suffix.length; at += suffixLengths[suffix[at]!]!)
    terms.push(lengthsOf(suffix.slice(at, at + suffixLengths[suffix[at]!]!)));
  return terms;
}

/** The four terms of keys with these types and lengths, in the order of the key. */
export function spansOf(suffix: string): TermSpan[] {
  const spans: TermSpan[] = [];
  for (let at = 0, from = firstAt; at < suffix.length; ) {
    const type = suffix[at]!;
    const own = suffix.slice(at, at + suffixLengths[type]!);
    const lengths = lengthsOf(own);
    const [text = 0, qualifier, order] = lengths;
    const qualifierAt = from + (order === undefined ? 0 : order + separator.length);
    const qualifierEnd = qualifierAt + (qualifier ?? 0);
    const textAt = qualifier === undefined ? qualifierEnd : qualifierEnd + separator.length;
    const end = textAt + text;
    spans.push({ type, suffix: own, from, end, textAt, qualifierAt, qualifierEnd });
    from = end + separator.length;
    at += own.length;
  }
  return spans;
}
