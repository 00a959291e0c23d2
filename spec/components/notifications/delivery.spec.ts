/** Deliveries to subscribers that are no controllers: attempts have a rate, and lines are read in pages. */

import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { Deliveries } from '../../../components/notifications/delivery/delivery.js';
import { type Delivery, inboxName, outboxRange } from '../../../components/notifications/delivery/outbox.js';
import type { Subscription } from '../../../components/notifications/delivery/subscription.js';
import { Subscriptions, subscriptionKey } from '../../../components/notifications/delivery/subscriptions.js';
import { Tallies } from '../../../lib/authentication/tally.js';
import { entryKey } from '../../../lib/storage/keys/records.js';
import { createLog } from '../../../lib/tools/log.js';
import type { GuardedFetch } from '../../../lib/tools/outbound/guarded-fetch.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';
import { until } from '../../support/until.js';

const activity = { id: 'urn:a', type: ['Create'], object: { id: `${root}a`, type: [] }, published: '' } as never;

const log = createLog('silent');

describe('notifications/delivery', () => {
  let memory: MemoryStore;
  let deliveries: Deliveries;
  /** Start times of attempts, on the clock of `performance`, with their inboxes. */
  let attempts: { readonly at: number; readonly inbox: string }[];
  let status: number;
  beforeEach(async () => {
    memory = await memoryStore();
    [attempts, status] = [[], 503];
  });
  afterEach(async () => {
    await deliveries.stop();
    await memory.dispose();
  });

  async function start(perSecond: number): Promise<void> {
    deliveries = new Deliveries({
      store: memory.store,
      storage: root,
      subscriptions: await Subscriptions.open({
        store: memory.store,
        clock: Date.now,
        tally: (kind) => new Tallies().of(kind, root),
      }),
      fetch: (async (url: URL) => {
        attempts.push({ at: performance.now(), inbox: url.href });
        return { status };
      }) as unknown as GuardedFetch,
      key: { keyId: 'urn:key', key: generateKeyPairSync('ed25519').privateKey } as never,
      clock: Date.now,
      log,
      ...{ maxAttempts: 5, backoffMs: 1, maxFailures: 1000, maxAtOnce: 64, maxPerHost: 4 },
      perSecond: { known: perSecond, stranger: perSecond },
    });
    await deliveries.start();
  }
  const subscription = (id: string, more: Partial<Subscription>): Subscription => ({
    ...{ id, subscriber: 'did:example:a', inbox: `https://${id}.example/`, topics: [root], created: 1 },
    ...{ expires: Number.MAX_SAFE_INTEGER, active: true, failures: 0, ...more },
  });
  const owe = (deliveriesOf: readonly Delivery[], subscriptions: readonly Subscription[]): Promise<void> =>
    memory.store.transact((tx) => {
      for (const each of subscriptions) tx.putEntry(subscriptionKey(each.id), JSON.stringify(each));
      for (const [at, each] of deliveriesOf.entries())
        tx.putEntry(entryKey('outbox', inboxName(each.inbox), String(at).padStart(12, '0')), JSON.stringify(each));
    });
  const idle = async (): Promise<void> => {
    await until(() => !deliveries.isBusy);
  };
  const left = async (): Promise<number> => {
    let count = 0;
    for await (const keys of memory.store.keys(outboxRange())) count += keys.length;
    return count;
  };

  for (const [callerClass, isStranger] of [
    ['known', false],
    ['stranger', true],
  ] as const)
    it(`begins attempts at the rate of a ${callerClass}, retries included (rule 16.12)`, async () => {
      const all = Array.from({ length: 8 }, (_, at) => subscription(`s${at}`, { from: 'x', isStranger }));
      await owe(
        all.map(({ id, inbox }) => ({ inbox, subscriptions: [id], activity })),
        all,
      );
      const began = performance.now();
      await start(50);
      await idle();
      expect(attempts).to.have.length(8 * 5);
      expect(await left()).to.equal(0);
      // No attempt begins before its turn: load can only make them later. A timer may end a millisecond early.
      for (const [number, { at }] of attempts.entries()) expect(at - began).to.be.at.least(number * 20 - 2);
    });

  it('does not wait for the rate of others with deliveries to controllers (rule 16.12)', async () => {
    const [other, own] = [subscription('other', { from: 'x' }), subscription('own', {})];
    const toOthers = { inbox: other.inbox, activity, subscriptions: Array.from({ length: 50 }, () => other.id) };
    await owe([toOthers, { inbox: own.inbox, subscriptions: [own.id], activity }], [other, own]);
    status = 200;
    await start(1);
    await until(() => attempts.some(({ inbox }) => inbox === own.inbox));
    expect(attempts.filter(({ inbox }) => inbox === other.inbox).length).to.be.below(50);
  });

  it('delivers once for each subscription of an entry, also behind one that failed (rule 16.8)', async () => {
    const all = ['a', 'b', 'c'].map((id) => subscription(id, { inbox: 'https://one.example/' }));
    await owe([{ inbox: 'https://one.example/', subscriptions: ['a', 'b', 'c'], activity }], all);
    status = 404;
    await start(10);
    await idle();
    expect(attempts).to.have.length(3);
    expect(await left()).to.equal(0);
    for (const { id } of all) {
      const entry = JSON.parse(memory.store.entry(subscriptionKey(id))!) as Subscription;
      expect(entry.failures, id).to.equal(1);
    }
  });

  it('delivers entries of earlier versions with one subscription (rule 16.8)', async () => {
    const one = subscription('a', {});
    await owe([{ inbox: one.inbox, subscription: 'a', activity }], [one]);
    status = 200;
    await start(10);
    await idle();
    expect(attempts).to.have.length(1);
    expect((JSON.parse(memory.store.entry(subscriptionKey('a'))!) as Subscription).lastSuccess).to.be.a('number');
  });

  it('reads one entry for each failed attempt, for any number of later entries (rule 16.8)', async () => {
    const one = subscription('a', {});
    await owe(
      Array.from({ length: 2000 }, () => ({ inbox: one.inbox, subscriptions: ['a'], activity })),
      [one],
    );
    let [rows, entries] = [0, memory.store.entries.bind(memory.store)];
    memory.store.entries = async function* (...given) {
      for await (const block of entries(...given)) {
        if (given[0].gte.includes('outbox')) rows += block.length;
        yield block;
      }
    };
    status = 404;
    await start(10);
    await until(() => attempts.length >= 20);
    await deliveries.stop();
    expect(rows).to.be.at.most(attempts.length + 1);
  });
});
