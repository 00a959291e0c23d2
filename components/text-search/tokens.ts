/** Words of a text: by Unicode's rules (UAX 29), in NFKC and lower case. */

/** A word. Its position counts words, and the offsets are those of the written form. */
export interface Word {
  readonly token: string;
  readonly position: number;
  readonly start: number;
  readonly end: number;
}

/** Maximum length of a token, in characters. Longer words are counted and not indexed. */
export const longestToken = 64;
/** A text is segmented in pieces of this many characters, because the segmenter reads a run of Chinese or Thai as a whole. */
const pieceLength = 4096;
const longestCut = 256;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
const letter = 'A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f';
/** Characters whose words the expression below finds, five times faster than `Intl.Segmenter`. U+00B8, a letter for `Intl.Segmenter`, is not one of them. */
const isLatin =
  /^[\t\n\r -~\u00a0-\u00ac\u00ae-\u00b7\u00b9-\u024f\u2013\u2014\u2018\u2019\u201c-\u201e\u2022\u2026\u20ac]*$/;
const latinWord = new RegExp(
  `[${letter}\\d_]+(?:(?:(?<=[${letter}])[.:\u00b7'\u2018\u2019](?=[${letter}])|(?<=\\d)[.,;'\u2018\u2019](?=\\d))[${letter}\\d_]+)*`,
  'g',
);
const hasLetter = /[\p{L}\p{N}]/u;
const isAscii = /^[ -~]*$/;

/** Yields the words of a text in order. @param latin false to segment every text with `Intl.Segmenter`, for tests */
export function* wordsOf(text: string, latin = true): Generator<Word> {
  let position = 0;
  for (let at = 0; at < text.length; ) {
    const to = endOfPiece(text, at);
    const piece = at === 0 && to === text.length ? text : text.slice(at, to);
    for (const [written, start] of latin && isLatin.test(piece) ? latinWords(piece) : segmentedWords(piece)) {
      const token = tokenOf(written);
      if (token === undefined) continue;
      if (token !== '') yield { token, position, start: at + start, end: at + start + written.length };
      position++;
    }
    at = to;
  }
}

/** Returns the tokens of the words of a text by position, empty for a word that is too long. Faster than `wordsOf`. */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  if (text.length <= pieceLength && isLatin.test(text)) {
    for (const written of text.match(latinWord) ?? []) {
      const token = tokenOf(written);
      if (token !== undefined) tokens.push(token);
    }
    return tokens;
  }
  for (const { token, position } of wordsOf(text)) {
    while (tokens.length < position) tokens.push('');
    tokens.push(token);
  }
  return tokens;
}

/** Returns the token of a word: empty if it is too long, `undefined` if it has neither letters nor digits. */
function tokenOf(written: string): string | undefined {
  if (!hasLetter.test(written)) return undefined;
  const token = normalized(written);
  return token.length <= longestToken ? token : '';
}

/** Returns the index of the end of a piece: at a space if there is one near its end, otherwise where a word ends. */
function endOfPiece(text: string, from: number): number {
  const end = from + pieceLength;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - longestCut; at--) if (/\s/.test(text[at - 1]!)) return at;
  // The last segment may go on, and the words before it may depend on it: Chinese and Thai are divided by a dictionary.
  const start = end - longestCut;
  let last = 0;
  for (const { index } of segmenter.segment(text.slice(start, end + longestCut))) {
    if (index > longestCut) break;
    last = index;
  }
  if (last > 0) return start + last;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

function* latinWords(text: string): Generator<readonly [string, number]> {
  for (const match of text.matchAll(latinWord)) yield [match[0], match.index];
}

function* segmentedWords(text: string): Generator<readonly [string, number]> {
  for (const { segment, index, isWordLike } of segmenter.segment(text)) if (isWordLike) yield [segment, index];
}

/** Returns the token of a word: words that differ in case or in compatible characters only have the same one. */
export const normalized = (word: string): string =>
  isAscii.test(word) ? word.toLowerCase() : word.normalize('NFKC').toLowerCase().normalize('NFKC');
