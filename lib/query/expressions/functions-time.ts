/** Functions of dates and times (SPARQL 1.1 17.4.5) and of partial dates such as `xsd:gYear`, and their arithmetic. */
import { xsd } from '../../rdf/vocabulary.js';
import { type ArithmeticOperator, calculate } from './arithmetic.js';
import { type DatedValue, type DateFields, fieldsOf, later, partFieldsOf, writeFields, zoneMinutes } from './dates.js';
import { writeDuration } from './durations.js';
import { type Make, type Makes, unary } from './function-forms.js';
import { numberValue, textValue, typedValue, type Value } from './values.js';

const isDated = (kind: Value['kind']): kind is DatedValue => kind === 'dateTime' || kind === 'date' || kind === 'time';

type Field = keyof DateFields;
const [ofDate, ofTime] = [
  ['year', 'month', 'day', 'zone'],
  ['hours', 'minutes', 'seconds', 'zone'],
] as const;
const fieldsByKind: Readonly<Record<DatedValue, readonly Field[]>> = {
  dateTime: [...ofDate, ...ofTime],
  date: ofDate,
  time: ofTime,
};

/** Returns the fields of a value, or `undefined` if the value is invalid, or its type lacks the requested field. */
function fieldsWith(
  field: Field,
  { kind, text, datatype = '' }: Value,
): { readonly [F in Field]?: unknown } | undefined {
  if (isDated(kind)) return fieldsByKind[kind].includes(field) ? fieldsOf(kind, text) : undefined;
  return kind === 'other' ? partFieldsOf(datatype, text) : undefined;
}

/** Creates a function of a field of a date or time. For types without the field, the result is an error. */
const ofField = <F extends Field>(field: F, apply: (value: DateFields[F]) => Value | undefined): Make =>
  unary((value) => {
    const found = fieldsWith(field, value)?.[field];
    return found === undefined ? undefined : apply(found as DateFields[F]);
  });
const integer = (value: number): Value => numberValue(value, 'integer');

export const timeFunctions: Makes = {
  now: (_args, { now }) => {
    const value = typedValue(now.toISOString(), `${xsd.namespace}dateTime`);
    return () => value;
  },
  year: ofField('year', integer),
  month: ofField('month', integer),
  day: ofField('day', integer),
  hours: ofField('hours', integer),
  minutes: ofField('minutes', integer),
  seconds: ofField('seconds', (seconds) => numberValue(seconds, 'decimal')),
  timezone: ofField('zone', (zone) => {
    const minutes = zoneMinutes(zone);
    return minutes === undefined ? undefined : dayTimeDuration(minutes * 60);
  }),
  tz: ofField('zone', (zone) => textValue(zone)),
};

const dayTimeDuration = (seconds: number): Value =>
  typedValue(writeDuration(0, seconds), `${xsd.namespace}dayTimeDuration`);

/** Calculates with numbers, and with dates and times: their difference, and the sum or difference with a duration. */
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
