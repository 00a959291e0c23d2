/** Folds texts for comparison: Unicode NFKC_Casefold, and letters that a search does not distinguish. */

const isAscii = /^[\u0000-\u007f]*$/;
/** Zero width spaces separate words, for example in Khmer. Other default-ignorable characters are removed from texts. */
const [divider, ignored] = [/\u200b/g, /\p{Default_Ignorable_Code_Point}/gu];
/** Typographic apostrophes, and the apostrophe letter (U+02BC). */
const apostrophe = /[\u2018\u2019\u02bc]/g;
/** Fraction characters. A space is inserted before them, so that their digits do not join the digits before the fraction. */
const fraction = /[\u00bc-\u00be\u2150-\u215e\u2189]/g;
/** Characters that are normalized together with the preceding character: marks, vowels and finals of Hangul and Kirat Rai. */
const joining =
  /[\p{M}\u1160-\u11ff\u3131-\u318e\uff9e\uff9f\uffa0-\uffdc\u{16d63}-\u{16d6a}]|(?!\u200b)\p{Default_Ignorable_Code_Point}/u;
/** Maximum characters normalized at once: reordering a run of marks takes quadratic time. */
const sliceLength = 256;
const chunk = new RegExp(`[\\s\\S](?:${joining.source}){0,${sliceLength}}`, 'gu');

/**
 * Returns a complete text, or a part that ends before a character that is not `joining`, in NFKC without ignored characters.
 */
function normalized(text: string): string {
  if (isAscii.test(text)) return text;
  const composed = text.replace(divider, ' ').replace(fraction, ' $&').normalize('NFKC');
  const shown = composed.replace(ignored, '');
  return (shown === composed ? shown : shown.normalize('NFKC')).replace(apostrophe, "'");
}

/**
 * Yields a text in slices, in NFKC and without ignored characters. One character can become eighteen, so the output is
 * truncated if it becomes much longer than the text.
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

/** Maximum characters by which a short text may grow. */
const longestExpansion = 4096;

/** Returns the end of a slice: before a character that does not join the preceding character, if there is one. */
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

/** Normalized text, and the offsets of its characters in the original. */
export interface Normalized {
  readonly text: string;
  /** Return the start and end, in the original, of the characters that produced a normalized character. */
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
 * Folds the case of a normalized word. JavaScript has no case folding, but applying lower, upper and lower case is equivalent,
 * except for the final sigma. Also unifies dotted and dotless i, and the Romanian letters with comma and cedilla (the stemmer
 * knows the cedilla).
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

/** Folds the case of a normalized word by the rules of Turkish: a capital I becomes a dotless i. */
export const foldedAsTurkish = (word: string): string =>
  /[Iıİ]/.test(word) ? word.replaceAll('İ', 'i').replaceAll('I', 'ı').split('ı').map(folded).join('ı') : folded(word);

/** Replaces each dotless i in a folded word. */
export const dotted = (word: string): string =>
  word.includes('ı') ? word.replaceAll('ı', 'i').normalize('NFKC') : word;

/** Returns a text for comparison with another: normalized and case-folded. */
export const foldedText = (text: string): string => folded([...normalizedSlices(text)].join(''));
