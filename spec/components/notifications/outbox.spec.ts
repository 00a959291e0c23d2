/** What a write decides for those who subscribed: once for each of them, however many subscriptions they have. */
import { expect } from 'chai';
import { Distribution } from '../../../components/notifications/distribution.js';
import { Outbox, outboxRange } from '../../../components/notifications/outbox.js';
import { Subscriptions, subscriptionKey } from '../../../components/notifications/subscriptions.js';
import type { Authorizer, Question } from '../../../lib/authorization/authorizer.js';
import { createLog } from '../../../lib/log.js';
import { newRevision, type ResourceRecord } from '../../../lib/storage/records.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

describe('The outbox', () => {
  let memory: MemoryStore;
  const asked: Question[] = [];
  /** Whether the resource was there in the state that was asked of. */
  const found: boolean[] = [];
  const readers = new Set(['did:example:a', 'did:example:b']);
  const fields = { topics: [root], created: 1, expires: Number.MAX_SAFE_INTEGER, active: true, failures: 0 };

  before(async () => {
    memory = await memoryStore();
    const { store } = memory;
    const subscriptions = await Subscriptions.open(store, root, Date.now);
    const log = createLog('silent');
    const distribution: Distribution = new Distribution({ log, stage: (tx, owed) => outbox.deliver(tx, owed) });
    const allows = (question: Question): Promise<boolean> => {
      asked.push(question);
      found.push(question.view.record(question.iri) !== undefined);
      return Promise.resolve(readers.has(question.access.principal!.subject));
    };
    const outbox: Outbox = new Outbox({
      storage: root,
      authorizer: { allows } as unknown as Authorizer,
      subscriptions,
      distribution,
      clock: Date.now,
      includeActor: false,
      followers: new Set(),
      channels: { covering: () => [] },
    });
    await outbox.open(store);
    await store.transact((tx) => {
      for (const name of ['a', 'b', 'c'])
        for (let at = 0; at < 5; at++) {
          const id = `${name}${at}`;
          const subscription = { id, subscriber: `did:example:${name}`, inbox: `https://${id}.example/`, ...fields };
          tx.putEntry(subscriptionKey(id), JSON.stringify(subscription));
        }
    });
  });
  after(() => memory.dispose());

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
    const told: string[] = [];
    for await (const entries of memory.store.entries(outboxRange()))
      for (const [, value] of entries) told.push((JSON.parse(value) as { subscription: string }).subscription);
    const each = ['a', 'b'].flatMap((name) => [0, 1, 2, 3, 4].map((at) => `${name}${at}`));
    expect(told).to.have.members([...each, ...each]);
  });
});
