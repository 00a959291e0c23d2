/** Constructor functions of XML Schema types (SPARQL 1.1 17.5; XPath Functions and Operators 17). */
import { xsd } from '../../rdf/vocabulary.js';
import { type DatedValue, fieldsOf, writeFields } from './dates.js';
import { monthsAndSeconds, monthsOf, secondsOf, writeDuration } from './durations.js';
import { isExact } from './exact-digits.js';
import { type Make, type Makes, unary } from './function-forms.js';
import {
  booleanOf,
  decimalOf,
  integerOf,
  type NumberType,
  numberValue,
  parseNumber,
  textValue,
  truth,
  typedValue,
  type Value,
} from './values.js';

type Cast = (value: Value) => Value | undefined;

/** Returns true if a literal is valid for its datatype. Invalid literals cannot be cast. */
const hasValue = ({ kind, text, number }: Value): boolean => {
  if (kind === 'duration') return monthsAndSeconds(text) !== undefined;
  return kind === 'iri' || kind === 'string' || kind === 'lang' || kind === 'other' || number !== undefined;
};
const cast = (to: Cast): Make => unary((value) => (hasValue(value) ? to(value) : undefined));

/** Removes XML white space at both ends. */
function trim(text: string): string {
  const spaces = ' \t\n\r';
  let [from, to] = [0, text.length];
  while (from < to && spaces.includes(text[from]!)) from++;
  while (to > from && spaces.includes(text[to - 1]!)) to--;
  return text.slice(from, to);
}

const isCountable = ({ kind }: Value): boolean => kind === 'number' || kind === 'boolean';

const toBoolean: Cast = (value) => {
  if (isCountable(value)) return truth(booleanOf(value)!);
  const text = value.kind === 'string' ? trim(value.text) : '';
  return /^(?:true|false|[01])$/.test(text) ? truth(text === 'true' || text === '1') : undefined;
};

const toFloating =
  (type: NumberType): Cast =>
  (value) => {
    if (isCountable(value)) return numberValue(value.number!, type);
    const number = value.kind === 'string' ? parseNumber(trim(value.text), type) : undefined;
    return number === undefined ? undefined : numberValue(number, type);
  };

const toDecimal: Cast = (value) => {
  if (isExact(value)) return decimalOf(value.text);
  if (isCountable(value)) return Number.isFinite(value.number) ? numberValue(value.number!, 'decimal') : undefined;
  const text = value.kind === 'string' ? trim(value.text) : '';
  return parseNumber(text, 'decimal') === undefined ? undefined : decimalOf(text);
};

const toInteger: Cast = (value) => {
  if (isExact(value)) return integerOf(value.text.replace(/\..*/, ''));
  if (isCountable(value))
    return Number.isFinite(value.number) ? integerOf(String(BigInt(Math.trunc(value.number!)))) : undefined;
  const text = value.kind === 'string' ? trim(value.text) : '';
  return parseNumber(text, 'integer') === undefined ? undefined : integerOf(text);
};

const toText: Cast = ({ kind, text, number, numberType }) => {
  switch (kind) {
    case 'boolean':
      return textValue(number === 1 ? 'true' : 'false');
    case 'number':
      return textValue(numberText(text, number!, numberType!));
    case 'dateTime':
    case 'date':
    case 'time':
      return textValue(writeFields(kind, fieldsOf(kind, text)!));
    case 'duration':
    case 'yearMonthDuration':
    case 'dayTimeDuration':
      return textValue(durationOf(kind, text)!);
    default:
      return textValue(text);
  }
};

/** Returns the canonical text of a number. Only very large or small numbers have an exponent. */
function numberText(text: string, number: number, type: NumberType): string {
  if (type === 'integer') return integerOf(text).text;
  if (type === 'decimal') return withoutPoint(decimalOf(text).text);
  const size = Math.abs(number);
  if (size === 0) return Object.is(number, -0) ? '-0' : '0';
  return size >= 1e-6 && size < 1e6
    ? withoutPoint(numberValue(number, 'decimal').text)
    : numberValue(number, type).text;
}
const withoutPoint = (decimal: string): string => decimal.replace(/\.0$/, '');

const toDated =
  (to: DatedValue): Cast =>
  ({ kind, text }) => {
    const type = xsd.namespace + to;
    if (kind === 'string') {
      const value = typedValue(trim(text), type);
      return value.number === undefined ? undefined : value;
    }
    if (kind === to) return typedValue(text, type);
    if (kind !== 'dateTime' && (kind !== 'date' || to !== 'dateTime')) return undefined;
    return typedValue(writeFields(to, fieldsOf(kind, text)!), type);
  };

type Duration = 'duration' | 'yearMonthDuration' | 'dayTimeDuration';

/** Returns the part of a duration that another duration type can express, or `undefined` if the duration is invalid. */
function durationOf(to: Duration, text: string): string | undefined {
  const parts = monthsAndSeconds(text);
  if (!parts) return undefined;
  if (to === 'yearMonthDuration') return writeDuration(parts[0], 0, 'P0M');
  return writeDuration(to === 'duration' ? parts[0] : 0, parts[1]);
}

const toDuration =
  (to: Duration, isWritten: (text: string) => boolean): Cast =>
  ({ kind, text }) => {
    if (kind === 'string' ? !isWritten(trim(text)) : !kind.toLowerCase().endsWith('duration')) return undefined;
    const written = durationOf(to, trim(text));
    return written === undefined ? undefined : typedValue(written, xsd.namespace + to);
  };

/** Cast functions by the IRI of the datatype. */
export const casts: Makes = Object.fromEntries(
  Object.entries({
    boolean: toBoolean,
    double: toFloating('double'),
    float: toFloating('float'),
    decimal: toDecimal,
    integer: toInteger,
    string: toText,
    dateTime: toDated('dateTime'),
    date: toDated('date'),
    time: toDated('time'),
    duration: toDuration('duration', () => true),
    yearMonthDuration: toDuration('yearMonthDuration', (text) => monthsOf(text) !== undefined),
    dayTimeDuration: toDuration('dayTimeDuration', (text) => secondsOf(text) !== undefined),
  } satisfies Record<string, Cast>).map(([name, to]) => [xsd.namespace + name, cast(to)]),
);
