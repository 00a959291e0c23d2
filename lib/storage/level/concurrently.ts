/** Processes many items with limited concurrency. */

/** Processes the items. @throws the first error, after the running work has ended; no further work starts after an error */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done && !hasFailed; next = rest.next())
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
  };
  const results = await Promise.allSettled(Array.from({ length: count }, worker));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
