/**
 * Rows as the VALUES that end a query (SPARQL 1.1 Federated Query 4), by the variables that have a term in each of them. It
 * must not know who is asked.
 */
import type { Literal } from '@rdfjs/types';
import { isAbsoluteIri, isWellFormed } from '../../rdf/iri.js';
import { quotedLiteral, shortString } from '../../rdf/turtle-terms.js';
import { xsd } from '../../rdf/vocabulary.js';
import { isBlank, isIri, type TermKey, termOf } from '../access/terms.js';
import type { Row, Slot } from './evaluate.js';

/** A string that no endpoint should find too long. */
const maxCharacters = 32_768;

/** `undefined` when there is no such variable, or the text would be too long. */
export function valuesText(
  rows: readonly Row[],
  columns: readonly (readonly [name: string, slot: Slot])[],
): string | undefined {
  const table = rows.map((row) => columns.map(([, slot]) => textOf(row[slot])));
  const kept = columns.flatMap((_column, at) => (table.every((texts) => texts[at]) ? [at] : []));
  if (kept.length === 0) return undefined;
  const lines = new Set(table.map((texts) => `(${kept.map((at) => texts[at]).join(' ')})`));
  const text = `\nVALUES (${kept.map((at) => `?${columns[at]![0]}`).join(' ')}) { ${[...lines].join(' ')} }`;
  return text.length > maxCharacters ? undefined : text;
}

/**
 * Nothing for what cannot be written, or may be read as something else: expressions make such terms, and to an endpoint 01 may
 * be 1, so that a solution comes back for both.
 */
function textOf(token: TermKey | undefined): string | undefined {
  if (token === undefined || isBlank(token) || !isWellFormed(token)) return undefined;
  if (isIri(token)) return isAbsoluteIri(token) ? `<${token}>` : undefined;
  const literal = termOf(token) as Literal;
  return isOneForAll(literal) ? quotedLiteral(literal, shortString, (iri) => `<${iri}>`) : undefined;
}

function isOneForAll({ value, language, datatype }: Literal): boolean {
  // SPARQL 1.1 19.2: some read \u before they read the string that it stands in.
  if (/\\u/i.test(value)) return false;
  if (language !== '') return language === language.toLowerCase();
  return datatype.value === xsd.string || (datatype.value === xsd.integer && /^(?:0|-?[1-9][0-9]{0,17})$/.test(value));
}
