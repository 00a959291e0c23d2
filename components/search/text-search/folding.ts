/** Folding of texts: NFKC_Casefold of Unicode, and letters that a search does not distinguish. */

const isAscii = /^[\u0000-\u007f]*$/;
/** Zero width spaces divide words, as in Khmer. Other characters that are ignored by default are removed. */
const [divider, ignored] = [/\u200b/g, /\p{Default_Ignorable_Code_Point}/gu];
/** Typographic apostrophes, and the apostrophe that is a letter. */
const apostrophe = /[\u2018\u2019\u02bc]/g;
/** Fractions, whose digits must not join those before them. */
const fraction = /[\u00bc-\u00be\u2150-\u215e\u2189]/g;
/** Characters that are normalized together with those before them: marks, vowels and finals of Hangul and Kirat Rai. */
const joining =
  /[\p{M}\u1160-\u11ff\u3131-\u318e\uff9e\uff9f\uffa0-\uffdc\u{16d63}-\u{16d6a}]|(?!\u200b)\p{Default_Ignorable_Code_Point}/u;
/** Characters that are normalized at once. Reordering a run of marks takes the square of its length. */
const sliceLength = 256;
const chunk = new RegExp(`[\\s\\S](?:${joining.source}){0,${sliceLength}}`, 'gu');

/** Returns a text, or a part of it that ends before a character that is not `joining`, in NFKC and without ignored characters. */
function normalized(text: string): string {
  if (isAscii.test(text)) return text;
  const composed = text.replace(divider, ' ').replace(fraction, ' $&').normalize('NFKC');
  const shown = composed.replace(ignored, '');
  return (shown === composed ? shown : shown.normalize('NFKC')).replace(apostrophe, "'");
}

/**
 * Yields a text in slices, in NFKC and without ignored characters. Only the beginning is yielded of a text that becomes much longer:
 * one character can become eighteen.
 */
export function* normalizedSlices(text: string): Generator<string> {
  let left = 2 * text.length + longestExpansion;
  for (let at = 0, to = 0; at < text.length && left > 0; at = to) {
    to = endOfSlice(text, at);
    const slice = normalized(text.slice(at, to));
    left -= slice.length;
    yield slice;
  }
}

/** Characters that a short text may become longer by. */
const longestExpansion = 4096;

/** Returns the index of the end of a slice: before a character that joins no other one, if there is one. */
function endOfSlice(text: string, from: number): number {
  const end = from + sliceLength;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - sliceLength / 2; at--)
    if (!isInPair(text, at) && !joining.test(String.fromCodePoint(text.codePointAt(at)!))) return at;
  return isInPair(text, end) ? end - 1 : end;
}

/** True if an index is between the two halves of a surrogate pair. */
export const isInPair = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at - 1);
  const next = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
};

/** A normalized text, and where its characters are in the original. */
export interface Normalized {
  readonly text: string;
  /** Start and end, in the original, of what a character is from. */
  start(index: number): number;
  end(index: number): number;
}

/** Returns a normalized text with the offsets of the original. */
export function normalizedWithOffsets(original: string): Normalized {
  if (isAscii.test(original)) return { text: original, start: (index) => index, end: (index) => index + 1 };
  const [starts, ends]: number[][] = [[], []];
  let text = '';
  for (const { 0: part, index } of original.matchAll(chunk)) {
    const shown = normalized(part);
    text += shown;
    for (let at = 0; at < shown.length; at++) {
      starts!.push(index);
      ends!.push(index + part.length);
    }
  }
  return { text, start: (index) => starts![index]!, end: (index) => ends![index]! };
}

/**
 * Returns a normalized word without case. JavaScript has no case folding: lower case of upper case of lower case is equal for the
 * same characters, except that the final sigma depends on its neighbours. Not distinguished besides: dotted and dotless i, and the
 * Romanian letters with comma and with cedilla, of which the stemmer knows the latter.
 */
export function folded(word: string): string {
  if (isAscii.test(word)) return word.toLowerCase();
  return word
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .replaceAll('\u0219', '\u015f')
    .replaceAll('\u021b', '\u0163')
    .normalize('NFKC');
}

/** Returns a normalized word without case by the rules of Turkish: a capital I is dotless. */
export const foldedAsTurkish = (word: string): string =>
  /[Iıİ]/.test(word) ? word.replaceAll('İ', 'i').replaceAll('I', 'ı').split('ı').map(folded).join('ı') : folded(word);

/** Returns a folded word with every dotless i replaced. */
export const dotted = (word: string): string =>
  word.includes('ı') ? word.replaceAll('ı', 'i').normalize('NFKC') : word;

/** Returns a text as it is compared with another one: normalized and without case. */
export const foldedText = (text: string): string => folded([...normalizedSlices(text)].join(''));
