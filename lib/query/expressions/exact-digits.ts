/** Integers and decimals as decimal digits, without the rounding of doubles. */
import { decimalOf, type Value } from './values.js';

/** Decimal number: an integer and the count of its fraction digits. */
export interface Digits {
  readonly digits: bigint;
  readonly scale: number;
}

/** Maximum count of digits of operands. A product has up to twice as many. XPath requires 18 (Functions and Operators 4.2). */
const maxDigits = 1000;

export const isExact = ({ numberType }: Value): boolean => numberType === 'integer' || numberType === 'decimal';

/** Returns the digits of a number, or `undefined` for too many digits, which is XPath's overflow error. */
export function digitsOf({ text }: Value): Digits | undefined {
  if (text.length > maxDigits) return undefined;
  const point = text.indexOf('.');
  if (point < 0) return { digits: BigInt(text), scale: 0 };
  const fraction = text.slice(point + 1);
  const digits = text.slice(0, point) + fraction;
  // A sign may directly precede the decimal point.
  return {
    digits: BigInt(/^[+-]/.test(digits) ? digits.slice(1) : digits) * (digits[0] === '-' ? -1n : 1n),
    scale: fraction.length,
  };
}

/** Scales two numbers to the same count of fraction digits. */
export function aligned(a: Digits, b: Digits): [a: bigint, b: bigint, scale: number] {
  const scale = Math.max(a.scale, b.scale);
  const at = ({ digits, scale: own }: Digits): bigint => digits * 10n ** BigInt(scale - own);
  return [at(a), at(b), scale];
}

function writeDigits({ digits, scale }: Digits): string {
  const size = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  return `${digits < 0n ? '-' : ''}${size.slice(0, size.length - scale)}.${size.slice(size.length - scale)}`;
}

export const decimalFrom = (number: Digits): Value => decimalOf(writeDigits(number));

/** Maximum length of texts of numbers that are equal if they are equal as doubles. */
const safeLength = 15;

/** Compares the digits of two numbers that are equal as doubles. */
export function compareDigits(a: Value, b: Value): number {
  if (!isExact(a) || !isExact(b) || (a.text.length <= safeLength && b.text.length <= safeLength)) return 0;
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right) return compareLong(a.text, b.text);
  const [x, y] = aligned(left, right);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Compares numbers with too many digits for calculations, by their characters. */
function compareLong(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left.isNegative !== right.isNegative) return left.isNegative ? -1 : 1;
  const width = Math.max(left.fraction.length, right.fraction.length);
  const size = left.whole.length - right.whole.length || order(left, right, width);
  return Math.sign(left.isNegative ? -size : size);
}

interface Parts {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

function partsOf(text: string): Parts {
  const [whole, fraction = ''] = text.replace(/^[+-]/, '').split('.') as [string, string?];
  return { isNegative: text.startsWith('-'), whole: whole.replace(/^0+/, ''), fraction };
}

function order(a: Parts, b: Parts, width: number): number {
  const [left, right] = [a.whole + a.fraction.padEnd(width, '0'), b.whole + b.fraction.padEnd(width, '0')];
  return left < right ? -1 : left > right ? 1 : 0;
}
