/** Functions of SPARQL, by their names in the algebra. */

import { hash } from 'node:crypto';
import { decimalFrom, digitsOf, isExact } from './exact-digits.js';
import { type Make, type Makes, ofString, unary } from './function-forms.js';
import { patternFunctions } from './functions-patterns.js';
import { termFunctions } from './functions-terms.js';
import { textFunctions } from './functions-text.js';
import { timeFunctions } from './functions-time.js';
import { numberValue, textValue } from './values.js';

/** Creates a hash function (SPARQL 1.1 17.4.6) with a result in lower-case hexadecimal. */
const hashOf = (algorithm: string): Make => ofString((text) => textValue(hash(algorithm, text, 'hex')));

const hashFunctions: Makes = {
  md5: hashOf('md5'),
  sha1: hashOf('sha1'),
  sha256: hashOf('sha256'),
  sha384: hashOf('sha384'),
  sha512: hashOf('sha512'),
};

/** Rounding function of numeric functions (SPARQL 1.1 17.4.4). The result has the type of the argument. */
type Rounding = (digits: bigint, unit: bigint) => bigint;

/** @param apply function for doubles and floats @param exactly function for integers and decimals, as digits and their unit */
const numeric = (apply: (number: number) => number, exactly: Rounding) =>
  unary((value) => {
    const { kind, number, numberType } = value;
    if (kind !== 'number' || number === undefined) return undefined;
    if (!isExact(value)) return numberValue(apply(number), numberType!);
    if (Number.isSafeInteger(number) && numberType === 'integer') return numberValue(apply(number), numberType);
    const found = digitsOf(value);
    if (!found) return undefined;
    const digits = exactly(found.digits, 10n ** BigInt(found.scale));
    return numberType === 'integer'
      ? numberValue(Number(digits), numberType, digits)
      : decimalFrom({ digits, scale: found.scale });
  });

/** Division that rounds down. The division of BigInt rounds towards zero. */
const down: Rounding = (digits, unit) => {
  const rest = digits % unit;
  return digits - rest - (rest < 0n ? unit : 0n);
};

const numericFunctions: Makes = {
  uplus: numeric(
    (number) => number,
    (digits) => digits,
  ),
  uminus: numeric(
    (number) => -number,
    (digits) => -digits,
  ),
  abs: numeric(Math.abs, (digits) => (digits < 0n ? -digits : digits)),
  // Rounds half up, also for negative numbers, as in XPath.
  round: numeric(Math.round, (digits, unit) => down(digits + unit / 2n, unit)),
  ceil: numeric(Math.ceil, (digits, unit) => -down(-digits, unit)),
  floor: numeric(Math.floor, down),
  rand: () => () => numberValue(Math.random(), 'double'),
};

export const functions: Makes = {
  ...termFunctions,
  ...textFunctions,
  ...patternFunctions,
  ...numericFunctions,
  ...timeFunctions,
  ...hashFunctions,
};
