/**
 * What terms mean to expressions: numbers, instants, texts. Operations give `undefined` for a type error of SPARQL. It must
 * not know rows or queries.
 */
import { rdf, xsd } from '../../../lib/rdf/vocabulary.js';
import { instantOf, monthsAndSeconds } from './dates.js';
import { isBlank, isIri, literalParts, type Token, tokenOf } from './terms.js';

export type NumberType = 'integer' | 'decimal' | 'float' | 'double';
type Kind =
  | ('iri' | 'blank' | 'string' | 'lang' | 'boolean' | 'number' | 'dateTime' | 'date' | 'time')
  | ('duration' | 'yearMonthDuration' | 'dayTimeDuration' | 'other');

/** A term with what it means. */
export interface Value {
  readonly kind: Kind;
  /** The lexical form of a literal, an IRI, or a label. */
  readonly text: string;
  /** Numbers, booleans as 0 and 1, instants in ms, durations in their unit; `undefined` when the text is none. */
  readonly number?: number | undefined;
  readonly numberType?: NumberType;
  /** Of a literal whose kind does not tell. */
  readonly datatype?: string | undefined;
  readonly language?: string | undefined;
  readonly token?: Token;
}

const integers = [
  ...['integer', 'nonPositiveInteger', 'negativeInteger', 'long', 'int', 'short', 'byte', 'nonNegativeInteger'],
  ...['unsignedLong', 'unsignedInt', 'unsignedShort', 'unsignedByte', 'positiveInteger'],
];
const strings = ['normalizedString', 'token', 'language', 'NMTOKEN', 'Name', 'NCName', 'ID', 'IDREF', 'ENTITY'];
const numberTypes = new Map<string, NumberType>([
  ...integers.map((name) => [xsd.namespace + name, 'integer'] as const),
  ...(['decimal', 'float', 'double'] as const).map((name) => [xsd.namespace + name, name] as const),
]);
const kinds = new Map<string, Kind>([
  ...[...numberTypes.keys()].map((type) => [type, 'number'] as const),
  ...strings.map((name) => [xsd.namespace + name, 'string'] as const),
  ...(
    ['string', 'boolean', 'dateTime', 'date', 'time', 'duration', 'yearMonthDuration', 'dayTimeDuration'] as const
  ).map((name) => [xsd.namespace + name, name] as const),
  [`${xsd.namespace}dateTimeStamp`, 'dateTime'],
]);

export function toValue(token: Token): Value {
  if (isIri(token)) return { kind: 'iri', text: token, token };
  if (isBlank(token)) return { kind: 'blank', text: token.slice(6), token };
  const { text, datatype, language } = literalParts(token);
  if (language !== undefined) return { kind: 'lang', text, language, token };
  if (datatype === undefined) return { kind: 'string', text, token };
  const kind = kinds.get(datatype) ?? 'other';
  if (kind === 'number') {
    const numberType = numberTypes.get(datatype)!;
    return { kind, text, datatype, numberType, number: parseNumber(text, numberType), token };
  }
  return { kind, text, datatype, number: parseOther(kind, text), token };
}

const integer = /^[+-]?\d+$/;
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const double = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function parseNumber(text: string, type: NumberType): number | undefined {
  if (integer.test(text)) return Number(text);
  if (type === 'integer') return undefined;
  if (type === 'decimal') return decimal.test(text) ? Number(text) : undefined;
  if (double.test(text)) return Number(text);
  if (text === 'INF' || text === '+INF') return Number.POSITIVE_INFINITY;
  return text === '-INF' ? Number.NEGATIVE_INFINITY : text === 'NaN' ? Number.NaN : undefined;
}

function parseOther(kind: Kind, text: string): number | undefined {
  if (kind === 'boolean') return text === 'true' || text === '1' ? 1 : text === 'false' || text === '0' ? 0 : undefined;
  if (kind === 'dateTime' || kind === 'date' || kind === 'time') return instantOf(kind, text);
  if (kind === 'yearMonthDuration') return monthsAndSeconds(text)?.[0];
  return kind === 'dayTimeDuration' ? monthsAndSeconds(text)?.[1] : undefined;
}

export const isTrue: Value = { kind: 'boolean', text: 'true', number: 1, datatype: xsd.boolean };
export const isFalse: Value = { kind: 'boolean', text: 'false', number: 0, datatype: xsd.boolean };
export const truth = (value: boolean): Value => (value ? isTrue : isFalse);
export const textValue = (text: string, language?: string): Value =>
  language === undefined ? { kind: 'string', text } : { kind: 'lang', text, language };
export const iriValue = (text: string): Value => ({ kind: 'iri', text });

/** A computed number in its canonical form. */
export function numberValue(number: number, numberType: NumberType, exact?: bigint): Value {
  const text = exact === undefined ? writeNumber(number, numberType) : String(exact);
  return { kind: 'number', text, number, numberType, datatype: xsd.namespace + numberType };
}

function writeNumber(number: number, type: NumberType): string {
  if (!Number.isFinite(number)) return String(number).replace('Infinity', 'INF');
  if (type === 'integer') return number.toFixed(0);
  if (type === 'decimal') {
    let text = String(number);
    if (text.includes('e')) text = number.toFixed(20).replace(/([0-9])0*$/, '$1');
    return text.includes('.') ? text : `${text}.0`;
  }
  const [mantissa, exponent] = number.toExponential().split('e') as [string, string];
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`;
}

export function datatypeOf(value: Value): string | undefined {
  if (value.kind === 'iri' || value.kind === 'blank') return undefined;
  if (value.kind === 'lang') return `${rdf.namespace}langString`;
  return value.datatype ?? xsd.string;
}

/** The token of a value; `undefined` for a text that is no term of the store. */
export function toToken(value: Value | undefined): Token | undefined {
  if (!value || value.token !== undefined) return value?.token;
  if (value.kind === 'iri') return value.text;
  if (value.kind === 'string' && value.datatype === undefined) return literalToken(value.text, xsd.string, '');
  return literalToken(value.text, datatypeOf(value)!, value.language ?? '');
}

function literalToken(value: string, datatype: string, language: string): Token {
  const datatypeNode = { termType: 'NamedNode', value: datatype };
  return tokenOf({ termType: 'Literal', value, language, datatype: datatypeNode } as never);
}

/** The effective boolean value. */
export function booleanOf(value: Value | undefined): boolean | undefined {
  if (value?.kind === 'boolean') return value.number === undefined ? undefined : value.number === 1;
  if (value?.kind === 'string') return value.text !== '';
  if (value?.kind !== 'number' || value.number === undefined) return undefined;
  return value.number !== 0 && !Number.isNaN(value.number);
}

export const isLiteral = ({ kind }: Value): boolean => kind !== 'iri' && kind !== 'blank';
