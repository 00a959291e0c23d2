/** Absolute IRIs, restricted to those that every syntax and every key can contain. */

// Characters excluded by IRIREF in Turtle. U+0000 would split a key.
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/;

/** Returns true for an absolute IRI (RFC 3987 2.2: with a scheme). */
export const isAbsoluteIri = (text: string): boolean => hasAbsoluteForm(text) && isWellFormed(text);

/** Like `isAbsoluteIri`, for a text that is known to be valid Unicode. */
export const hasAbsoluteForm = (text: string): boolean => absolute.test(text);

/** Returns true if a string is valid Unicode: a lone surrogate would be read back as U+FFFD. */
export const isWellFormed = (text: string): boolean =>
  !/[\ud800-\udfff]/.test(text) || !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
