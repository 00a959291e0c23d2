/** Forms under which a word is indexed: the word itself, the part after an elision, and the part before an ending. */
import { foldedAsTurkish } from './folding.js';
import { stemmerOf, stemOf, turkish } from './stems.js';
import { foldedToken } from './tokens.js';

/** Languages that join articles and other short words to the next word by an apostrophe. */
const eliding = new Set(['ca', 'co', 'fr', 'ga', 'it', 'oc']);
/** Languages with a possessive or plural ending in 's, and languages that join endings to names by an apostrophe. */
const possessive = new Set(['af', 'da', 'de', 'en', 'nb', 'nl', 'nn', 'no', 'sv']);
const suffixing = new Set(['az', 'tr']);
/** Minimum length of the part after an apostrophe, if the language is unknown: 't, 've and 'll are not words. */
const shortest = 3;

/** Tokens of a word (none if it is too long), and their stems in the language of the text. */
export interface Forms {
  readonly tokens: readonly string[];
  readonly stems: readonly string[];
}

const none: Forms = { tokens: [], stems: [] };

/** Returns the first subtag of a language tag. */
const primaryOf = (language: string): string => /^[^-]*/.exec(language)![0];

/** Returns the forms of a word. @param written from `writtenWords`. @param language in lower case; empty for none */
export function formsOf(written: string, language: string): Forms {
  const token = foldedToken(written);
  if (token === '') return none;
  const stemmer = language === '' ? undefined : stemmerOf(language);
  if (stemmer !== turkish && !token.includes("'"))
    return { tokens: [token], stems: stemmer === undefined ? [] : [stemOf(token, stemmer)] };
  const parts = partsOf(written, primaryOf(language));
  const tokens = [...new Set(parts.map(foldedToken))];
  if (stemmer === undefined) return { tokens, stems: [] };
  // Also index the usual form, for authors who write no dotless i.
  const stemmed = stemmer === turkish ? [...parts.map(foldedAsTurkish), ...tokens] : tokens;
  return { tokens, stems: [...new Set(stemmed.map((each) => stemOf(each, stemmer)))] };
}

/** Returns a word, and its parts at the apostrophes. */
function partsOf(written: string, language: string): readonly string[] {
  const first = written.indexOf("'");
  if (first < 0) return [written];
  const parts = [written];
  if (language === '' || eliding.has(language))
    for (const at of new Set([first, written.lastIndexOf("'")])) {
      const rest = written.slice(at + 1);
      if (rest.length >= (language === '' ? shortest : 1)) parts.push(rest);
    }
  if ((language === '' || possessive.has(language)) && /.'s$/i.test(written)) parts.push(written.slice(0, -2));
  if (suffixing.has(language) && first > 0) parts.push(written.slice(0, first));
  return parts;
}

/** A word of a query. */
export interface QueryWord {
  readonly token: string;
  /** Form for the Turkish stemmer, with dotless i, if it differs from the token. */
  readonly dotless?: string;
}

/** Returns a word of a query. The token is empty if the word is too long. @param written from `writtenWords` */
export function queryWord(written: string): QueryWord {
  const token = foldedToken(written);
  const dotless = token === '' ? token : foldedAsTurkish(written);
  return dotless === token ? { token } : { token, dotless };
}

/** Returns the stem of a query word. @param stemmer from `stemmerOf` */
export const stemOfQuery = ({ token, dotless }: QueryWord, stemmer: string): string =>
  stemOf(stemmer === turkish ? (dotless ?? token) : token, stemmer);
