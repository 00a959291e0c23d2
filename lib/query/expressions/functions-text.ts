/** String functions (SPARQL 1.1 17.4.3) except those with patterns. */
import { binary, isText, type Make, type Makes, ofText, ofTexts, ofTextTest } from './function-forms.js';
import { numberValue, textValue, truth, type Value } from './values.js';

/** Returns true if the text has surrogates. String functions count Unicode code points, as in XPath. */
const isPaired = (text: string): boolean => /[\ud800-\udbff]/.test(text);

function countPoints(text: string): number {
  if (!isPaired(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; count++) at += widthAt(text, at);
  return count;
}

/** Returns the code points from one index up to another. */
function slicePoints(text: string, from: number, to: number): string {
  if (!isPaired(text)) return text.slice(from, to);
  let start = 0;
  let count = 0;
  for (; count < from && start < text.length; count++) start += widthAt(text, start);
  let end = start;
  for (; count < to && end < text.length; count++) end += widthAt(text, end);
  return text.slice(start, end);
}

const widthAt = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1);

/** Returns a substring of code points, with rounded start and length (XPath, fn:substring). Empty if either is NaN. */
function substring({ text, language }: Value, start: Value, length: Value | undefined): Value | undefined {
  if (start.kind !== 'number' || start.number === undefined) return undefined;
  if (length && (length.kind !== 'number' || length.number === undefined)) return undefined;
  const first = Math.round(start.number);
  const end = length ? first + Math.round(length.number!) : Number.POSITIVE_INFINITY;
  const from = Math.max(first, 1) - 1;
  return textValue(from < end - 1 ? slicePoints(text, from, end - 1) : '', language);
}

const substr: Make = ([source, start, length]) => {
  return (row) => {
    const [text, from] = [source!(row), start!(row)];
    if (!text || !from || !isText(text)) return undefined;
    const most = length?.(row);
    return length && !most ? undefined : substring(text, from, most);
  };
};

/** Concatenates strings. If all have the same language, the result has this language. */
const concat: Make = (args) => (row) => {
  let joined = '';
  let language: string | undefined;
  for (let i = 0; i < args.length; i++) {
    const value = args[i]!(row);
    if (!value || !isText(value)) return undefined;
    joined += value.text;
    language = i === 0 || language === value.language ? value.language : undefined;
  }
  return textValue(joined, language);
};

/** Encodes all characters except the unreserved ones (XPath, fn:encode-for-uri). */
const encodeForUri = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns true if a language tag matches a range by basic filtering (RFC 4647 3.3.1). */
function langMatches(tag: string, range: string): boolean {
  if (tag === '') return false;
  if (range === '*') return true;
  const [found, wanted] = [tag.toLowerCase(), range.toLowerCase()];
  return found.startsWith(wanted) && (found.length === wanted.length || found[wanted.length] === '-');
}

export const textFunctions: Makes = {
  strlen: ofText(({ text }) => numberValue(countPoints(text), 'integer')),
  lcase: ofText(({ text, language }) => textValue(text.toLowerCase(), language)),
  ucase: ofText(({ text, language }) => textValue(text.toUpperCase(), language)),
  contains: ofTextTest((text, other) => text.includes(other)),
  strstarts: ofTextTest((text, other) => text.startsWith(other)),
  strends: ofTextTest((text, other) => text.endsWith(other)),
  substr,
  strbefore: ofTexts(({ text, language }, other) => {
    const at = text.indexOf(other.text);
    return at < 0 ? textValue('') : textValue(text.slice(0, at), language);
  }),
  strafter: ofTexts(({ text, language }, other) => {
    const at = text.indexOf(other.text);
    return at < 0 ? textValue('') : textValue(text.slice(at + other.text.length), language);
  }),
  concat,
  encode_for_uri: ofText(({ text }) => textValue(encodeForUri(text))),
  langmatches: binary((tag, range) =>
    tag.kind === 'string' && range.kind === 'string' ? truth(langMatches(tag.text, range.text)) : undefined,
  ),
};
