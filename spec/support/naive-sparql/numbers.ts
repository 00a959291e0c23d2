/** Numeric values and their promotion (17.1, 17.3): exact decimals on bigint, floats and doubles. */
import type { Literal, Term } from '@rdfjs/types';
import { ExpressionError, typed, xsd } from './terms.js';

/** `digits` / 10^`scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

export type Numeric =
  | { readonly type: 'integer' | 'decimal'; readonly exact: Decimal }
  | { readonly type: 'float' | 'double'; readonly value: number };

type NumericType = Numeric['type'];
const promotion: readonly NumericType[] = ['integer', 'decimal', 'float', 'double'];

/** Ranges of the types derived from xsd:integer. Undefined: no bound. */
const integers: Readonly<Record<string, readonly [(bigint | undefined)?, bigint?]>> = {
  integer: [],
  nonPositiveInteger: [undefined, 0n],
  negativeInteger: [undefined, -1n],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-32768n, 32767n],
  byte: [-128n, 127n],
  nonNegativeInteger: [0n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65535n],
  unsignedByte: [0n, 255n],
  positiveInteger: [1n],
};

export const integer = (value: bigint | number): Numeric => ({
  type: 'integer',
  exact: { digits: BigInt(value), scale: 0 },
});

export function parseDecimal(text: string): Decimal | undefined {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  if (!found || `${found[2]}${found[3] ?? ''}` === '') return undefined;
  const fraction = found[3] ?? '';
  const digits = BigInt(`${found[2]}${fraction}`);
  return { digits: found[1] === '-' ? -digits : digits, scale: fraction.length };
}

export function parseDouble(text: string): number | undefined {
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text);
  if (text === 'NaN') return Number.NaN;
  const found = /^([+-]?)INF$/.exec(text);
  return found ? (found[1] === '-' ? -Infinity : Infinity) : undefined;
}

export const isNumericType = (datatype: string): boolean =>
  datatype.startsWith(xsd) && (datatype.slice(xsd.length) in integers || /#(?:decimal|float|double)$/.test(datatype));

/** Returns undefined for other terms and for invalid lexical forms. */
export function numericOf(term: Term): Numeric | undefined {
  if (term.termType !== 'Literal' || !isNumericType(term.datatype.value)) return undefined;
  const name = term.datatype.value.slice(xsd.length);
  const range = integers[name];
  if (range) {
    if (!/^[+-]?\d+$/.test(term.value)) return undefined;
    const value = BigInt(term.value.replace('+', ''));
    const [least, most] = range;
    if ((least !== undefined && value < least) || (most !== undefined && value > most)) return undefined;
    return integer(value);
  }
  if (name === 'decimal') {
    const exact = parseDecimal(term.value);
    return exact && { type: 'decimal', exact };
  }
  const value = parseDouble(term.value);
  if (value === undefined) return undefined;
  return name === 'float' ? { type: 'float', value: Math.fround(value) } : { type: 'double', value };
}

export function decimalText({ digits, scale }: Decimal): string {
  const size = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = size.slice(0, size.length - scale);
  const fraction = size.slice(size.length - scale).replace(/0+$/, '');
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return digits < 0n ? `-${text}` : text;
}

/** Formats a float or double. @param value for a float, unchanged by Math.fround */
function floatingText(value: number, type: 'float' | 'double'): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : '-INF';
  if (Object.is(value, -0)) return '-0.0E0';
  const [mantissa, exponent] = (type === 'float' ? shortestFloat(value) : value).toExponential().split('e') as [
    string,
    string,
  ];
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.replace('+', '')}`;
}

/** Returns the number with the fewest digits that is the same float. */
function shortestFloat(value: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value;
}

export const literalOf = (numeric: Numeric): Literal =>
  typed(
    'exact' in numeric ? decimalText(numeric.exact) : floatingText(numeric.value, numeric.type),
    xsd + numeric.type,
  );

export const toDouble = (numeric: Numeric): number =>
  'exact' in numeric ? Number(decimalText(numeric.exact)) : numeric.value;

const align = (a: Decimal, b: Decimal): readonly [bigint, bigint, number] => {
  const scale = Math.max(a.scale, b.scale);
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale), scale];
};

const commonType = (a: Numeric, b: Numeric): NumericType =>
  promotion[Math.max(promotion.indexOf(a.type), promotion.indexOf(b.type))]!;

const asFloating = (numeric: Numeric, type: 'float' | 'double'): number =>
  type === 'float' ? Math.fround(toDouble(numeric)) : toDouble(numeric);

/** Compares two numbers. @returns a negative number, 0 or a positive number, or NaN if one of them is NaN */
export function compareNumeric(a: Numeric, b: Numeric): number {
  if ('exact' in a && 'exact' in b) {
    const [left, right] = align(a.exact, b.exact);
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const type = commonType(a, b) as 'float' | 'double';
  const [left, right] = [asFloating(a, type), asFloating(b, type)];
  return left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN;
}

/** Fraction digits of a quotient of decimals. The Recommendation does not define the number. */
const quotientScale = 18;

function exactArithmetic(operator: string, a: Decimal, b: Decimal): Decimal {
  const [left, right, scale] = align(a, b);
  if (operator === '+') return { digits: left + right, scale };
  if (operator === '-') return { digits: left - right, scale };
  if (operator === '*') return { digits: a.digits * b.digits, scale: a.scale + b.scale };
  if (right === 0n) throw new ExpressionError('Division by zero.');
  return { digits: (left * 10n ** BigInt(quotientScale)) / right, scale: quotientScale };
}

/** The operators `+`, `-`, `*` and `/` of 17.3. */
export function arithmetic(operator: string, a: Numeric, b: Numeric): Numeric {
  const type = commonType(a, b);
  if ('exact' in a && 'exact' in b) {
    const exact = exactArithmetic(operator, a.exact, b.exact);
    return { type: operator === '/' || type === 'decimal' ? 'decimal' : 'integer', exact };
  }
  const kind = type as 'float' | 'double';
  const [left, right] = [asFloating(a, kind), asFloating(b, kind)];
  const value =
    operator === '+' ? left + right : operator === '-' ? left - right : operator === '*' ? left * right : left / right;
  return { type: kind, value: kind === 'float' ? Math.fround(value) : value };
}

export const negate = (numeric: Numeric): Numeric =>
  'exact' in numeric
    ? { type: numeric.type, exact: { ...numeric.exact, digits: -numeric.exact.digits } }
    : { type: numeric.type, value: -numeric.value };

const floorOf = ({ digits, scale }: Decimal): bigint => {
  const unit = 10n ** BigInt(scale);
  const quotient = digits / unit;
  return digits < 0n && digits % unit !== 0n ? quotient - 1n : quotient;
};

/** fn:abs, fn:round, fn:ceiling and fn:floor. The type does not change. */
export function roundTo(how: 'abs' | 'round' | 'ceil' | 'floor', numeric: Numeric): Numeric {
  if (!('exact' in numeric)) {
    // fn:round rounds half towards positive infinity, as Math.round does.
    return { type: numeric.type, value: Math[how](numeric.value) };
  }
  const { exact, type } = numeric;
  if (how === 'abs') return exact.digits < 0n ? negate(numeric) : numeric;
  const half = { digits: exact.digits * 10n + 5n * 10n ** BigInt(exact.scale), scale: exact.scale + 1 };
  const value =
    how === 'floor' ? floorOf(exact) : how === 'round' ? floorOf(half) : -floorOf({ ...exact, digits: -exact.digits });
  return { type, exact: { digits: value, scale: 0 } };
}

/** Truncates to an integer, for casts (17.5). @throws ExpressionError for INF and NaN */
export function truncate(numeric: Numeric): Numeric {
  if ('exact' in numeric) return integer(numeric.exact.digits / 10n ** BigInt(numeric.exact.scale));
  if (!Number.isFinite(numeric.value)) throw new ExpressionError('Not a finite number.');
  return integer(BigInt(Math.trunc(numeric.value)));
}
