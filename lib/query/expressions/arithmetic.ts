/** Arithmetic of SPARQL's four kinds of numbers, exact where doubles are not. It must not know rows or queries. */
import { type NumberType, numberValue, type Value } from './values.js';

export type ArithmeticOperator = '+' | '-' | '*' | '/';

const order: readonly NumberType[] = ['integer', 'decimal', 'float', 'double'];

/** `undefined` for what are no numbers, and for an integer divided by zero. */
export function calculate(operator: ArithmeticOperator, a: Value, b: Value): Value | undefined {
  if (a.kind !== 'number' || b.kind !== 'number' || a.number === undefined || b.number === undefined) return undefined;
  const type = order[Math.max(order.indexOf(a.numberType!), order.indexOf(b.numberType!))]!;
  if (operator === '/') return divide(a.number, b.number, type);
  if (type === 'integer') return integers(operator, a, b);
  return type === 'decimal'
    ? numberValue(decimals(operator, a.number, b.number), type)
    : numberValue(plain(operator, a.number, b.number), type);
}

function divide(a: number, b: number, type: NumberType): Value | undefined {
  if (type === 'float' || type === 'double') return numberValue(a / b, type);
  return b === 0 ? undefined : numberValue(quotient(a, b), 'decimal');
}

/** 11.1 / 5 is 2.22: more digits are found than a double holds, so that the nearest one is what is left. */
function quotient(a: number, b: number): number {
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right) return a / b;
  const places = 40;
  const digits = (left.digits * 10n ** BigInt(places + right.scale)) / (right.digits * 10n ** BigInt(left.scale));
  return Number(`${digits}e-${places}`);
}

const plain = (operator: ArithmeticOperator, a: number, b: number): number =>
  operator === '+' ? a + b : operator === '-' ? a - b : a * b;
const large = (operator: ArithmeticOperator, a: bigint, b: bigint): bigint =>
  operator === '+' ? a + b : operator === '-' ? a - b : a * b;

function integers(operator: ArithmeticOperator, a: Value, b: Value): Value {
  const result = plain(operator, a.number!, b.number!);
  if (Number.isSafeInteger(result) && Number.isSafeInteger(a.number) && Number.isSafeInteger(b.number))
    return numberValue(result, 'integer');
  const exact = large(operator, BigInt(a.text), BigInt(b.text));
  return numberValue(Number(exact), 'integer', exact);
}

/** 0.1 + 0.2 is 0.3: the digits that the numbers are written with are what is added. */
function decimals(operator: ArithmeticOperator, a: number, b: number): number {
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right) return plain(operator, a, b);
  if (operator === '*') return Number(`${left.digits * right.digits}e-${left.scale + right.scale}`);
  const scale = Math.max(left.scale, right.scale);
  const at = ({ digits, scale: own }: Digits): bigint => digits * 10n ** BigInt(scale - own);
  return Number(`${large(operator, at(left), at(right))}e-${scale}`);
}

interface Digits {
  readonly digits: bigint;
  readonly scale: number;
}

function digitsOf(number: number): Digits | undefined {
  const found = /^(-?\d+)(?:\.(\d+))?$/.exec(String(number));
  if (!found) return undefined;
  const fraction = found[2] ?? '';
  return { digits: BigInt(found[1]! + fraction), scale: fraction.length };
}
