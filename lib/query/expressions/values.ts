/**
 * Values of terms in expressions: numbers, times and strings. For a SPARQL type error, operations return `undefined`. Must not
 * depend on rows or queries.
 */

import { rdf, xsd } from '../../rdf/vocabulary.js';
import { LwsError } from '../../tools/errors.js';
import { isBlank, isIri, isTriple, literalParts, type TermKey, termKey } from '../access/terms.js';
import { instantOf } from './dates.js';
import { monthsOf, secondsOf } from './durations.js';

export type NumberType = 'integer' | 'decimal' | 'float' | 'double';
type Kind =
  | ('iri' | 'blank' | 'triple' | 'string' | 'lang' | 'boolean' | 'number' | 'dateTime' | 'date' | 'time')
  | ('duration' | 'yearMonthDuration' | 'dayTimeDuration' | 'other');

/** Term and its value. */
export interface Value {
  readonly kind: Kind;
  /** Lexical form of a literal, an IRI, a label, or the term key of a triple term. */
  readonly text: string;
  /** Value as a number: boolean as 0 or 1, time in ms, duration in months or seconds. `undefined` if the literal is invalid. */
  readonly number?: number | undefined;
  readonly numberType?: NumberType;
  /** Datatype of a literal, if the kind does not determine it. */
  readonly datatype?: string | undefined;
  /** Language tag, with `--` and the base direction if the literal has one. */
  readonly language?: string | undefined;
  readonly termKey?: TermKey | undefined;
}

/** Value ranges of derived integer types (XML Schema 3.4). */
const whole = (bits: number): readonly [bigint, bigint] => [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n];
const natural = (bits: number): readonly [bigint, bigint] => [0n, 2n ** BigInt(bits) - 1n];
const bounds = new Map<string, readonly [least: bigint | undefined, most: bigint | undefined]>(
  Object.entries({
    nonPositiveInteger: [undefined, 0n] as const,
    negativeInteger: [undefined, -1n] as const,
    nonNegativeInteger: [0n, undefined] as const,
    positiveInteger: [1n, undefined] as const,
    long: whole(64),
    int: whole(32),
    short: whole(16),
    byte: whole(8),
    unsignedLong: natural(64),
    unsignedInt: natural(32),
    unsignedShort: natural(16),
    unsignedByte: natural(8),
  }).map(([name, range]) => [xsd.namespace + name, range]),
);

function isWithin(text: string, number: number, datatype: string): boolean {
  const range = bounds.get(datatype);
  if (!range) return true;
  const value = Number.isSafeInteger(number) || Math.abs(number) > 2 ** 65 ? number : BigInt(text);
  const [least, most] = range;
  return (least === undefined || value >= least) && (most === undefined || value <= most);
}

const strings = ['normalizedString', 'token', 'language', 'NMTOKEN', 'Name', 'NCName', 'ID', 'IDREF', 'ENTITY'];
const numberTypes = new Map<string, NumberType>([
  ...[...bounds.keys()].map((type) => [type, 'integer'] as const),
  ...(['integer', 'decimal', 'float', 'double'] as const).map((name) => [xsd.namespace + name, name] as const),
]);
const kinds = new Map<string, Kind>([
  ...[...numberTypes.keys()].map((type) => [type, 'number'] as const),
  ...strings.map((name) => [xsd.namespace + name, 'string'] as const),
  ...(
    ['string', 'boolean', 'dateTime', 'date', 'time', 'duration', 'yearMonthDuration', 'dayTimeDuration'] as const
  ).map((name) => [xsd.namespace + name, name] as const),
  [`${xsd.namespace}dateTimeStamp`, 'dateTime'],
]);

/** Cached values of literals with a datatype, which repeat in rows, and the maximum count and length of entries. */
const typed = new Map<TermKey, Value>();
const [maxTyped, longestTyped] = [8192, 128];

export function toValue(token: TermKey): Value {
  if (isIri(token)) return { kind: 'iri', text: token, termKey: token };
  const known = typed.get(token);
  if (known) return known;
  if (isBlank(token)) return { kind: 'blank', text: token.slice(6), termKey: token };
  if (isTriple(token)) return { kind: 'triple', text: token, termKey: token };
  const { text, datatype, language } = literalParts(token);
  if (language !== undefined) return { kind: 'lang', text, language, termKey: token };
  if (datatype === undefined) return { kind: 'string', text, termKey: token };
  const value = typedValue(text, datatype, token);
  if (token.length <= longestTyped) {
    if (typed.size >= maxTyped) typed.clear();
    typed.set(token, value);
  }
  return value;
}

/** Returns the value of a literal without a language. */
export function typedValue(text: string, datatype: string, token?: TermKey): Value {
  const kind = kinds.get(datatype) ?? 'other';
  if (kind === 'number') {
    const numberType = numberTypes.get(datatype)!;
    const number = parseNumber(text, numberType);
    const isValue = number !== undefined && (numberType !== 'integer' || isWithin(text, number, datatype));
    return { kind, text, datatype, numberType, number: isValue ? number : undefined, termKey: token };
  }
  return { kind, text, datatype, number: parseOther(kind, text), termKey: token };
}

const integer = /^[+-]?\d+$/;
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;
const double = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Returns the number for a text, or `undefined` if the text is invalid for the datatype. */
export function parseNumber(text: string, type: NumberType): number | undefined {
  const number = readNumber(text, type);
  return type === 'float' && number !== undefined ? Math.fround(number) : number;
}

function readNumber(text: string, type: NumberType): number | undefined {
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
  if (kind === 'yearMonthDuration') return monthsOf(text);
  return kind === 'dayTimeDuration' ? secondsOf(text) : undefined;
}

export const isTrue: Value = { kind: 'boolean', text: 'true', number: 1, datatype: xsd.boolean };
export const isFalse: Value = { kind: 'boolean', text: 'false', number: 0, datatype: xsd.boolean };
export const truth = (value: boolean): Value => (value ? isTrue : isFalse);
/** Maximum length of a string that a query creates, in characters. Functions of longer strings cannot be interrupted. */
export const maxCharacters = 1_000_000;

/** Returns a new string. @throws LwsError `query-limit` for a string that is too long */
export function textValue(text: string, language?: string): Value {
  if (text.length > maxCharacters) throw tooLong();
  return language === undefined ? { kind: 'string', text } : { kind: 'lang', text, language };
}
export const tooLong = (): LwsError =>
  new LwsError(
    'query-limit',
    `The query creates a string of more than ${maxCharacters} characters. The limit is fixed.`,
  );

export const iriValue = (text: string): Value => ({ kind: 'iri', text });
export const blankValue = (label: string): Value => ({ kind: 'blank', text: label });

/** Returns a computed number in its canonical form. */
export function numberValue(given: number, numberType: NumberType, exact?: bigint): Value {
  // Adding 0 removes the sign of a negative zero, which integers and decimals do not have. 1e0 / (-0) must be INF.
  const number = numberType === 'float' ? Math.fround(given) : numberType === 'double' ? given : given + 0;
  const text =
    exact === undefined ? writeNumber(numberType === 'float' ? shortest(number) : number, numberType) : String(exact);
  return { kind: 'number', text, number, numberType, datatype: xsd.namespace + numberType };
}

/** Returns an integer in its canonical form, with any count of digits. */
export function integerOf(digits: string): Value {
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return numberValue(number, 'integer');
  const [, sign, text] = /^([+-]?)0*([1-9]\d*)$/.exec(digits) ?? [];
  if (text === undefined) return numberValue(0, 'integer');
  return {
    kind: 'number',
    text: sign === '-' ? `-${text}` : text,
    number,
    numberType: 'integer',
    datatype: xsd.integer,
  };
}

/** Returns a decimal in its canonical form, with any count of digits. */
export function decimalOf(digits: string): Value {
  const [, sign, whole, fraction] = /^([+-]?)0*((?:[1-9]\d*)?)(?:\.(\d*))?$/.exec(digits)!;
  const text = `${whole || '0'}.${fraction?.replace(/(?<!0)0+$/, '') || '0'}`;
  const number = Number(digits);
  return {
    kind: 'number',
    text: sign === '-' && text !== '0.0' ? `-${text}` : text,
    number,
    numberType: 'decimal',
    datatype: xsd.decimal,
  };
}

/** Returns the double with the fewest digits that rounds to the same 32-bit float. */
function shortest(float: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const number = Number(float.toPrecision(digits));
    if (Math.fround(number) === float) return number;
  }
  return Number(float.toPrecision(9));
}

function writeNumber(number: number, type: NumberType): string {
  if (!Number.isFinite(number)) return String(number).replace('Infinity', 'INF');
  if (type === 'integer') return Math.abs(number) < 1e21 ? number.toFixed(0) : String(BigInt(number));
  if (type === 'decimal') {
    const shortest = String(number);
    const text = !shortest.includes('e')
      ? shortest
      : number < 1 && number > -1
        ? small(shortest)
        : String(BigInt(number));
    return text.includes('.') ? text : `${text}.0`;
  }
  if (Object.is(number, -0)) return '-0.0E0';
  const [mantissa, exponent] = number.toExponential().split('e') as [string, string];
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`;
}

/** Returns the text of a number without the negative exponent that JavaScript uses. */
function small(text: string): string {
  const [, sign, first, others = '', exponent] = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text)!;
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${first}${others}`;
}

/** Returns the base direction of a string. Empty without a direction. */
export const directionOf = ({ language = '' }: Value): string => language.split('--')[1] ?? '';

export function datatypeOf(value: Value): string | undefined {
  if (!isLiteral(value)) return undefined;
  if (value.kind === 'lang') return rdf.namespace + (directionOf(value) ? 'dirLangString' : 'langString');
  return value.datatype ?? xsd.string;
}

/** Returns the term key of a value. @throws LwsError for a string above the length limit of stored terms */
export function toToken(value: Value | undefined): TermKey | undefined {
  if (!value || value.termKey !== undefined) return value?.termKey;
  if (value.kind === 'iri' || value.kind === 'triple') return value.text;
  if (value.kind === 'blank') return termKey({ termType: 'BlankNode', value: value.text } as never);
  if (value.kind === 'string' && value.datatype === undefined) return literalToken(value.text, xsd.string, '');
  return literalToken(value.text, datatypeOf(value)!, value.language ?? '');
}

function literalToken(value: string, datatype: string, tag: string): TermKey {
  const datatypeNode = { termType: 'NamedNode', value: datatype };
  const [language, direction] = tag.split('--');
  return termKey({ termType: 'Literal', value, language, direction, datatype: datatypeNode } as never);
}

/** Returns the effective boolean value (SPARQL 1.2 17.2.2), or `undefined` for a type error. */
export function booleanOf(value: Value | undefined): boolean | undefined {
  if (value?.kind === 'string') return value.text !== '';
  if ((value?.kind !== 'boolean' && value?.kind !== 'number') || value.number === undefined) return undefined;
  return value.number !== 0 && !Number.isNaN(value.number);
}

export const isLiteral = ({ kind }: Value): boolean => kind !== 'iri' && kind !== 'blank' && kind !== 'triple';
