/**
 * Many lookups at once: several run concurrently, each with an iterator that is kept open, since the round trip to LevelDB's threads costs
 * more than the read itself.
 */
import type { KeyIterators } from './key-iterators.js';
import type { KeyPrefix } from './key-reader.js';

/** Lookups that run side by side, each with an iterator of its own. */
const lanes = 8;
/** The largest number of keys that is asked for at a time. */
const maxAtATime = 1000;

/** How many keys the last lookups had, so that the next asks for about as many. */
interface Expected {
  keys: number;
}

/** What `take` wants next. `false`: no more keys; a string: the key to continue at; anything else: the next keys. */
type Answer = string | boolean | undefined;
/** The same, or a promise of it. */
type Answering = Answer | Promise<Answer> | Promise<void>;

/** What is done with the keys of a lookup. */
interface Reading<Of> {
  readonly take: (keys: readonly string[], of: Of) => Answering;
  /** The key to start at, when the first keys of the prefix are of no use. */
  readonly startOf?: (of: Of) => string | undefined;
}

/** Reads what begins with each prefix, and hands it over in parts. */
export async function readPrefixes<Of>(
  iterators: KeyIterators,
  wanted: readonly (readonly [prefix: KeyPrefix, of: Of])[],
  { take, startOf }: Reading<Of>,
): Promise<void> {
  // Keys that lie near each other are read one after the other.
  const sorted = [...wanted].sort(([a], [b]) => (a.prefix < b.prefix ? -1 : 1));
  const share = Math.ceil(sorted.length / lanes);
  const run = async (from: number): Promise<void> => {
    const expected: Expected = { keys: 4 };
    for (const [prefix, of] of sorted.slice(from, from + share))
      await readPrefix(iterators, prefix, expected, { take: (keys) => take(keys, of), start: startOf?.(of) });
  };
  await Promise.all(Array.from({ length: Math.min(lanes, sorted.length) }, (_, lane) => run(lane * share)));
}

async function readPrefix(
  iterators: KeyIterators,
  { index, prefix }: KeyPrefix,
  expected: Expected,
  { take, start }: { readonly take: (keys: readonly string[]) => Answering; readonly start: string | undefined },
): Promise<void> {
  await iterators.lend(index, async (iterator) => {
    iterator.seek(start ?? prefix);
    let read = 0;
    for (let ask = expected.keys; ; ask = Math.min(maxAtATime, 4 * ask)) {
      const keys = await iterator.nextv(ask);
      let count = keys.length;
      while (count > 0 && !keys[count - 1]!.startsWith(prefix)) count--;
      read += count;
      const told = take(count === keys.length ? keys : keys.slice(0, count));
      const answer = told instanceof Promise ? await told : told;
      // LevelDB may give fewer than were asked for; only none, or a key after the prefix, is the end.
      if (answer === false || keys.length === 0 || count < keys.length) break;
      if (typeof answer === 'string') iterator.seek(answer);
    }
    // One key more than expected: the first one behind the prefix shows the end. Each further key costs a string for nothing.
    expected.keys = Math.min(maxAtATime, Math.max(2, Math.ceil((expected.keys + read + 1) / 2)));
  });
}
