/** Runs a component's work every hour. */
import type { Installation, Platform } from './contract.js';

const hourMs = 3_600_000;

/**
 * Runs work at startup and every hour, never concurrently. With several servers, runs on the leader only.
 * `stop` waits for the last run.
 * @param failure log message if the work throws
 */
export function hourly(
  { store, log }: Pick<Platform, 'store' | 'log'>,
  work: () => Promise<unknown>,
  failure: string,
): Required<Pick<Installation, 'start' | 'stop'>> {
  let working: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    if (!store.coordination.leads) return;
    working = working.then(work).catch((error: unknown) => log.error({ err: error }, failure));
  };
  return {
    start() {
      look();
      timer = setInterval(look, hourMs).unref();
    },
    async stop() {
      clearInterval(timer);
      await working;
    },
  };
}
