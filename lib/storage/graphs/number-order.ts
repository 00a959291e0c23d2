/**
 * Numbers as strings in quadstore's format, whose order is nearly that of the numbers: a case for the sign, three digits of exponent and a
 * mantissa. Pure. The format is quadstore's and must not be improved, or its stores could not be read.
 */

/** Sign and size: negative infinity, below -1, below 0, 0, below 1, above, infinity, not a number. */
const cases = {
  negativeInfinity: 0,
  large: 1,
  small: 2,
  zero: 3,
  positiveSmall: 4,
  positiveLarge: 5,
  infinity: 6,
  nan: 7,
};

const write = (kind: number, exponent: number, mantissa: number): string =>
  `${kind}${exponent < 100 ? String(exponent).padStart(3, '0') : exponent}${mantissa.toFixed(17)}`;

/** @param value a lexical form, of which as much is read as is a number */
export function encodeNumber(value: string | number): string {
  const number = typeof value === 'number' ? value : Number.parseFloat(value);
  if (Number.isNaN(number)) return write(cases.nan, 0, 0);
  if (number === Number.NEGATIVE_INFINITY) return write(cases.negativeInfinity, 0, 0);
  if (number === Number.POSITIVE_INFINITY) return write(cases.infinity, 0, 0);
  if (number === 0) return write(cases.zero, 0, 0);
  let mantissa = Math.abs(number);
  let exponent = 0;
  // A power of ten keeps the mantissa 10: the one place where the order is wrong.
  for (; mantissa > 10; exponent++) mantissa /= 10;
  for (; mantissa < 1; exponent--) mantissa *= 10;
  if (number < 0)
    return exponent >= 0
      ? write(cases.large, 999 - exponent, 10 - mantissa)
      : write(cases.small, -exponent, 10 - mantissa);
  return exponent < 0
    ? write(cases.positiveSmall, 999 + exponent, mantissa)
    : write(cases.positiveLarge, exponent, mantissa);
}
