/** Which texts are absolute IRIs that every syntax can write and every key can hold. Pure; it must not resolve anything. */

// What Turtle's IRIREF excludes; U+0000 would split a key in two.
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/;

/** An absolute IRI (RFC 3987 2.2: with a scheme). */
export const isAbsoluteIri = (text: string): boolean => absolute.test(text) && isWellFormed(text);

/** Whether a string is Unicode: a lone surrogate would come back as U+FFFD. */
export const isWellFormed = (text: string): boolean =>
  !/[\ud800-\udfff]/.test(text) || !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
