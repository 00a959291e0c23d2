/** Divides a text into words: first normalizes it, then applies the Unicode rules (UAX 29). */
import { folded, isInPair, normalizedSlices, normalizedWithOffsets } from './folding.js';

/** Word of a text. `position` counts words; the offsets refer to the original text. */
export interface Word {
  /** Normalized word, in the original case. */
  readonly written: string;
  readonly position: number;
  readonly start: number;
  readonly end: number;
}

/** Maximum characters of a token. Longer words are counted, but not indexed. */
export const longestToken = 64;
/**
 * Maximum characters that are divided at once in Latin text and in other text, because `Intl.Segmenter` treats a run of Chinese
 * or Thai as one unit. Characters read ahead in other text, because word boundaries depend on what follows.
 */
const [latinLength, pieceLength, readAhead] = [4096, 1024, 128];
/** Minimum characters of a piece of Latin text, except at the end of the text. */
const shortestLatin = 64;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
const letter = 'A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f';
/** Characters that the regular expression below can divide into words, five times faster than `Intl.Segmenter`. */
const latinText =
  /[\t\n\r -~\u00a1-\u00a7\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u024f\u2013\u2014\u201c-\u201e\u2022\u20ac]*/y;
const latinWord = new RegExp(
  `[${letter}\\d_]+(?:(?:(?<=[${letter}])[.:\u00b7'](?=[${letter}])|(?<=\\d)[.,;'](?=\\d))[${letter}\\d_]+)*`,
  'g',
);
const hasLetter = /[\p{L}\p{N}]/u;
const isAscii = /^[\t\n\r -~]*$/;

/** Part of a text, divided into words. */
interface Piece {
  readonly words: readonly (readonly [written: string, start: number])[];
  readonly length: number;
  /** Relative cost of dividing the piece: 1 per character of Latin text. */
  readonly cost: number;
}

/** Relative cost per character of text that is not Latin. */
const segmenterCost = 4;

/** Yields the words of a text in order. @param latin false to divide every text with `Intl.Segmenter`, for tests */
export function* wordsOf(original: string, latin = true): Generator<Word> {
  const { text, start, end } = normalizedWithOffsets(original);
  let [position, at] = [0, 0];
  for (const { words, length } of piecesOf([text], latin)) {
    for (const [written, index] of words) {
      const last = at + index + written.length - 1;
      yield { written, position: position++, start: start(at + index), end: end(last) };
    }
    at += length;
  }
}

/** Yields the words of a text, normalized but not folded, in pieces with their relative cost. */
export function* writtenWords(text: string): Generator<{ readonly words: readonly string[]; readonly cost: number }> {
  if (text.length <= latinLength && isAscii.test(text)) {
    yield { words: (text.match(latinWord) ?? []).filter((word) => hasLetter.test(word)), cost: text.length };
    return;
  }
  for (const { words, cost } of piecesOf(normalizedSlices(text), true))
    yield { words: words.map(([written]) => written), cost };
}

/** Returns the token of a word: the folded word, or an empty string if it is too long. */
export function foldedToken(written: string): string {
  // Folding never makes a word four times shorter.
  const token = written.length > 4 * longestToken ? '' : folded(written);
  return token.length <= longestToken ? token : '';
}

/** Divides a normalized text into pieces. @param slices parts of the text, in order */
function* piecesOf(slices: Iterable<string>, latin: boolean): Generator<Piece> {
  const source = slices[Symbol.iterator]();
  let [rest, isLast] = ['', false];
  while (!isLast || rest !== '') {
    while (!isLast && rest.length < latinLength) {
      const { value, done } = source.next();
      if (done) isLast = true;
      else rest += value;
    }
    if (rest === '') continue;
    const piece = (latin ? latinPiece(rest, isLast) : undefined) ?? segmentedPiece(rest, isLast);
    yield { ...piece, words: piece.words.filter(([word]) => hasLetter.test(word)) };
    rest = rest.slice(piece.length);
  }
}

/** Divides the Latin text at the beginning of `text`. Returns `undefined` if it is short, or has no space near its end. */
function latinPiece(text: string, isLast: boolean): Piece | undefined {
  latinText.lastIndex = 0;
  latinText.test(text);
  let end = latinText.lastIndex;
  if (!isLast || end < text.length) {
    const shortest = Math.max(shortestLatin, end - pieceLength);
    while (end >= shortest && !/\s/.test(text[end - 1]!)) end--;
    if (end < shortest) return undefined;
  }
  const part = text.slice(0, end);
  return { words: Array.from(part.matchAll(latinWord), (match) => [match[0], match.index]), length: end, cost: end };
}

/** Divides the beginning of `text`, up to `pieceLength` characters, with `Intl.Segmenter`. */
function segmentedPiece(text: string, isLast: boolean): Piece {
  const part = text.slice(0, pieceLength + readAhead);
  const isWhole = isLast && part.length === text.length;
  const words: [string, number][] = [];
  let length = 0;
  for (const { segment, index, isWordLike } of segmenter.segment(part)) {
    const end = index + segment.length;
    if (end > pieceLength && !isWhole) break;
    length = end;
    if (isWordLike) words.push([segment, index]);
  }
  if (length === 0) {
    // The word does not end within the piece, so it is too long for a token.
    length = isInPair(text, pieceLength) ? pieceLength - 1 : pieceLength;
    words.push([text.slice(0, length), 0]);
  }
  return { words, length, cost: length * segmenterCost };
}
