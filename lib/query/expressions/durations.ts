/** Durations of XML Schema as months and seconds. Pure functions. */
import { splitSeconds } from './dates.js';

const durationForm = /^(-)?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Returns the months and the seconds of a duration, or `undefined` if it is invalid or too large. */
export function monthsAndSeconds(text: string): [months: number, seconds: number] | undefined {
  const parts = durationForm.exec(text);
  if (!parts || /[PT]$/.test(text)) return undefined;
  const [years, months, days, hours, minutes, seconds] = parts.slice(2).map((part) => Number(part ?? 0)) as number[];
  const sign = parts[1] ? -1 : 1;
  const month = years! * 12 + months!;
  const second = ((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!;
  return Math.max(month, second) > Number.MAX_SAFE_INTEGER ? undefined : [sign * month, sign * second];
}

/** Returns the months of a duration with years and months only. Returns `undefined` for any other duration. */
export const monthsOf = (text: string): number | undefined =>
  /[DT]/.test(text) ? undefined : monthsAndSeconds(text)?.[0];

/** Returns the seconds of a duration without years and months. Returns `undefined` for any other duration. */
export const secondsOf = (text: string): number | undefined =>
  /^[^T]*[YM]/.test(text) ? undefined : monthsAndSeconds(text)?.[1];

/** Serializes a duration as in XPath (Functions and Operators 17.1.4). @param nothing text of the zero duration */
export function writeDuration(months: number, seconds: number, nothing = 'PT0S'): string {
  const month = Math.abs(months);
  const [whole, rest] = splitSeconds(Math.abs(seconds));
  const unit = (number: number, letter: string): string => (number === 0 ? '' : `${number}${letter}`);
  const date = unit(Math.floor(month / 12), 'Y') + unit(month % 12, 'M') + unit(Math.floor(whole / 86_400), 'D');
  const time =
    unit(Math.floor(whole / 3600) % 24, 'H') +
    unit(Math.floor(whole / 60) % 60, 'M') +
    unit(Number(((whole % 60) + rest).toFixed(6)), 'S');
  if (date === '' && time === '') return nothing;
  return `${months < 0 || seconds < 0 ? '-' : ''}P${date}${time && `T${time}`}`;
}
