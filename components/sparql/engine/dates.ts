/** Dates, times and durations of XML Schema as numbers. Pure; it must not know terms. */

const dateForm = /^(-?\d{4,})-(\d\d)-(\d\d)(Z|[+-]\d\d:\d\d)?$/;
const timeForm = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/;

/** A time without a zone is one of the server's zone, as everywhere in Comunica. */
const ownZone = (): number => -new Date().getTimezoneOffset();

function zoneOf(text: string | undefined): number {
  if (text === undefined) return ownZone();
  if (text === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4));
  return text.startsWith('-') ? -minutes : minutes;
}

/** Milliseconds since the epoch; `undefined` when the text is no such date or time. */
export function instantOf(kind: 'dateTime' | 'date' | 'time', text: string): number | undefined {
  if (kind === 'time') return instantFrom('1972-12-31', text);
  if (kind === 'dateTime') {
    const cut = text.indexOf('T');
    return cut < 0 ? undefined : instantFrom(text.slice(0, cut), text.slice(cut + 1));
  }
  const zone = dateForm.exec(text)?.[4] ?? '';
  return instantFrom(zone === '' ? text : text.slice(0, -zone.length), `00:00:00${zone}`);
}

function instantFrom(dateText: string, timeText: string): number | undefined {
  const date = dateForm.exec(dateText);
  const time = timeForm.exec(timeText);
  if (!date || !time || date[4] !== undefined) return undefined;
  const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])];
  const [hours, minutes, seconds] = [Number(time[1]), Number(time[2]), Number(time[3])];
  if (hours > 24 || minutes > 59 || seconds >= 60 || (hours === 24 && (minutes > 0 || seconds > 0))) return undefined;
  const instant = new Date(0);
  instant.setUTCFullYear(year, month - 1, day);
  if (instant.getUTCMonth() !== month - 1 || instant.getUTCDate() !== day) return undefined;
  return instant.getTime() + ((hours * 60 + minutes - zoneOf(time[4])) * 60 + seconds) * 1000;
}

const durationForm = /^(-)?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** The months and the seconds of a duration. */
export function monthsAndSeconds(text: string): [months: number, seconds: number] | undefined {
  const parts = durationForm.exec(text);
  if (!parts || /[PT]$/.test(text)) return undefined;
  const [years, months, days, hours, minutes, seconds] = parts.slice(2).map((part) => Number(part ?? 0)) as number[];
  const sign = parts[1] ? -1 : 1;
  return [sign * (years! * 12 + months!), sign * (((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!)];
}
