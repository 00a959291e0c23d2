/** Functions of dates and times (SPARQL 1.1 17.4.5), and their arithmetic. */
import { xsd } from '../../rdf/vocabulary.js';
import { type ArithmeticOperator, calculate } from './arithmetic.js';
import { type DatedValue, type DateFields, fieldsOf, later, writeFields, zoneMinutes } from './dates.js';
import { writeDuration } from './durations.js';
import { type Make, type Makes, unary } from './function-forms.js';
import { numberValue, textValue, typedValue, type Value } from './values.js';

const isDated = (kind: Value['kind']): kind is DatedValue => kind === 'dateTime' || kind === 'date' || kind === 'time';

/** Function of a dateTime, or of a date or time with that field. */
const ofFields = (apply: (fields: DateFields) => Value | undefined, other?: DatedValue): Make =>
  unary(({ kind, text }) => {
    if (!isDated(kind) || (other !== undefined && kind !== 'dateTime' && kind !== other)) return undefined;
    const fields = fieldsOf(kind, text);
    return fields && apply(fields);
  });

export const timeFunctions: Makes = {
  now: (_args, { now }) => {
    const value = typedValue(now.toISOString(), `${xsd.namespace}dateTime`);
    return () => value;
  },
  year: ofFields(({ year }) => numberValue(year, 'integer'), 'date'),
  month: ofFields(({ month }) => numberValue(month, 'integer'), 'date'),
  day: ofFields(({ day }) => numberValue(day, 'integer'), 'date'),
  hours: ofFields(({ hours }) => numberValue(hours, 'integer'), 'time'),
  minutes: ofFields(({ minutes }) => numberValue(minutes, 'integer'), 'time'),
  seconds: ofFields(({ seconds }) => numberValue(seconds, 'decimal'), 'time'),
  timezone: ofFields(({ zone }) => {
    const minutes = zoneMinutes(zone);
    return minutes === undefined ? undefined : dayTimeDuration(minutes * 60);
  }),
  tz: ofFields(({ zone }) => textValue(zone)),
};

const dayTimeDuration = (seconds: number): Value =>
  typedValue(writeDuration(0, seconds), `${xsd.namespace}dayTimeDuration`);

/** Arithmetic of numbers, and of dates and times: differences, and addition or subtraction of a duration. */
export function calculateAny(operator: ArithmeticOperator, a: Value, b: Value): Value | undefined {
  if (a.kind === 'number') return calculate(operator, a, b);
  if ((operator !== '+' && operator !== '-') || !isDated(a.kind) || b.number === undefined) return undefined;
  if (operator === '-' && a.kind === b.kind)
    return a.number === undefined ? undefined : dayTimeDuration((a.number - b.number) / 1000);
  const sign = operator === '+' ? 1 : -1;
  if (b.kind === 'dayTimeDuration') return shifted(a.kind, a.text, 0, sign * b.number);
  const hasMonths = b.kind === 'yearMonthDuration' && a.kind !== 'time';
  return hasMonths ? shifted(a.kind, a.text, sign * b.number, 0) : undefined;
}

function shifted(kind: DatedValue, text: string, months: number, seconds: number): Value | undefined {
  const fields = fieldsOf(kind, text);
  const then = fields && later(fields, months, seconds);
  return then && typedValue(writeFields(kind, then), xsd.namespace + kind);
}
