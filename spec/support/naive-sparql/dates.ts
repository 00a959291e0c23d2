/** Parts and order of xsd:dateTime and xsd:date. A value without a timezone is in UTC, the implicit timezone of the server. */
import type { Term } from '@rdfjs/types';
import { xsd } from './terms.js';

export interface DateValue {
  readonly kind: 'dateTime' | 'date';
  readonly year: bigint;
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  /** Lexical form of the seconds. */
  readonly seconds: string;
  /** Lexical form: `Z`, `+01:00`, or empty. */
  readonly zone: string;
}

const pattern = /^(-?\d{4,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d(?:\.\d+)?))?(Z|[+-]\d\d:\d\d)?$/;

export function dateOf(term: Term): DateValue | undefined {
  if (term.termType !== 'Literal') return undefined;
  const kind = term.datatype.value === `${xsd}dateTime` ? 'dateTime' : 'date';
  if (kind === 'date' && term.datatype.value !== `${xsd}date`) return undefined;
  return parseDate(term.value, kind);
}

export function parseDate(text: string, kind: 'dateTime' | 'date'): DateValue | undefined {
  const found = pattern.exec(text);
  if (!found || (found[4] === undefined) !== (kind === 'date')) return undefined;
  const [, year, month, day, hours = '0', minutes = '0', seconds = '0', zone = ''] = found;
  const value = { month: Number(month), day: Number(day), hours: Number(hours), minutes: Number(minutes) };
  const days = new Date(Date.UTC(2000 + (Number(year) % 400), value.month, 0)).getUTCDate();
  const isDay = value.month >= 1 && value.month <= 12 && value.day >= 1 && value.day <= days;
  const isEndOfDay = value.hours === 24 && value.minutes === 0 && Number(seconds) === 0;
  if (!isDay || value.minutes > 59 || Number(seconds) >= 60 || (value.hours > 23 && !isEndOfDay)) return undefined;
  return { kind, year: BigInt(year!), ...value, seconds, zone };
}

/** Offset of a timezone from UTC, in minutes. */
export function zoneMinutes(zone: string): number {
  if (zone === '' || zone === 'Z') return 0;
  const size = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return zone.startsWith('-') ? -size : size;
}

/** Seconds since 2000, exact to a millisecond. */
const instant = ({ year, month, day, hours, minutes, seconds, zone }: DateValue): number => {
  const cycles = Number(year / 400n);
  const inCycle = Number(year % 400n);
  const time = Date.UTC(2000 + inCycle, month - 1, day, hours, minutes - zoneMinutes(zone)) / 1000;
  return cycles * 146_097 * 86_400 + time + Number(seconds);
};

/** @returns undefined if the two are of different types */
export function compareDates(a: DateValue, b: DateValue): number | undefined {
  return a.kind === b.kind ? Math.sign(instant(a) - instant(b)) : undefined;
}
