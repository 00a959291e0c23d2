/** Regular expressions (as strings) for tokens of SPARQL and Turtle whose text may contain brackets and references. */

/** Returns the pattern of a long string, which may be unclosed: a search for the end from each quote would be quadratic. */
const long = (quote: string): string =>
  `${quote.repeat(3)}(?:(?:${quote}|${quote.repeat(2)})?(?:[^${quote}\\\\]|\\\\.))*(?:${quote.repeat(3)}|$)`;
/** Returns the pattern of a short string. Without a closing quote, the rest of the line is matched. */
const short = (quote: string): string => `${quote}(?:[^${quote}\\\\\\n\\r]|\\\\.)*${quote}?`;

/** Pattern of all four kinds of strings. Requires the flag `s`, because an escape may precede a line break. */
export const stringToken = [long('"'), long("'"), short('"'), short("'")].join('|');
export const commentToken = '#[^\\n\\r]*';
const baseCharacters =
  'A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}';
/** Pattern of a variable name (VARNAME of SPARQL 1.1 19.8). Requires the flag `u`. */
export const variableName = `[${baseCharacters}_0-9][${baseCharacters}_0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040]*`;
/** Pattern of an IRI reference, without the angle brackets. */
export const referenceToken = '[^<>"{}|\\\\^`\\s]*';
