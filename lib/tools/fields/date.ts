/** HTTP dates, as in `Last-Modified` and `If-Modified-Since` (RFC 9110 5.6.7). */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const longDay = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

// Bounded patterns: matching ends after about 35 characters.
const patterns = [
  new RegExp(`^${shortDay}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${longDay}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^${shortDay} ${month} (?<day>\\d{2}| \\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Parses any of the three date formats into milliseconds since the epoch, or returns undefined. Ignores the day name: rejecting a
 * wrong one would drop an `If-Unmodified-Since` and its protection.
 * @param now in milliseconds; resolves two-digit years (RFC 9110 5.6.7)
 */
export function parseHttpDate(field: string, now: number = Date.now()): number | undefined {
  for (const pattern of patterns) {
    const parts = pattern.exec(field)?.groups;
    if (!parts) continue;
    const digits = parts.year!;
    if (digits.length === 4) return timeOf(parts, Number(digits));
    return timeOf(parts, fullYear(parts, Number(digits), now));
  }
  return undefined;
}

/** Formats a time as IMF-fixdate, rounded down to seconds, for the years 0 to 9999 (RFC 9110 5.6.7). */
export function formatHttpDate(milliseconds: number): string {
  return new Date(Math.floor(milliseconds / 1000) * 1000).toUTCString();
}

/** Returns the time in milliseconds, or undefined if the month has no such day. */
function timeOf(parts: Readonly<Record<string, string>>, year: number): number | undefined {
  const index = months.indexOf(parts.month!);
  const day = Number(parts.day);
  // Set the year separately, because Date.UTC maps the years 0 to 99 to the twentieth century.
  const date = new Date(0);
  date.setUTCFullYear(year, index, day);
  if (date.getUTCMonth() !== index || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
}

/** Resolves a two-digit year to this century, or to the last century if the year would be more than 50 years ahead. */
function fullYear(parts: Readonly<Record<string, string>>, digits: number, now: number): number {
  const limit = new Date(now);
  const year = limit.getUTCFullYear() - (limit.getUTCFullYear() % 100) + digits;
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const time = timeOf(parts, year);
  return time === undefined || time <= limit.getTime() ? year : year - 100;
}

/**
 * Parses an xsd:dateTime with a time zone into milliseconds since the epoch, or returns NaN. Date.parse also accepts other
 * formats, local time zones, and 31 February.
 */
export function parseDateTime(text: string): number {
  const match = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.exec(text);
  if (!match) return Number.NaN;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isDay = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
  return isDay ? Date.parse(text) : Number.NaN;
}

/** Returns true for a time in milliseconds since the epoch that can be formatted as a date. */
export const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && !Number.isNaN(new Date(value as number).getTime());
