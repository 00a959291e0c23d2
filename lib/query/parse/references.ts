/**
 * Relative references, where the SPARQL parser resolves them wrongly: it joins them to the base without removing dot segments, and takes
 * `//host/x` for a path. Those are made absolute beforehand.
 */
import { resolveIri } from '../../rdf/resolve-iri.js';
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

/** Strings and comments, which stay; references; and words, of which BASE is one. Any other character stands for itself. */
const token = new RegExp(
  `${stringToken}|${commentToken}|<(${referenceToken})>|((?:[?$@:%.\\w\\u0080-\\uffff-]|\\\\.)+)(?=((?:\\s|${commentToken}(?:[\\n\\r]|$))*<)?)`,
  'gs',
);

const hasScheme = (reference: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(reference);
const hasDots = (reference: string): boolean => /(?:^|\/)\.{1,2}(?:[/?#]|$)/.test(reference);

/**
 * The text with such references made absolute, each with the base that holds where it stands: a string may set another one (SPARQL 1.1
 * 4.1.1.2), also between updates.
 */
export function resolveReferences(text: string, outer: string): string {
  // Most texts need none of it.
  if (!/\.[/?#>]|<\/\/|\bbase\b/i.test(text)) return text;
  let base = outer;
  let isBase = false;
  return text.replace(
    token,
    (all, reference: string | undefined, word: string | undefined, next: string | undefined) => {
      if (word !== undefined) {
        isBase = /^base$/i.test(word) && next !== undefined;
        return all;
      }
      if (reference === undefined) return all;
      const isAbsolute = hasScheme(reference);
      const needsHelp = isBase
        ? !isAbsolute || hasDots(reference)
        : !isAbsolute && (base !== outer || reference.startsWith('//') || hasDots(reference));
      const resolved = needsHelp ? resolveIri(reference, base) : reference;
      if (isBase) base = resolved;
      isBase = false;
      return needsHelp ? `<${resolved}>` : all;
    },
  );
}
