/** The tokens of SPARQL and Turtle in which brackets and references do not count, as sources of regular expressions. */
const long = (quote: string): string =>
  `${quote.repeat(3)}(?:(?:${quote}|${quote.repeat(2)})?(?:[^${quote}\\\\]|\\\\.))*${quote.repeat(3)}`;
const short = (quote: string): string => `${quote}(?:[^${quote}\\\\\\n\\r]|\\\\.)*${quote}`;

/** Strings of all four kinds. To be used with the flag `s`: an escape may stand before a line break. */
export const stringToken = [long('"'), long("'"), short('"'), short("'")].join('|');
export const commentToken = '#[^\\n\\r]*';
/** What stands between the angle brackets of an IRI reference. */
export const referenceToken = '[^<>"{}|\\\\^`\\s]*';
