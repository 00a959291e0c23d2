/**
 * Aggregates over the rows of a group (SPARQL 1.1 18.5.1). After an error or an unbound variable, the result is unbound. COUNT
 * and SAMPLE skip errors.
 */

import { LwsError } from '../../tools/errors.js';
import { joinTokens, type TermKey } from '../access/terms.js';
import { calculate } from '../expressions/arithmetic.js';
import { compareValues } from '../expressions/comparison.js';
import { maxCharacters, numberValue, textValue, tooLong, toToken, type Value } from '../expressions/values.js';
import type { Aggregate, Row, Slot } from '../plan/plan.js';

export interface Accumulator {
  /** Adds a row to the group. @param times count of equal rows (default: 1) */
  add(row: Row, times?: number): void;
  result(): TermKey | undefined;
}

interface Fold {
  /** Adds a value. @param times count of equal values */
  take(value: Value, times: number): void;
  result(): Value | undefined;
}

const folds: Readonly<Record<Aggregate['name'], (aggregate: Aggregate) => Fold>> = {
  count: () => {
    let count = 0;
    return { take: (_, times) => (count += times), result: () => countValue(count) };
  },
  sum,
  avg: () => {
    const total = sum();
    let count = 0;
    return {
      take(value, times) {
        count += times;
        total.take(value, times);
      },
      result() {
        const whole = total.result();
        return count === 0 ? whole : whole && calculate('/', whole, countValue(count));
      },
    };
  },
  min: () => extreme(1),
  max: () => extreme(-1),
  sample: () => {
    let first: Value | undefined;
    return {
      take(value) {
        first ??= value;
      },
      result: () => first,
    };
  },
  group_concat: ({ separator }) => texts(separator),
};

/** @throws LwsError `query-limit` for a count that a double cannot represent exactly, which weights make possible */
export function countValue(count: number): Value {
  if (Number.isSafeInteger(count)) return numberValue(count, 'integer');
  throw new LwsError('query-limit', `The query counts more than ${Number.MAX_SAFE_INTEGER} rows. The limit is fixed.`);
}

function sum(): Fold {
  // While all values are integers, the sum is a JavaScript number: creating a `Value` for each sum is slower.
  let whole: number | undefined = 0;
  let total: Value | undefined;
  return {
    take(value, times) {
      const isWhole = value.numberType === 'integer' && whole !== undefined;
      const next = isWhole ? whole! + times * (value.number ?? Number.NaN) : Number.NaN;
      if (Number.isSafeInteger(next) && Number.isSafeInteger(value.number)) {
        whole = next;
        return;
      }
      if (whole !== undefined) total = numberValue(whole, 'integer');
      whole = undefined;
      const product = times === 1 ? value : calculate('*', value, numberValue(times, 'integer'));
      total = total && product && calculate('+', total, product);
    },
    result: () => (whole === undefined ? total : numberValue(whole, 'integer')),
  };
}

function extreme(sign: 1 | -1): Fold {
  let found: Value | undefined;
  return {
    take(value) {
      if (!found || compareValues(found, value) * sign > 0) found = value;
    },
    result: () => found,
  };
}

/** Returns GROUP_CONCAT, which joins the values of STR(). A blank node has no STR() and makes the result an error. */
function texts(separator: string): Fold {
  let text: string | undefined;
  let isBroken = false;
  return {
    take({ kind, text: next }, times) {
      if (kind === 'blank') isBroken = true;
      // If value and separator are empty, the value is added only once, since repeating it changes nothing.
      for (let left = next + separator === '' ? 1 : times; left > 0; left--) {
        text = text === undefined ? next : text + separator + next;
        if (text.length > maxCharacters) throw tooLong();
      }
    },
    result: () => (isBroken ? undefined : textValue(text ?? '')),
  };
}

/** Returns the accumulator of COUNT(DISTINCT *), which counts rows that differ in the given slots. */
function countOfSolutions(slots: readonly Slot[]): Accumulator {
  const seen = new Set<string>();
  return {
    add: (row) => void seen.add(joinTokens(row, slots)),
    result: () => toToken(numberValue(seen.size, 'integer')),
  };
}

const passesErrors: ReadonlySet<Aggregate['name']> = new Set(['count', 'sample']);

/** Returns the accumulator of an aggregate. @param hold called for each value that the group may keep in memory */
export function accumulator(aggregate: Aggregate, hold: (value: Value | undefined) => void): Accumulator {
  const { name, expression, isDistinct, solution } = aggregate;
  if (isDistinct && !expression) return countOfSolutions(solution);
  const fold = folds[name](aggregate);
  const seen = isDistinct ? new Set<TermKey>() : undefined;
  const anything = numberValue(1, 'integer');
  let isBroken = false;
  return {
    add(row, times = 1) {
      const value = expression ? expression.evaluate(row) : anything;
      hold(value);
      if (!value) {
        isBroken ||= !passesErrors.has(name);
        return;
      }
      if (seen) {
        const token = toToken(value)!;
        if (seen.has(token)) return;
        seen.add(token);
      }
      fold.take(value, isDistinct ? 1 : times);
    },
    result() {
      const value = isBroken ? undefined : fold.result();
      if (name === 'group_concat') hold(value);
      return toToken(value);
    },
  };
}
