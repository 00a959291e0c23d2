/** What a write decides and stages for those who subscribed: not more for more subscriptions. */
import { expect } from 'chai';
import { Distribution } from '../../../components/notifications/distribution.js';
import { Outbox, outboxRange } from '../../../components/notifications/outbox.js';
import type { Subscription } from '../../../components/notifications/subscription.js';
import { Subscriptions, subscriptionKey } from '../../../components/notifications/subscriptions.js';
import { Tallies } from '../../../lib/authentication/tally.js';
import type { Authorizer, Question, Standing } from '../../../lib/authorization/authorizer.js';
import { createLog } from '../../../lib/log.js';
import { newRevision, type ResourceRecord } from '../../../lib/storage/state/records.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

describe('The outbox', () => {
  let memory: MemoryStore;
  let distributions: Record<Standing, Distribution>;
  let subscriptions: Subscriptions;
  let asked: Question[] = [];
  /** Whether the resource was there in the state that was asked of. */
  let found: boolean[] = [];
  /** Subscriptions that were looked at one by one. */
  let looked = 0;
  let isPublic = false;
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
    const log = createLog('silent');
    const distributionTo = (standing: Standing): Distribution =>
      new Distribution({
        ...{ log, standing },
        stage: (tx, owed) => outbox.deliver(tx, owed),
        idsOf: (...owed) => subscriptions.idsOf(...owed),
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
    const outbox: Outbox = new Outbox({
      storage: root,
      authorizer: { allows } as unknown as Authorizer,
      subscriptions,
      distributions,
      clock: Date.now,
      includeActor: false,
      followers: new Set(),
      channels: { covering: () => [] },
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
  /** Who is told, once nothing waits. */
  async function told(): Promise<string[]> {
    for (const each of Object.values(distributions)) {
      each.run(memory.store);
      while (each.sequences.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // Nothing waits any more when it is staged.
    await memory.store.transact(() => {});
    const all: string[] = [];
    for await (const entries of memory.store.entries(outboxRange()))
      for (const [, value] of entries) all.push((JSON.parse(value) as { subscription: string }).subscription);
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

  it('Rule 16.4: asks once for each subscriber and change, of the state before a deletion', async () => {
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

  for (const standing of ['known', 'stranger'] as const)
    it(`Rule 16.12: what all may read is one question and one entry for 2 000 subscriptions (${standing})`, async () => {
      isPublic = true;
      await subscribe(700, { from: 'x', isStranger: standing === 'stranger' });
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

  it('Rule 16.12: what not all may read is one question for each subscriber, who alone are told', async () => {
    await subscribe(100, { from: 'x' });
    await memory.store.transact((tx) => {
      tx.putRecord(record('made'));
      tx.changed({ after: record('made') });
    });
    expect(asked).to.have.length(4);
    expect(await told()).to.have.length(200);
  });

  it('Rule 16.12: who subscribes while an event waits is not told of it', async () => {
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
});
