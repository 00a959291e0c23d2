/** Layout of a quad's key, as in quadstore: `<index>\0\0<a>\0\0<b>\0\0<c>\0\0<d>\0\0<types and lengths><length of that>`. */

export const separator = '\u0000\u0000';
/** Offset of the first value: after the index name. */
export const firstTermAt = 4 + separator.length;
/** Count of digits of the length at the end of a key. Only the last two digits are ever non-zero. */
export const endDigits = 5;
const lengthDigits = 4;

/**
 * Length of a term's type and lengths, by type letter: 0 IRI, 1 blank node, 2 literal of any other type, 3 plain string, 4 string
 * with a language, 5 number, 7 instant, 8 triple term, 9 string with a language and a base direction.
 */
export const suffixLengths: Readonly<Record<string, number>> = {
  ...{ 0: 5, 1: 5, 2: 9, 3: 5, 4: 9, 5: 13, 7: 13 },
  ...{ 8: 5, 9: 9 },
};

/** One term of a key. */
export interface TermSpan {
  /** Type letter. */
  readonly type: string;
  /** Type and lengths, as at the end of the key. */
  readonly suffix: string;
  readonly from: number;
  readonly end: number;
  /** Start of the text: after the language or datatype, and after the sortable form of a number. */
  readonly textAt: number;
  /** Start of the language or datatype. Equal to its end if there is none. */
  readonly qualifierAt: number;
  readonly qualifierEnd: number;
}

const digit = (code: number): number => (code < 58 ? code - 48 : code - 87);

/** Reads four base-36 digits as a length. */
export const lengthAt = (key: string, at: number): number =>
  ((digit(key.charCodeAt(at)) * 36 + digit(key.charCodeAt(at + 1))) * 36 + digit(key.charCodeAt(at + 2))) * 36 +
  digit(key.charCodeAt(at + 3));

/** Returns the offset of a key's types and lengths. */
export const suffixStart = (key: string): number =>
  key.length - endDigits - (digit(key.charCodeAt(key.length - 2)) * 36 + digit(key.charCodeAt(key.length - 1)));

/** Returns the types and lengths of a key, which locate its terms. */
export const suffixOfKey = (key: string): string => key.slice(suffixStart(key), -endDigits);

/** Characters before the object in the types and lengths: for graph, subject and predicate a letter and a length each. */
const toObject = 3 * (1 + lengthDigits);
/** Codes of the type letters of triple terms, and of strings with a base direction. */
export const tripleLetter = '8'.charCodeAt(0);
const directionLetter = '9'.charCodeAt(0);

/** Start of the GSPO key of a triple in no graph. The text of a triple term is the rest of that key. */
const inNoGraph = `GSPO${separator}${separator}`;

/** Returns the GSPO key of a triple term's triple, in a graph without a name. @param text of the term in a key */
export const keyOfTriple = (text: string): string => inNoGraph + text;

/** Returns the text of a triple term. @param key of that triple, see `keyOfTriple` */
export const textOfTriple = (key: string): string => key.slice(inNoGraph.length);

/** Returns the nesting depth of a triple term: 1 if its object is another term. @param text of the outermost term */
export function tripleDepth(text: string): number {
  const suffixAt = suffixStart(text);
  const objectAt = suffixAt + toObject;
  if (text[objectAt] !== '8') return 1;
  const end = suffixAt - separator.length;
  return 1 + tripleDepth(text.slice(end - lengthAt(text, objectAt + 1), end));
}

/** Returns true for a triple with a blank node, or with a triple term, which may contain a blank node. */
export function hasBlankNode(key: string): boolean {
  const at = suffixStart(key);
  return key[at + 1 + lengthDigits] === '1' || key[at + toObject] === '1' || key[at + toObject] === '8';
}

/** Version of RDF that a graph requires: `1.2` for triple terms, `1.2-basic` for base directions only. Absent: 1.1. */
export type RdfVersion = '1.2' | '1.2-basic';

/** Returns the version of RDF that triples require. @param keys GSPO keys */
export function versionOf(keys: Iterable<string>): RdfVersion | undefined {
  let found: RdfVersion | undefined;
  for (const key of keys) {
    const type = key.charCodeAt(suffixStart(key) + toObject);
    if (type === tripleLetter) return '1.2';
    if (type === directionLetter) found = '1.2-basic';
  }
  return found;
}

/** Returns the version that two parts of a graph require together. */
export const laterVersion = (a: RdfVersion | undefined, b: RdfVersion | undefined): RdfVersion | undefined =>
  a === '1.2' || b === '1.2' ? '1.2' : (a ?? b);

/** Returns the lengths of a term's text, qualifier and sortable form. In the key these parts are in reverse order. */
function lengthsOf(own: string): number[] {
  const lengths: number[] = [];
  for (let i = 1; i < own.length; i += lengthDigits) lengths.push(lengthAt(own, i));
  return lengths;
}

/** Returns the lengths of each of the four terms, as `lengthsOf`. */
export function termLengths(suffix: string): number[][] {
  const terms: number[][] = [];
  for (let at = 0; at < suffix.length; at += suffixLengths[suffix[at]!]!)
    terms.push(lengthsOf(suffix.slice(at, at + suffixLengths[suffix[at]!]!)));
  return terms;
}

/** Returns the positions of the four terms in keys with these types and lengths, in key order. */
export function spansOf(suffix: string): TermSpan[] {
  const spans: TermSpan[] = [];
  for (let at = 0, from = firstTermAt; at < suffix.length; ) {
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
