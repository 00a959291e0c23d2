/** Sums, counts and extremes over the rows of a group. An error leaves the result unbound. It must not know groups. */
import { calculate } from './arithmetic.js';
import { compareValues } from './comparison.js';
import type { Aggregate, Row } from './plan.js';
import type { Token } from './terms.js';
import { numberValue, toToken, type Value } from './values.js';

export interface Accumulator {
  add(row: Row): void;
  result(): Token | undefined;
}

interface Fold {
  take(value: Value): void;
  result(): Value | undefined;
}

const folds: Readonly<Record<Aggregate['name'], () => Fold>> = {
  count: () => {
    let count = 0;
    return { take: () => count++, result: () => numberValue(count, 'integer') };
  },
  sum,
  avg: () => {
    const total = sum();
    let count = 0;
    return {
      take(value) {
        count++;
        total.take(value);
      },
      result() {
        const whole = total.result();
        return count === 0 ? whole : whole && calculate('/', whole, numberValue(count, 'integer'));
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
};

function sum(): Fold {
  let total: Value | undefined;
  let isEmpty = true;
  return {
    take(value) {
      if (isEmpty) total = value.kind === 'number' && value.number !== undefined ? value : undefined;
      else total = total && calculate('+', total, value);
      isEmpty = false;
    },
    result: () => (isEmpty ? numberValue(0, 'integer') : total),
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

export function accumulator({ name, expression, isDistinct }: Aggregate): Accumulator {
  const fold = folds[name]();
  const seen = isDistinct ? new Set<Token>() : undefined;
  const anything = numberValue(1, 'integer');
  return {
    add(row) {
      const value = expression ? expression.evaluate(row) : anything;
      if (!value) return;
      if (seen) {
        const token = toToken(value)!;
        if (seen.has(token)) return;
        seen.add(token);
      }
      fold.take(value);
    },
    result: () => toToken(fold.result()),
  };
}
