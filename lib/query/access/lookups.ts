/**
 * Batched lookups. Several run concurrently, each with an open iterator, because the round trip to LevelDB's threads costs more
 * than the read itself.
 */
import type { KeyIterators } from './key-iterators.js';
import type { KeyPrefix } from './key-reader.js';

/** Number of concurrent lookups, each with its own iterator. */
const lanes = 8;
/** Maximum number of keys per read. */
const maxAtATime = 1000;

/** Number of keys of recent lookups, to size the next reads. */
interface Expected {
  keys: number;
}

/** Result of `take`. `false`: no more keys. A string: the key to continue at. Otherwise: the next keys. */
type Answer = string | boolean | undefined;
/** Like `Answer`, or a promise of it. */
type Answering = Answer | Promise<Answer> | Promise<void>;

/** Handles the keys of a lookup. */
interface Reading<Of> {
  readonly take: (keys: readonly string[], of: Of) => Answering;
  /** Key to start at, if the first keys of the prefix are not needed. */
  readonly startOf?: (of: Of) => string | undefined;
}

/** Reads the keys with each prefix, and passes them on in parts. */
export async function readPrefixes<Of>(
  iterators: KeyIterators,
  wanted: readonly (readonly [prefix: KeyPrefix, of: Of])[],
  { take, startOf }: Reading<Of>,
): Promise<void> {
  // Neighboring keys are read in sequence.
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
      // LevelDB may return fewer keys than requested. Only an empty result or a key after the prefix is the end.
      if (answer === false || keys.length === 0 || count < keys.length) break;
      if (typeof answer === 'string') iterator.seek(answer);
    }
    // Requests one key more than expected: the first one after the prefix shows the end. Each further key costs a string for nothing.
    expected.keys = Math.min(maxAtATime, Math.max(2, Math.ceil((expected.keys + read + 1) / 2)));
  });
}
