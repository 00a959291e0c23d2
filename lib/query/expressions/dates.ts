/** Dates and times of XML Schema as numbers and as fields. Pure functions. */
import { xsd } from '../../rdf/vocabulary.js';

/** Kinds of values with a position in time. */
export type DatedValue = 'dateTime' | 'date' | 'time';

const year = '(-?(?:[1-9]\\d{3,}|0\\d{3}))';
const date = `${year}-(\\d\\d)-(\\d\\d)`;
const time = '(\\d\\d):(\\d\\d):(\\d\\d(?:\\.\\d+)?)';
const end = '(Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))?$';
/** Patterns by kind. Each has seven groups: year, month, day, hours, minutes, seconds, zone. */
const forms: Readonly<Record<DatedValue, RegExp>> = {
  dateTime: new RegExp(`^${date}T${time}${end}`),
  date: new RegExp(`^${date}()()()${end}`),
  time: new RegExp(`^()()()${time}${end}`),
};

/** Fields of a date or time. */
export interface DateFields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  /** Time zone: `Z`, an offset of hours and minutes, or empty. */
  readonly zone: string;
}

// The fields are assigned one by one: object spread would take ten times as long.
const fieldsAt = (day: number, hours: number, minutes: number, seconds: number, zone: string): DateFields => {
  const [year, month, dayOfMonth] = dayAt(day);
  return { year, month, day: dayOfMonth, hours, minutes, seconds, zone };
};

/** Returns the fields of a text, or `undefined` if it is not a valid date or time. 24:00:00 is 00:00:00 of the next day. */
export function fieldsOf(kind: DatedValue, text: string): DateFields | undefined {
  const found = forms[kind].exec(text);
  if (!found) return undefined;
  const [hours, minutes, seconds] = [Number(found[4]), Number(found[5]), Number(found[6])];
  if (hours > 24 || minutes > 59 || seconds >= 60 || (hours === 24 && (minutes > 0 || seconds > 0))) return undefined;
  const zone = found[7] ?? '';
  // Times are compared as times of this day (XPath Functions and Operators 10.4).
  if (kind === 'time') return { year: 1972, month: 12, day: 31, hours: hours % 24, minutes, seconds, zone };
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hours === 24) return fieldsAt(dayNumber(year, month, day) + 1, 0, 0, 0, zone);
  return { year, month, day, hours, minutes, seconds, zone };
}

/** Patterns of partial dates (XML Schema 2, 3.3.10 to 3.3.14). Each has four groups: year, month, day, zone. */
const partForms = new Map(
  Object.entries({
    gYear: `${year}()()`,
    gYearMonth: `${year}-(\\d\\d)()`,
    gMonth: '()--(\\d\\d)()',
    gMonthDay: '()--(\\d\\d)-(\\d\\d)',
    gDay: '()()---(\\d\\d)',
  }).map(([name, form]) => [xsd.namespace + name, new RegExp(`^${form}${end}`)]),
);
/** Leap year in which a partial date is checked, so that February 29 is valid. */
const leapYear = 1972;

/** Fields of a partial date. A field that its type lacks is `undefined`. */
export type PartFields = { readonly [Field in 'year' | 'month' | 'day']: number | undefined } & Pick<
  DateFields,
  'zone'
>;

/** True for the datatypes that `partFieldsOf` accepts. */
export const isPartType = (datatype: string): boolean => partForms.has(datatype);

/** Returns the fields of a literal of a type such as `xsd:gYearMonth`, or `undefined` if it is invalid or of another type. */
export function partFieldsOf(datatype: string, text: string): PartFields | undefined {
  const found = partForms.get(datatype)?.exec(text);
  if (!found) return undefined;
  const [ofYear, month, day] = found.slice(1, 4).map((digits) => (digits === '' ? undefined : Number(digits)));
  if (ofYear !== undefined && !Number.isSafeInteger(ofYear)) return undefined;
  if (month !== undefined && (month < 1 || month > 12)) return undefined;
  if (day !== undefined && (day < 1 || day > daysOf(leapYear, month ?? 1))) return undefined;
  return { year: ofYear, month, day, zone: found[4] ?? '' };
}

/** Returns the offset of a zone from UTC in minutes, or `undefined` for an empty zone. */
export function zoneMinutes(zone: string): number | undefined {
  if (zone === '') return undefined;
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return zone.startsWith('-') ? -minutes : minutes;
}

/**
 * Returns milliseconds since the epoch, or `undefined` for an invalid date or time. A text without a zone is in UTC, so that
 * results do not depend on the server's time zone.
 */
export function instantOf(kind: DatedValue, text: string): number | undefined {
  const fields = fieldsOf(kind, text);
  if (!fields) return undefined;
  const { year, month, day, hours, minutes, seconds, zone } = fields;
  const minute = hours * 60 + minutes - (zoneMinutes(zone) ?? 0);
  return dayNumber(year, month, day) * 86_400_000 + (minute * 60 + seconds) * 1000;
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const daysOf = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : 30 + ((month + (month >> 3)) & 1);

/** Returns days since the epoch. Years begin with March here, so that the leap day is the last day. */
function dayNumber(year: number, month: number, day: number): number {
  const march = month > 2 ? year : year - 1;
  const past = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return march * 365 + Math.floor(march / 4) - Math.floor(march / 100) + Math.floor(march / 400) + past - 719_468;
}

/** Count of days in 400 years, the period of the calendar. */
const era = 146_097;

function dayAt(number: number): [year: number, month: number, day: number] {
  const days = number + 719_468;
  const eras = Math.floor(days / era);
  const dayOfEra = days - eras * era;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const past = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const march = Math.floor((5 * past + 2) / 153);
  const month = march < 10 ? march + 3 : march - 9;
  const day = past - Math.floor((153 * march + 2) / 5) + 1;
  return [eras * 400 + yearOfEra + (month < 3 ? 1 : 0), month, day];
}

const digits = (number: number, count = 2): string => String(number).padStart(count, '0');

/** Serializes a date or time as in XPath (Functions and Operators 17.1.5). */
export function writeFields(kind: DatedValue, fields: DateFields): string {
  const { year, month, day, hours, minutes, seconds, zone } = fields;
  const own = zoneMinutes(zone) === 0 ? 'Z' : zone;
  const calendar = `${year < 0 ? '-' : ''}${digits(Math.abs(year), 4)}-${digits(month)}-${digits(day)}`;
  if (kind === 'date') return calendar + own;
  const rest = Math.min(Math.round((seconds % 1) * 1e9), 999_999_999);
  const fraction = rest === 0 ? '' : `.${digits(rest, 9).replace(/(?<!0)0+$/, '')}`;
  const clock = `${digits(hours)}:${digits(minutes)}:${digits(Math.floor(seconds))}${fraction}${own}`;
  return kind === 'time' ? clock : `${calendar}T${clock}`;
}

/** Splits seconds into an integer and a fraction, without rounding errors of doubles. */
export function splitSeconds(seconds: number): [whole: number, rest: number] {
  const ticks = Math.abs(seconds) < 9e9 ? 1e6 : 1e3;
  const all = Math.round(seconds * ticks);
  const whole = Math.floor(all / ticks);
  return [whole, (all - whole * ticks) / ticks];
}

/** Adds months and seconds (XML Schema 2 E). Returns `undefined` outside of the supported years. */
export function later(fields: DateFields, months: number, seconds: number): DateFields | undefined {
  const month = fields.year * 12 + fields.month - 1 + months;
  const year = Math.floor(month / 12);
  const monthOfYear = month - year * 12 + 1;
  const day = dayNumber(year, monthOfYear, Math.min(fields.day, daysOf(year, monthOfYear)));
  const [whole, rest] = splitSeconds(fields.seconds + seconds);
  const all = (fields.hours * 60 + fields.minutes) * 60 + whole;
  const days = Math.floor(all / 86_400);
  if (Math.abs(day + days) > 1e8) return undefined;
  const left = all - days * 86_400;
  const minutes = Math.floor(left / 60);
  return fieldsAt(day + days, Math.floor(minutes / 60), minutes % 60, (left % 60) + rest, fields.zone);
}
