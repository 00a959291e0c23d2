/** Tokens of SPARQL and Turtle that can contain brackets and references as text, as sources of regular expressions. */

/** Long string. Unterminated, it matches the rest of the text. Otherwise a search would rescan the text from each quote in it. */
const long = (quote: string): string =>
  `${quote.repeat(3)}(?:(?:${quote}|${quote.repeat(2)})?(?:[^${quote}\\\\]|\\\\.))*(?:${quote.repeat(3)}|$)`;
/** Short string. Unterminated, it matches the rest of the line. */
const short = (quote: string): string => `${quote}(?:[^${quote}\\\\\\n\\r]|\\\\.)*${quote}?`;

/** All four kinds of strings. Requires the flag `s`, because an escape may precede a line break. */
export const stringToken = [long('"'), long("'"), short('"'), short("'")].join('|');
export const commentToken = '#[^\\n\\r]*';
/** Content of an IRI reference between the angle brackets. */
export const referenceToken = '[^<>"{}|\\\\^`\\s]*';
