/** Terminals of Turtle and N-Triples: IRIs, prefixed names and literals. */

import type { Literal } from '@rdfjs/types';
import { type Prefix, schemeOf } from './compact-iri.js';
import { UnwritableLiteralError } from './unwritable.js';
import { nameCharacters, xsd } from './vocabulary.js';

const { letters, inner } = nameCharacters;

/** PN_PREFIX of the Turtle grammar, or the empty name. */
const PREFIX_NAME = new RegExp(`^(?:[${letters}](?:[.${inner}]*[${inner}])?)?$`, 'u');

const NOT_IN_IRI = /[\x00-\x20<>"{}|^`\\]/;
const ALL_NOT_IN_IRI = new RegExp(NOT_IN_IRI, 'g');

/**
 * Returns true if Turtle can declare the prefix. False for relative namespaces, which would be resolved on reading, and for
 * namespaces that cannot begin an IRI.
 */
export function isDeclarable([name, namespace]: Prefix): boolean {
  return PREFIX_NAME.test(name) && schemeOf(namespace) !== undefined && !NOT_IN_IRI.test(namespace);
}

/** Writes an IRI or reference in angle brackets. Escapes characters that IRIREF excludes (RDF 1.1 Turtle 6.4). */
export function bracketed(iri: string): string {
  return NOT_IN_IRI.test(iri) ? `<${iri.replace(ALL_NOT_IN_IRI, codePoint)}>` : `<${iri}>`;
}

const INTEGER = /^[+-]?[0-9]+$/;
const DECIMAL = /^[+-]?[0-9]*\.[0-9]+$/;
const DOUBLE = /^[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+$/;
const LANGUAGE_TAG = /^[A-Za-z]+(?:-[A-Za-z0-9]+)*$/;

const NOT_PLAIN = /["\\\x00-\x1f\x7f\ufffe\uffff]/;
const ALL_NOT_PLAIN = new RegExp(NOT_PLAIN, 'g');
/** Characters to escape in long strings. A quote is escaped only where it could end the string. */
const ALL_NOT_PLAIN_IN_LONG = /[\\\x00-\x09\x0b-\x1f\x7f\ufffe\uffff]|"(?="|$)/g;

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

/** Returns true if Turtle reads the unquoted lexical form as a literal of this datatype (RDF 1.1 Turtle 2.5.2 and 2.5.3). */
export function isBare(value: string, datatype: string): boolean {
  switch (datatype) {
    case xsd.integer:
      return INTEGER.test(value);
    case xsd.decimal:
      return DECIMAL.test(value);
    case xsd.double:
      return DOUBLE.test(value);
    case xsd.boolean:
      return value === 'true' || value === 'false';
    default:
      return false;
  }
}

/**
 * Writes a quoted literal with its language tag or its datatype, which is omitted for `xsd:string` (RDF 1.1 Turtle 2.5.1).
 * @throws UnwritableLiteralError if the language tag is not valid in the grammar
 */
export function quotedLiteral(
  literal: Literal,
  quote: (value: string) => string,
  iri: (iri: string) => string,
): string {
  const { value, language } = literal;
  if (language !== '') {
    if (!LANGUAGE_TAG.test(language)) {
      throw new UnwritableLiteralError(value, `${JSON.stringify(language)} is not a language tag`);
    }
    return literal.direction ? `${quote(value)}@${language}--${literal.direction}` : `${quote(value)}@${language}`;
  }
  const datatype = literal.datatype.value;
  return datatype === xsd.string ? quote(value) : `${quote(value)}^^${iri(datatype)}`;
}

/** Writes a triple term (RDF 1.2 Turtle 2.11, N-Triples 2.5). */
export const tripleTerm = <T>(
  { subject, predicate, object }: { readonly subject: T; readonly predicate: T; readonly object: T },
  text: (term: T) => string,
): string => `<<( ${text(subject)} ${text(predicate)} ${text(object)} )>>`;

/** Quotes a value in quotation marks, escaped as in canonical N-Triples (RDF 1.2 N-Triples 4). */
export function shortString(value: string): string {
  return NOT_PLAIN.test(value) ? `"${value.replace(ALL_NOT_PLAIN, escaped)}"` : `"${value}"`;
}

/** Quotes a value in triple quotation marks and keeps its line breaks (RDF 1.1 Turtle 6.4). */
export function longString(value: string): string {
  return `"""${value.replace(ALL_NOT_PLAIN_IN_LONG, escaped)}"""`;
}

function escaped(character: string): string {
  return NAMED_ESCAPES[character] ?? codePoint(character);
}

function codePoint(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}
