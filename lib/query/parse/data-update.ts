/**
 * Parses the most common updates, INSERT DATA and DELETE DATA, as Turtle in braces. The SPARQL parser in a worker thread parses
 * all other updates and reports errors. Loading it here would block the HTTP thread for 250 ms.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { ReadUpdate } from './read-update.js';
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

const space = /(?:\s|#[^\n\r]*(?:[\n\r]|$))*/y;
const prefix = /PREFIX\s+([A-Za-z][\w-]*)?:\s*<([^<>"{}|\\^`\s]*)>/iy;
const keyword = /(INSERT|DELETE)\s+DATA\s*\{/iy;
/** Maximum product of prefix declarations and operations. Above it, the worker thread parses the update. */
const maxRepeated = 256;
/** Token of triples: a string, an IRI, a comment, white space or other text without braces. */
const token = new RegExp(`${stringToken}|<${referenceToken}>|${commentToken}|\\s+|[^"'<>#{}\\s]+`, 'sy');

/** Parses an update, or returns `undefined` if it needs the SPARQL parser. */
export function readDataUpdate(text: string, base: string): ReadUpdate | undefined {
  // A code point escape may stand for any character, including a brace.
  if (/\\u/i.test(text)) return undefined;
  const updates: Algebra.Operation[] = [];
  const prefixes: Record<string, string> = {};
  const parser = new Parser({ format: 'text/turtle', baseIRI: base });
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  for (;;) {
    skip(space);
    for (let declared = take(prefix); declared; declared = take(prefix)) {
      prefixes[declared[1] ?? ''] = declared[2]!;
      skip(space);
    }
    if (at === text.length)
      return { prefixes, steps: updates.length === 0 ? [] : [{ operation: composite(updates), base }] };
    const word = take(keyword)?.[1]?.toUpperCase();
    if (!word) return undefined;
    const begin = at;
    let last = '.';
    for (let from = at; skip(token); from = at) if (!/[\s#]/.test(text[from]!)) last = text[at - 1]!;
    if (text[at] !== '}') return undefined;
    // SPARQL does not require a full stop after the last triple of a block, Turtle does.
    const triples = text.slice(begin, at) + (last === '.' ? '' : '\n.');
    const quads = readTriples(parser, triples, word === 'DELETE', prefixes);
    if (!quads) return undefined;
    // The prefixes are parsed again for each operation, so the product of both counts is limited.
    if (updates.length * Object.keys(prefixes).length > maxRepeated) return undefined;
    // Two operations must not share a blank node label (SPARQL 1.1 19.6). Only the SPARQL parser checks this.
    if (updates.length > 0 && text.includes('_:')) return undefined;
    updates.push(dataOperation(word, quads));
    at++;
    skip(space);
    if (at < text.length && text[at++] !== ';') return undefined;
  }
}

/** Returns operations in the structure of Comunica's translation. */
const composite = (updates: readonly Algebra.Operation[]): Algebra.Operation =>
  updates.length === 1 ? updates[0]! : ({ type: 'compositeupdate', updates } as Algebra.Operation);
const dataOperation = (word: string, quads: readonly Quad[]): Algebra.Operation => {
  const [gone, insert] = word === 'DELETE' ? [quads, []] : [[], quads];
  return { type: 'deleteinsert', delete: gone, insert } as Algebra.Operation;
};

function readTriples(
  parser: Parser,
  triples: string,
  deletes: boolean,
  prefixes: Readonly<Record<string, string>>,
): Quad[] | undefined {
  // DELETE DATA must not have blank nodes, such as an unnamed reifier. Directives and `@` (except in tags) are only in Turtle.
  if (deletes && /_:|[[(~]/.test(triples)) return undefined;
  if (/@(?:prefix|base|version)\b|(?:^|\s)(?:PREFIX|BASE|VERSION)\s/i.test(triples)) return undefined;
  const declarations = Object.entries(prefixes).map(([name, iri]) => `PREFIX ${name}: <${iri}>\n`);
  try {
    return parser.parse(declarations.join('') + triples) as unknown as Quad[];
  } catch {
    // The text is not Turtle: it has a variable, a syntax error, or SPARQL syntax. The SPARQL parser decides.
    return undefined;
  }
}
