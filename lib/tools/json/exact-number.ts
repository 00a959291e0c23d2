/** JSON numbers whose text a JavaScript number would not preserve. */

/** A number with its original text. Immutable, so that several documents can share it. */
export class ExactNumber {
  private known?: string;

  constructor(readonly text: string) {}

  /** Canonical text. Cached, because each operation of a patch may compare it, and the number may be a megabyte long. */
  get canonical(): string {
    this.known ??= canonicalNumber(this.text);
    return this.known;
  }
}

/** Returns a JavaScript number if it is written the same way, `1.5` but not `1.50`; otherwise an `ExactNumber`. */
export function readNumber(text: string): number | ExactNumber {
  return isKept(text) ? Number(text) : new ExactNumber(text);
}

/** Returns true if `JSON.parse` and `JSON.stringify` preserve the digits and the format. */
export function isKept(text: string): boolean {
  return shortInteger.test(text) || String(Number(text)) === text;
}
const shortInteger = /^(?:0|-?[1-9]\d{0,14})$/;

/** Compares two numbers exactly (RFC 6902 section 4.6). */
export function sameNumber(a: number | ExactNumber, b: number | ExactNumber): boolean {
  // If both are JavaScript numbers, both are exact.
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  return canonical(a) === canonical(b);
}

const canonical = (value: number | ExactNumber): string =>
  typeof value === 'number' ? canonicalNumber(String(value)) : value.canonical;

/**
 * Returns a canonical text of a number without computing it: 1e999999999 has a billion digits. Exponents of more than fifteen
 * digits are not normalized, so such numbers are equal only if written alike.
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
