/**
 * Keeps all digits of numbers in JSON-LD documents (rule 1.15). `jsonld` reads numbers as doubles, and writes doubles with 16
 * digits. A number that this could change is replaced by another double that does not occur in the document (a stand-in), and
 * restored from its digits after the expansion.
 */
import { endOfString } from '../tools/json/json.js';
import { malformed } from './n3-documents.js';
import { xsd } from './vocabulary.js';

/** Stand-ins: doubles from 2^900 to below 2^901. No document number stays in this range: 2^53 and more is always replaced. */
const [firstStandIn, step] = [2 ** 900, 2 ** 848];

/** Decimal digits that every double preserves. */
const safeDigits = 15;

/** Count of digits from which JSON-LD converts an integer to a double (10^21 and more). */
const digitsOfDoubles = 22;

/** Matches every text with a number that may have to be replaced, and some other texts. */
const candidate = /[\d.]{16}|\d[eE]/;

/** Texts of the replaced numbers, by stand-in. */
export type StandIns = ReadonlyMap<number, string>;

/**
 * Replaces numbers in a valid JSON text. Returns `undefined` if there is none to replace.
 * @throws LwsError `malformed-body` for a number outside of the range of xsd:double
 */
export function replaceNumbers(text: string): { readonly text: string; readonly standIns: StandIns } | undefined {
  if (!candidate.test(text)) return undefined;
  const standIns = new Map<number, string>();
  const byText = new Map<string, number>();
  const pieces: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    if (code !== 0x2d && !(code >= 0x30 && code <= 0x39)) continue;
    const end = endOfNumber(text, at);
    const digits = text.slice(at, end);
    if (!isSafe(digits)) {
      const standIn = byText.get(digits) ?? firstStandIn + standIns.size * step;
      byText.set(digits, standIn);
      standIns.set(standIn, digits);
      pieces.push(text.slice(done, at), String(standIn));
      done = end;
    }
    at = end - 1;
  }
  return standIns.size === 0 ? undefined : { text: pieces.join('') + text.slice(done), standIns };
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && '0123456789.eE+-'.includes(text[end]!)) end++;
  return end;
}

/** Returns true if a number needs no stand-in. @throws LwsError `malformed-body` if it is not in the range of xsd:double */
function isSafe(text: string): boolean {
  const size = Math.abs(Number(text));
  const { digits } = decimalOf(text);
  if (size === Number.POSITIVE_INFINITY || (size === 0 && digits !== ''))
    throw malformed(
      `the number ${text.slice(0, 50)} is outside of the range of xsd:double. Write it as a typed string`,
    );
  return digits.length <= safeDigits && size < 2 ** 53 && (size === 0 || size > 1e-300);
}

/** Decimal number: an integer without leading and trailing zeros, times a power of ten. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  readonly exponent: number;
}

function decimalOf(text: string): Decimal {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!;
  const all = whole! + fraction;
  let [first, last] = [0, all.length];
  while (all[first] === '0') first++;
  while (last > first && all[last - 1] === '0') last--;
  return {
    ...{ sign: sign!, digits: all.slice(first, last) },
    exponent: Number(exponent) - fraction.length + all.length - last,
  };
}

/**
 * Converts a number as JSON-LD does (JSON-LD 1.1 API 8.2.2), but with all digits: to xsd:integer if it has no fraction and is
 * below 10^21, otherwise to xsd:double.
 * @param type datatype in the document, if any
 */
export function literalOf(text: string, type: string | undefined): { readonly value: string; readonly type: string } {
  const { sign, digits, exponent } = decimalOf(text);
  const isDouble = exponent < 0 || digits.length + exponent >= digitsOfDoubles || type === `${xsd.namespace}double`;
  const value = isDouble
    ? `${sign}${digits[0]}.${digits.slice(1) || '0'}E${exponent + digits.length - 1}`
    : `${sign}${digits}${'0'.repeat(exponent)}`;
  return { value, type: type ?? `${xsd.namespace}${isDouble ? 'double' : 'integer'}` };
}

/**
 * Returns a JSON literal with its original numbers. Its canonical form has only doubles (RFC 8785 3.2.2.3),
 * so fractions are rounded.
 * @throws LwsError `malformed-body` for an integer that is not a double, such as an identifier,
 * because rounding would change it
 */
export function withOwnNumbers(value: unknown, standIns: StandIns): unknown {
  if (typeof value === 'number') {
    const text = standIns.get(value);
    if (text === undefined) return value;
    const [given, held] = [text, String(Number(text))].map(decimalOf);
    const isSame = given!.digits === held!.digits && given!.exponent === held!.exponent;
    if (given!.exponent >= 0 && !isSame)
      throw malformed(
        `the number ${text.slice(0, 50)} in a JSON literal (@json) is not a double. Write it as a string`,
      );
    return Number(text);
  }
  if (Array.isArray(value)) return value.map((each) => withOwnNumbers(each, standIns));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withOwnNumbers(each, standIns)]));
}
