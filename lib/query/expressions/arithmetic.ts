/** Arithmetic of SPARQL's four numeric types. Exact for integers and decimals. */
import { aligned, decimalFrom, digitsOf } from './exact-digits.js';
import { type NumberType, numberValue, type Value } from './values.js';

export type ArithmeticOperator = '+' | '-' | '*' | '/';

const order: readonly NumberType[] = ['integer', 'decimal', 'float', 'double'];

/** Returns the result, or `undefined` for operands that are not numbers, exact division by zero, and too many digits. */
export function calculate(operator: ArithmeticOperator, a: Value, b: Value): Value | undefined {
  if (a.kind !== 'number' || b.kind !== 'number' || a.number === undefined || b.number === undefined) return undefined;
  const type = order[Math.max(order.indexOf(a.numberType!), order.indexOf(b.numberType!))]!;
  if (type === 'float' || type === 'double') return numberValue(plain(operator, a.number, b.number), type);
  if (operator === '/') return quotient(a, b);
  return type === 'integer' ? integers(operator, a, b) : decimals(operator, a, b);
}

/** Minimum count of fraction digits of a non-terminating quotient, as XPath requires. */
const leastScale = 18;

function quotient(a: Value, b: Value): Value | undefined {
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right || right.digits === 0n) return undefined;
  const [dividend, divisor, own] = aligned(left, right);
  const scale = Math.max(leastScale, own);
  return decimalFrom({ digits: (dividend * 10n ** BigInt(scale)) / divisor, scale });
}

const plain = (operator: ArithmeticOperator, a: number, b: number): number =>
  operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : a / b;
const large = (operator: ArithmeticOperator, a: bigint, b: bigint): bigint =>
  operator === '+' ? a + b : operator === '-' ? a - b : a * b;

function integers(operator: ArithmeticOperator, a: Value, b: Value): Value | undefined {
  const result = plain(operator, a.number!, b.number!);
  if (Number.isSafeInteger(result) && Number.isSafeInteger(a.number) && Number.isSafeInteger(b.number))
    return numberValue(result, 'integer');
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right) return undefined;
  const exact = large(operator, left.digits, right.digits);
  return numberValue(Number(exact), 'integer', exact);
}

/** Computes with decimal digits, so that 0.1 + 0.2 is 0.3. */
function decimals(operator: ArithmeticOperator, a: Value, b: Value): Value | undefined {
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right) return undefined;
  if (operator === '*') return decimalFrom({ digits: left.digits * right.digits, scale: left.scale + right.scale });
  const [x, y, scale] = aligned(left, right);
  return decimalFrom({ digits: large(operator, x, y), scale });
}
