/** Functions of numbers (SPARQL 1.1 17.4.4), whose result has the type of the argument. It must not know rows or queries. */
import { calculate } from './arithmetic.js';
import { type Makes, unary } from './function-forms.js';
import { integerOf, numberValue, type Value } from './values.js';

const sameInteger = ({ number, text }: Value): Value =>
  Number.isSafeInteger(number) ? numberValue(number!, 'integer') : integerOf(text);

/** @param ofWhole what it does to integers, which doubles cannot hold exactly */
const numeric = (apply: (number: number) => number, ofWhole: (integer: Value) => Value | undefined = sameInteger) =>
  unary((value) => {
    const { kind, number, numberType } = value;
    if (kind !== 'number' || number === undefined) return undefined;
    return numberType === 'integer' ? ofWhole(value) : numberValue(apply(number), numberType!);
  });

const negative = (value: Value): Value | undefined => calculate('*', value, numberValue(-1, 'integer'));

export const numericFunctions: Makes = {
  uplus: numeric((number) => number),
  uminus: numeric((number) => -number, negative),
  abs: numeric(Math.abs, (integer) => (integer.number! < 0 ? negative(integer) : sameInteger(integer))),
  // Half of a number goes up, also below zero, as in XPath.
  round: numeric(Math.round),
  ceil: numeric(Math.ceil),
  floor: numeric(Math.floor),
  rand: () => () => numberValue(Math.random(), 'double'),
};
