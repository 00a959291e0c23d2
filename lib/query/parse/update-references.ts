/**
 * Relative references of an update, where the SPARQL parser resolves them wrongly: it joins them to the base without
 * removing dot segments, and takes `//host/x` for a path. Those are resolved beforehand, as Turtle's parser does.
 */
import { Parser } from 'n3';
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

/** Strings and comments, which stay, and references; any other character stands for itself. */
const token = new RegExp(`${stringToken}|${commentToken}|<(${referenceToken})>`, 'gs');

const needsHelp = (reference: string): boolean =>
  !/^[A-Za-z][\w+.-]*:/.test(reference) && (reference.startsWith('//') || /(?:^|\/)\.{1,2}(?:[/?#]|$)/.test(reference));

/** The update with such references made absolute; unchanged when it sets a BASE of its own. */
export function resolveReferences(text: string, base: string): string {
  if (!/<\/\/|<[^>\s]*\./.test(text) || /\bBASE\b/i.test(text)) return text;
  return text.replace(token, (all, reference: string | undefined) => {
    if (reference === undefined || !needsHelp(reference)) return all;
    const [triple] = new Parser({ format: 'text/turtle', baseIRI: base }).parse(`<${reference}> a <urn:x> .`);
    return `<${triple!.subject.value}>`;
  });
}
