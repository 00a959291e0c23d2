/** XPath constructor functions (SPARQL 1.1, 17.5). */
import type { Term } from '@rdfjs/types';
import { dateOf, parseDate } from './dates.js';
import {
  type Decimal,
  decimalText,
  literalOf,
  type Numeric,
  numericOf,
  parseDecimal,
  parseDouble,
  toDouble,
  truncate,
} from './numbers.js';
import { booleanOf, effectiveBoolean, isString } from './operators.js';
import { boolean, ExpressionError, plain, typed, xsd } from './terms.js';

/** @throws ExpressionError */
export function castTo(type: string, [of, ...others]: readonly Term[]): Term {
  const cast = casts[type];
  if (!cast || !of || others.length > 0) throw new ExpressionError(`Unknown function: xsd:${type}`);
  const value = cast(of);
  if (value === undefined) throw new ExpressionError(`Cannot cast to xsd:${type}.`);
  return value;
}

type Cast = (of: Term) => Term | undefined;

/** Casts a string, a number or a boolean to a number. */
const numeric =
  (parse: (text: string) => Numeric | undefined, convert: (number: Numeric) => Numeric | undefined): Cast =>
  (of) => {
    const truth = booleanOf(of);
    const one = (value: boolean): Numeric => ({ type: 'integer', exact: { digits: value ? 1n : 0n, scale: 0 } });
    const number = truth !== undefined ? one(truth) : numericOf(of);
    const found = number ? convert(number) : isString(of) ? parse(of.value.trim()) : undefined;
    return found && literalOf(found);
  };

const toDecimal = (number: Numeric): Numeric | undefined => {
  const exact = exactOf(number);
  return exact && { type: 'decimal', exact };
};
function exactOf(number: Numeric): Decimal | undefined {
  if ('exact' in number) return number.exact;
  if (!Number.isFinite(number.value)) return undefined;
  const [mantissa, exponent] = number.value.toExponential().split('e') as [string, string];
  const { digits, scale } = parseDecimal(mantissa)!;
  const shift = scale - Number(exponent);
  return shift >= 0 ? { digits, scale: shift } : { digits: digits * 10n ** BigInt(-shift), scale: 0 };
}
const floating =
  (type: 'float' | 'double') =>
  (value: number): Numeric => ({ type, value: type === 'float' ? Math.fround(value) : value });
const parsed =
  (type: 'float' | 'double') =>
  (text: string): Numeric | undefined => {
    const value = parseDouble(text);
    return value === undefined ? undefined : floating(type)(value);
  };

const date =
  (kind: 'dateTime' | 'date'): Cast =>
  (of) => {
    if (of.termType !== 'Literal') return undefined;
    if (dateOf(of)?.kind === kind) return of;
    return isString(of) && parseDate(of.value.trim(), kind) ? typed(of.value.trim(), xsd + kind) : undefined;
  };

/** Returns the canonical form of XPath: without an exponent from 0.000001 up to 1000000. */
function numberText(number: Numeric): string {
  if ('exact' in number) return decimalText(number.exact);
  const size = Math.abs(number.value);
  const isPlain = size === 0 || (size >= 1e-6 && size < 1e6);
  return isPlain ? decimalText(exactOf(number)!) : literalOf(number).value;
}

const casts: Readonly<Record<string, Cast>> = {
  string: (of) => {
    if (of.termType === 'NamedNode') return plain(of.value);
    if (of.termType !== 'Literal') return undefined;
    const number = numericOf(of);
    return plain(number ? numberText(number) : String(booleanOf(of) ?? of.value));
  },
  boolean: (of) => {
    if (booleanOf(of) !== undefined || numericOf(of)) return boolean(effectiveBoolean(of));
    if (!isString(of)) return undefined;
    const truth = booleanOf(typed(of.value.trim(), `${xsd}boolean`));
    return truth === undefined ? undefined : boolean(truth);
  },
  integer: numeric(
    (text) => numericOf(typed(text, `${xsd}integer`)),
    (number) => truncate(number),
  ),
  decimal: numeric((text) => numericOf(typed(text, `${xsd}decimal`)), toDecimal),
  float: numeric(parsed('float'), (number) => floating('float')(toDouble(number))),
  double: numeric(parsed('double'), (number) => floating('double')(toDouble(number))),
  dateTime: date('dateTime'),
  date: date('date'),
};
