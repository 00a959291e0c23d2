/** Numbers of JSON texts that a JavaScript number would not keep as they are written. */

/** A number as it is written; it is never changed, and so may be part of several documents. */
export class ExactNumber {
  private known?: string;

  constructor(readonly text: string) {}

  /** Kept, because a patch may ask for it as often as it has operations, and the number may be a megabyte long. */
  get canonical(): string {
    this.known ??= canonicalNumber(this.text);
    return this.known;
  }
}

/** A number of a JSON text: a JavaScript number if that is written as the text is, `1.5` but not `1.50`. */
export function readNumber(text: string): number | ExactNumber {
  return isKept(text) ? Number(text) : new ExactNumber(text);
}

/** Whether `JSON.parse` and `JSON.stringify` give the same digits in the same form. */
export function isKept(text: string): boolean {
  return shortInteger.test(text) || String(Number(text)) === text;
}
const shortInteger = /^(?:0|-?[1-9]\d{0,14})$/;

/** Whether two numbers are numerically equal, to the last digit (RFC 6902 section 4.6). */
export function sameNumber(a: number | ExactNumber, b: number | ExactNumber): boolean {
  // Two JavaScript numbers came from texts that they keep, so they are as exact as these.
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  return canonical(a) === canonical(b);
}

const canonical = (value: number | ExactNumber): string =>
  typeof value === 'number' ? canonicalNumber(String(value)) : value.canonical;

/**
 * One text for all ways to write a number, found without computing: 1e999999999 has a billion digits. To add to an
 * exponent of more than fifteen digits would need such a computation; so that is equal only to what is written alike.
 */
function canonicalNumber(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(text)!;
  const digits = (whole! + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  if (exponent.replace(/^[+-]?0*/, '').length > 15) return text;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
