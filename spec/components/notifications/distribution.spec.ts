/** Rule 16.12: the queue for callers other than controllers is bounded. */
import { expect } from 'chai';
import { FanOut, maxWaiting, waitingSpaces } from '../../../components/notifications/delivery/fan-out.js';
import { entryRange } from '../../../lib/storage/keys/records.js';
import { memoryStore } from '../../support/memory-store.js';

describe('notifications/distribution', () => {
  for (const [callerClass, perSecond, isBounded] of [
    ['stranger', 10, true],
    ['known', 40, true],
    ['controller', undefined, false],
  ] as const)
    it(`queues ${isBounded ? 'a limited' : 'an unlimited'} number of events for a ${callerClass} (rule 16.12)`, async () => {
      const { store, dispose } = await memoryStore();
      const warnings: unknown[] = [];
      const log = { warn: (facts: unknown) => warnings.push(facts) } as never;
      const rate = perSecond === undefined ? {} : { perSecond };
      const distribution = new FanOut({ log, callerClass, ...rate, stage: () => 0, pageOf: () => ({ ids: [] }) });
      const waiting = async (): Promise<number> => {
        let count = 0;
        for await (const entries of store.entries(entryRange(waitingSpaces[callerClass]))) count += entries.length;
        return count;
      };
      const put = (from: number, count: number): Promise<void> =>
        store.transact((tx) => {
          for (let at = from; at < from + count; at++)
            distribution.put(tx, at.toString(36).padStart(12, '0'), { activity: {} as never, inboxes: [] });
        });
      await distribution.open(store);
      // No events are distributed in between.
      await distribution.stop();
      await put(0, maxWaiting);
      expect(await waiting()).to.equal(maxWaiting);
      for (const at of [1, 2]) await put(maxWaiting + at, 1);
      expect(await waiting()).to.equal(isBounded ? maxWaiting : maxWaiting + 2);
      expect(warnings).to.have.length(isBounded ? 1 : 0);
      await dispose();
    });
});
