/** The tokens of SPARQL and Turtle in which brackets and references do not count, as sources of regular expressions. */

/** A long string. Without its end it is the rest of the text, or a search would read that again from every quote in it. */
const long = (quote: string): string =>
  `${quote.repeat(3)}(?:(?:${quote}|${quote.repeat(2)})?(?:[^${quote}\\\\]|\\\\.))*(?:${quote.repeat(3)}|$)`;
/** A short string; without its end, the rest of the line. */
const short = (quote: string): string => `${quote}(?:[^${quote}\\\\\\n\\r]|\\\\.)*${quote}?`;

/** Strings of all four kinds. To be used with the flag `s`: an escape may stand before a line break. */
export const stringToken = [long('"'), long("'"), short('"'), short("'")].join('|');
export const commentToken = '#[^\\n\\r]*';
/** What stands between the angle brackets of an IRI reference. */
export const referenceToken = '[^<>"{}|\\\\^`\\s]*';
