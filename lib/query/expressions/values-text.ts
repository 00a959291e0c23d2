/**
 * Serializes rows as a VALUES clause at the end of a query (SPARQL 1.1 Federated Query 4), with the variables that every row
 * binds. Must not depend on the endpoint.
 */
import type { Literal } from '@rdfjs/types';
import { isAbsoluteIri, isWellFormed } from '../../rdf/iri.js';
import { quotedLiteral, shortString } from '../../rdf/turtle-terms.js';
import { xsd } from '../../rdf/vocabulary.js';
import { isBlank, isIri, isTriple, type TermKey, termOf } from '../access/terms.js';
import type { Row, Slot } from './evaluate.js';

/** Maximum length of the clause in characters: any endpoint should accept this length. */
const maxCharacters = 32_768;

/**
 * Returns the VALUES clause. It contains the variables that have a term in every row that can be written (`textOf`). Returns
 * `undefined` if there is no such variable, or the clause is too long.
 */
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
 * Returns the text of a term. Returns `undefined` if the term cannot be serialized or an endpoint may change it. For example,
 * an endpoint may treat 01 as 1, and would then return a solution for both.
 */
function textOf(token: TermKey | undefined): string | undefined {
  // An endpoint of SPARQL 1.1 would reject a triple term.
  if (token === undefined || isBlank(token) || isTriple(token) || !isWellFormed(token)) return undefined;
  if (isIri(token)) return isAbsoluteIri(token) ? `<${token}>` : undefined;
  const literal = termOf(token) as Literal;
  return isOneForAll(literal) ? quotedLiteral(literal, shortString, (iri) => `<${iri}>`) : undefined;
}

function isOneForAll({ value, language, direction, datatype }: Literal): boolean {
  // SPARQL 1.1 19.2: some parsers decode \u before they parse the enclosing string.
  if (/\\u/i.test(value)) return false;
  if (language !== '') return !direction && language === language.toLowerCase();
  return datatype.value === xsd.string || (datatype.value === xsd.integer && /^(?:0|-?[1-9][0-9]{0,17})$/.test(value));
}
