/** Work of a write for its subscribers: independent of the number of subscriptions. */

import { expect } from 'chai';
import { FanOut } from '../../../components/notifications/delivery/fan-out.js';
import {
  type Delivery,
  Outbox,
  outboxRange,
  queuedInboxes,
} from '../../../components/notifications/delivery/outbox.js';
import type { Subscription } from '../../../components/notifications/delivery/subscription.js';
import { Subscriptions, subscriptionKey } from '../../../components/notifications/delivery/subscriptions.js';
import { Tallies } from '../../../lib/authentication/tally.js';
import type { Authorizer, CallerClass, Question } from '../../../lib/authorization/authorizer.js';
import { newRevision, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { createLog } from '../../../lib/tools/log.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';
import { until } from '../../support/until.js';

const log = createLog('silent');

describe('The outbox', () => {
  let memory: MemoryStore;
  let distributions: Record<CallerClass, FanOut>;
  let subscriptions: Subscriptions;
  let asked: Question[] = [];
  /** True if the resource existed in the state of the decision. */
  let found: boolean[] = [];
  /** Number of subscriptions that were read one by one. */
  let looked = 0;
  let isPublic = false;
  let outbox: Outbox;
  const readers = new Set(['did:example:a', 'did:example:b']);
  const fields = { topics: [root], created: 1, expires: Number.MAX_SAFE_INTEGER, active: true, failures: 0 };

  beforeEach(async () => {
    memory = await memoryStore();
    [asked, found, looked, isPublic] = [[], [], 0, false];
    const { store } = memory;
    subscriptions = await Subscriptions.open({ store, clock: Date.now, tally: (kind) => new Tallies().of(kind, root) });
    const get = subscriptions.get.bind(subscriptions);
    subscriptions.get = (id) => {
      looked++;
      return get(id);
    };
    const distributionTo = (callerClass: CallerClass): FanOut =>
      new FanOut({
        ...{ log, callerClass },
        stage: (tx, owed) => outbox.deliver(tx, owed),
        pageOf: (...owed) => subscriptions.pageOf(...owed),
      });
    distributions = {
      controller: distributionTo('controller'),
      known: distributionTo('known'),
      stranger: distributionTo('stranger'),
    };
    const allows = (question: Question): Promise<boolean> => {
      asked.push(question);
      found.push(question.view.record(question.iri) !== undefined);
      return Promise.resolve(isPublic || readers.has(question.access.principal!.subject));
    };
    outbox = new Outbox({
      storage: root,
      authorizer: { allows } as unknown as Authorizer,
      subscriptions,
      distributions,
      clock: Date.now,
      includeActor: false,
      followers: new Set(),
      channels: { areNone: true, covering: () => [] },
    });
    await outbox.open(store);
  });
  afterEach(async () => {
    await Promise.all(Object.values(distributions).map((each) => each.stop()));
    await memory.dispose();
  });

  /** Five of each of three. */
  const subscribe = (count: number, more: Partial<Subscription> = {}): Promise<void> =>
    memory.store.transact((tx) => {
      for (const name of ['a', 'b', 'c'])
        for (let at = 0; at < count; at++) {
          const id = `${name}${at}`;
          const subscription = { id, subscriber: `did:example:${name}`, inbox: `https://${id}.example/`, ...fields };
          tx.putEntry(subscriptionKey(id), JSON.stringify({ ...subscription, ...more }));
        }
    });
  /** Returns the notified inboxes, once nothing waits. */
  async function told(): Promise<string[]> {
    for (const each of Object.values(distributions)) {
      each.run(memory.store);
      await until(() => each.sequences.length === 0);
    }
    // Staged when no other event waits.
    await memory.store.transact(() => {});
    const all: string[] = [];
    for await (const entries of memory.store.entries(outboxRange()))
      for (const [, value] of entries) all.push(...(JSON.parse(value) as Delivery).subscriptions!);
    return all;
  }

  const record = (name: string): ResourceRecord => ({
    iri: root + name,
    kind: 'rdf',
    mediaType: 'text/turtle',
    size: 0,
    triples: 0,
    revision: newRevision(),
    created: 1,
    modified: 1,
  });

  it('decides once for each subscriber and change, for a deletion on the state before it (rule 16.4)', async () => {
    await subscribe(5);
    const made = record('made');
    await memory.store.transact((tx) => {
      tx.putRecord(made);
      tx.changed({ after: made });
    });
    expect(asked.map(({ access }) => access.principal!.subject)).to.have.members([...readers, 'did:example:c']);
    asked.length = 0;
    await memory.store.transact((tx) => {
      tx.deleteRecord(made);
      tx.changed({ before: made });
      expect(tx.record(made.iri)).to.equal(undefined);
    });
    expect(asked).to.have.length(3);
    expect(found).to.deep.equal(Array.from({ length: 6 }, () => true));
    const each = ['a', 'b'].flatMap((name) => [0, 1, 2, 3, 4].map((at) => `${name}${at}`));
    expect(await told()).to.have.members([...each, ...each]);
  });

  for (const callerClass of ['known', 'stranger'] as const)
    it(`a resource readable by all takes one decision and one entry for 2 000 subscriptions (${callerClass}) (rule 16.12)`, async () => {
      isPublic = true;
      await subscribe(700, { from: 'x', isStranger: callerClass === 'stranger' });
      const entries: string[] = [];
      memory.store.onStage((tx) => {
        if (tx.changes.length > 0) entries.push(...tx.entries.keys());
      });
      memory.store.onTransaction((tx) => {
        if (tx.changes.length > 0) looked = 0;
      });
      let lookedAt = 0;
      memory.store.onStage((tx) => {
        if (tx.changes.length > 0) lookedAt = looked;
      });
      await memory.store.transact((tx) => {
        tx.putRecord(record('made'));
        tx.changed({ after: record('made') });
      });
      expect(asked).to.have.length(1);
      expect(entries).to.have.length(1);
      expect(lookedAt).to.equal(0);
      expect(await told()).to.have.length(2100);
    });

  it('other resources take one decision for each subscriber, and only authorized ones are notified (rule 16.12)', async () => {
    await subscribe(100, { from: 'x' });
    await memory.store.transact((tx) => {
      tx.putRecord(record('made'));
      tx.changed({ after: record('made') });
    });
    expect(asked).to.have.length(4);
    expect(await told()).to.have.length(200);
  });

  it('a subscriber that subscribes while an event waits is not notified of it (rule 16.12)', async () => {
    isPublic = true;
    const run = distributions.known.run.bind(distributions.known);
    distributions.known.run = () => {};
    const make = (name: string): Promise<void> =>
      memory.store.transact((tx) => {
        tx.putRecord(record(name));
        tx.changed({ after: record(name) });
      });
    await subscribe(1, { from: 'x' });
    await make('made');
    await memory.store.transact((tx) => {
      const late = { id: 'late', subscriber: 'did:example:a', inbox: 'https://a.example/', ...fields, from: 'x' };
      tx.putEntry(subscriptionKey('late'), JSON.stringify(late));
    });
    await make('next');
    distributions.known.run = run;
    expect(await told()).to.have.members(['a0', 'b0', 'c0', 'a0', 'b0', 'c0', 'late']);
  });

  describe('with a backlog', () => {
    const count = 20_000;
    const make = (name: string): Promise<void> =>
      memory.store.transact((tx) => {
        tx.putRecord(record(name));
        tx.changed({ after: record(name) });
      });
    const subscribeAll = (): Promise<void> =>
      memory.store.transact((tx) => {
        for (let at = 0; at < count; at++) {
          const id = `s${at}`;
          const subscription = { id, subscriber: 'did:example:a', inbox: 'https://dead.example/', ...fields };
          tx.putEntry(subscriptionKey(id), JSON.stringify(subscription));
        }
      });
    /** Entries staged by events, in their own transactions and later. */
    const staged = { own: 0, later: 0 };
    beforeEach(() => {
      [staged.own, staged.later] = [0, 0];
      memory.store.onStage(({ changes, entries }) => {
        const puts = [...entries].filter(([key, value]) => value !== null && !key.includes('subscriptions')).length;
        staged[changes.length > 0 ? 'own' : 'later'] += puts;
      });
    });

    it('a write reads at most 26 of 20 000 subscriptions to one inbox, and stages one entry (rule 16.12)', async () => {
      await subscribeAll();
      for (const callerClass of ['controller', 'known', 'stranger'] as const) distributions[callerClass].run = () => {};
      for (const [name, most] of [
        ['first', 26],
        // Subscriptions are not read while events are pending.
        ['second', 0],
        ['third', 0],
      ] as const) {
        [looked, staged.own] = [0, 0];
        await make(name);
        expect(looked, name).to.be.at.most(most);
        expect(staged.own, name).to.equal(1);
      }
    });

    it('deliveries of an event to one inbox are entries of up to 1 000 subscriptions each (rule 16.12)', async () => {
      await subscribeAll();
      looked = 0;
      await make('made');
      const ids = await told();
      expect(ids).to.have.length(count);
      expect(new Set(ids).size).to.equal(count);
      // As many pages, each written back, and one more to find the end.
      expect(staged.later).to.be.at.most(2 * (count / 1000) + 1);
      // Once for each page, and once for its inbox.
      expect(looked).to.be.at.most(2 * count + 100);
    });

    it('a subscription that was deactivated is not looked at (rule 16.8)', async () => {
      await subscribe(1000, { active: false });
      looked = 0;
      await make('made');
      expect([looked, staged.own, staged.later]).to.deep.equal([0, 0, 0]);
    });

    it('a start reads a few hundred of 20 000 pending deliveries to one inbox, and continues after the last', async () => {
      const { store } = memory;
      await store.transact((tx) => {
        for (let at = 0; at < count; at++)
          outbox.deliver(tx, { activity: {} as never, inboxes: ['https://dead.example/'] });
        outbox.deliver(tx, { activity: {} as never, inboxes: ['https://other.example/'] });
      });
      let [rows, last] = [0, ''];
      for await (const keys of store.keys(outboxRange()))
        for (const key of keys) last = key.split('\u0000').at(-1)! > last ? key.split('\u0000').at(-1)! : last;
      for (const name of ['keys', 'entries'] as const) {
        const read = store[name].bind(store) as (...given: unknown[]) => AsyncGenerator<unknown[]>;
        store[name] = async function* (...given: unknown[]) {
          for await (const block of read(...given)) {
            rows += block.length;
            yield block as never;
          }
        } as never;
      }
      const lines: (readonly [string, string])[] = [];
      for await (const line of queuedInboxes(store)) lines.push(line);
      expect(lines).to.have.length(2);
      expect(
        lines
          .map(([, sequence]) => sequence)
          .sort()
          .at(-1),
      ).to.equal(last);
      expect(rows).to.be.within(3, 500);
      rows = 0;
      await outbox.open(store);
      expect(rows).to.be.within(3, 500);
    });
  });
});
