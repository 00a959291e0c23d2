/** Numbers of the outbox for those who watch the server. */
import { type Measure, measure, measureBy } from '../../lib/component/basics.js';
import type { Store } from '../../lib/component/store.js';
import { outboxRange, stagedAt } from './outbox.js';

/** A long outbox is not read through each time. */
const maxCounted = 20_000;

/**
 * @param outcomes attempts so far, by what came of them
 * @param now milliseconds since the epoch
 */
export async function outboxMeasures(
  store: Store,
  outcomes: Iterable<readonly [string, number]>,
  now: number,
): Promise<readonly Measure[]> {
  let [waiting, oldest] = [0, now];
  for await (const keys of store.keys(outboxRange())) {
    for (const key of keys) oldest = Math.min(oldest, stagedAt(key));
    waiting += keys.length;
    if (waiting >= maxCounted) break;
  }
  return [
    measure('gauge', 'outbox_deliveries', `Deliveries that are owed; at most ${maxCounted} are counted.`, waiting),
    measure('gauge', 'outbox_oldest_seconds', 'The age of the oldest of these.', (now - oldest) / 1000),
    measureBy(
      { kind: 'counter', name: 'webhook_attempts_total', help: 'Attempts to deliver, by what came of them.' },
      'outcome',
      outcomes,
    ),
  ];
}
