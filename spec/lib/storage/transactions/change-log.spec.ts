/** Change log: commits after a position in order, its reach, and lookup by resource. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MemoryLevel } from 'memory-level';
import { metaKey, newRevision, type ResourceRecord } from '../../../../lib/storage/keys/records.js';
import type { Level } from '../../../../lib/storage/level/durable-level.js';
import { allChanges, type LoggedEvent, positionOfKey } from '../../../../lib/storage/log/change-entry.js';
import { ChangeLog, positionBefore } from '../../../../lib/storage/transactions/change-log.js';
import { checkStore } from '../../../../lib/storage/transactions/check.js';
import { Transaction } from '../../../../lib/storage/transactions/transaction.js';
import type { TransactionBase } from '../../../../lib/storage/transactions/transaction-base.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';

const record = (name: string): ResourceRecord => ({
  iri: root + name,
  kind: 'rdf',
  mediaType: 'text/turtle',
  size: 0,
  triples: 0,
  revision: newRevision(),
  created: 1,
  modified: 1,
  types: ['urn:T'],
  owner: 'did:example:a',
});

async function eventsAfter(log: ChangeLog, position: number): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let events = await log.next(position); events.length > 0; events = await log.next(found.at(-1)!.position))
    found.push(...events);
  return found;
}
const iriOf = ({ what }: LoggedEvent): string => ('id' in what ? what.id : (what.after ?? what.before)!.iri);
const refusal = async (log: ChangeLog, position: number): Promise<unknown> =>
  log.next(position).then(
    () => 'it reaches',
    (error: unknown) => (error as { code?: string }).code,
  );

describe('Change log', () => {
  let memory: MemoryStore;
  beforeEach(async () => {
    memory = await memoryStore();
  });
  afterEach(() => memory.dispose());
  const create = (name: string): Promise<void> =>
    memory.store.transact((tx) => {
      const made = record(name);
      tx.putRecord(made);
      tx.changed({ after: made });
      tx.actor = 'did:example:b';
    });

  it('has every event of a new storage as sent, with increasing positions (rule 16.11)', async () => {
    await create('a');
    await memory.store.transact((tx) => {
      const [before, after] = [tx.record(`${root}a`)!, { ...tx.record(`${root}a`)!, revision: newRevision() }];
      tx.putRecord(after);
      tx.changed({ before, after });
      tx.deleteRecord(after);
      tx.changed({ before: after });
      tx.announced({ id: `${root}x`, types: ['T'], inboxes: ['https://a.example/'] });
    });
    const events = await eventsAfter(memory.store.changes, 0);
    expect(events.map(iriOf)).to.deep.equal([root, `${root}a`, `${root}a`, `${root}a`, `${root}x`]);
    const positions = events.map(({ position }) => position);
    expect(positions).to.deep.equal([...new Set(positions)].sort((a, b) => a - b));
    expect(memory.store.changes.committed).to.equal(positions.at(-1));
    const { what, actor } = events[1]!;
    expect(actor).to.equal('did:example:b');
    expect(what)
      .to.have.property('event')
      .that.matches(/^urn:uuid:[\da-f-]{36}$/);
    expect(what).to.deep.include({
      after: { iri: `${root}a`, kind: 'rdf', types: ['urn:T'], owner: 'did:example:a' },
    });
    expect(events.slice(1).map(({ what: told }) => ['before' in told, 'after' in told])).to.deep.equal([
      [false, true],
      [true, true],
      [true, false],
      [false, false],
    ]);
    for (const [at, position] of positions.entries())
      expect(await eventsAfter(memory.store.changes, position)).to.deep.equal(events.slice(at + 1));
  });

  it('resumes in the middle of a transaction with thousands of events (rule 16.11)', async () => {
    await memory.store.transact((tx) => {
      tx.putEntry('\u0000any', 'thing');
      for (let at = 0; at < 1_234; at++) tx.announced({ id: `${root}${at}`, types: [], inboxes: [] });
    });
    const events = await eventsAfter(memory.store.changes, 0);
    expect(events).to.have.length(1_235);
    const after = await eventsAfter(memory.store.changes, events[700]!.position);
    expect(after.map(iriOf)).to.deep.equal(events.slice(701).map(iriOf));
    await create('next');
    expect((await eventsAfter(memory.store.changes, events.at(-1)!.position)).map(iriOf)).to.deep.equal([
      `${root}next`,
    ]);
  });

  it('is included in the check of the storage', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    const faults = async (): Promise<string[]> =>
      (await checkStore(memory.store)).faults.filter((fault) => fault.includes('log of changes'));
    expect(await faults()).to.deep.equal([]);
    const keys = await memory.level.keys(allChanges()).all();
    const { 1: second, 2: third } = keys as [string, string, string];
    const value = (await memory.level.get(second))!;
    await memory.level.put(third, value);
    expect(await faults()).to.deep.equal([
      `The entry ${positionOfKey(third)} of the log of changes does not continue after ${positionOfKey(second)}.`,
    ]);
    await memory.level.put(third, value.slice(0, -4));
    expect(await faults()).to.deep.equal([`The entry ${positionOfKey(third)} of the log of changes cannot be read.`]);
  });

  it('continues after a restart, which adds no events (rule 16.11)', async () => {
    await create('a');
    const { committed } = memory.store.changes;
    await memory.store.close();
    memory = await memory.reopen();
    expect(memory.store.changes.committed).to.equal(committed);
    expect(await eventsAfter(memory.store.changes, committed)).to.deep.equal([]);
    await create('b');
    expect((await eventsAfter(memory.store.changes, committed)).map(iriOf)).to.deep.equal([`${root}b`]);
  });

  it('reports a future position, and one after which events are missing (rule 16.11)', async () => {
    const { changes } = memory.store;
    expect(await refusal(changes, positionBefore(Date.now() + 60_000))).to.equal('gone');
    await memory.store.close();
    // State of a restored storage, or of one without a log.
    await memory.level.open();
    await memory.level.clear(allChanges());
    memory = await memory.reopen();
    const restored = memory.store.changes;
    expect(await refusal(restored, 0)).to.equal('gone');
    const mark = restored.mark();
    expect(await refusal(restored, mark)).to.equal('it reaches');
    await create('a');
    expect(await refusal(restored, 0)).to.equal('gone');
    expect((await eventsAfter(restored, mark)).map(iriOf)).to.deep.equal([`${root}a`]);
  });

  it('reports writes of an earlier version of the server without a log (rule 16.11)', async () => {
    await create('a');
    const { committed } = memory.store.changes;
    await memory.store.close();
    await memory.level.open();
    await memory.level.put(metaKey('batch'), randomUUID());
    memory = await memory.reopen();
    for (const position of [0, committed]) {
      const found = eventsAfter(memory.store.changes, position);
      expect(await found.catch((error: unknown) => error)).to.include({ code: 'gone' });
    }
    const mark = memory.store.changes.mark();
    await create('b');
    for (const position of [0, committed]) {
      const found = eventsAfter(memory.store.changes, position);
      expect(await found.catch((error: unknown) => error)).to.include({ code: 'gone' });
    }
    expect((await eventsAfter(memory.store.changes, mark)).map(iriOf)).to.deep.equal([`${root}b`]);
    expect((await checkStore(memory.store)).faults.filter((fault) => fault.includes('log'))).to.deep.equal([]);
  });

  describe('with a simulated clock', () => {
    let now: number;
    let level: Level;
    let log: ChangeLog;
    const troubles: unknown[] = [];
    beforeEach(async () => {
      now = Date.UTC(2026, 0, 1);
      troubles.length = 0;
      level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
      log = await open();
    });
    const open = (): Promise<ChangeLog> =>
      ChangeLog.open(level, root, { clock: () => now, onTrouble: (...trouble) => troubles.push(trouble) });
    const write = async (id: string, stored = true): Promise<number> => {
      const tx = new Transaction({} as TransactionBase);
      tx.announced({ id, types: [], inboxes: [] });
      log.number(tx);
      const batch = level.batch();
      await log.write(batch, [{ transaction: tx }]);
      if (stored) {
        await batch.write();
        log.settled(tx);
      } else {
        await batch.close();
        await log.recover();
      }
      return tx.position;
    };

    it('retains one day, then reports that it does not reach back (rule 16.11)', async () => {
      const first = await write('urn:a');
      now += 23 * 3600_000;
      const second = await write('urn:b');
      await log.close();
      expect(await refusal(log, 0)).to.equal('it reaches');
      now += 2 * 3600_000;
      const third = await write('urn:c');
      await log.close();
      expect(await refusal(log, 0)).to.equal('gone');
      expect((await eventsAfter(log, first)).map(iriOf)).to.deep.equal(['urn:b', 'urn:c']);
      now += 48 * 3600_000;
      await write('urn:d');
      now += 48 * 3600_000;
      log = await open();
      await write('urn:e');
      await log.close();
      expect(await refusal(log, second)).to.equal('gone');
      expect(await refusal(log, third)).to.equal('gone');
      expect(await refusal(log, log.committed)).to.equal('it reaches');
      expect(await refusal(log, positionBefore(now - 49 * 3600_000))).to.equal('gone');
      expect(troubles).to.deep.equal([]);
    });

    it('retains 64 MiB, at any rate of events (rule 16.11)', async () => {
      const text = 'x'.repeat(1 << 20);
      const positions: number[] = [];
      for (let at = 0; at < 80; at++) {
        positions.push(await write(`urn:${at}${text}`));
        await log.close();
      }
      const kept = (await level.keys(allChanges()).all()).length;
      expect(kept).to.be.within(60, 69);
      expect(await refusal(log, positions[80 - kept - 2]!)).to.equal('gone');
      expect(await refusal(log, positions[80 - kept]!)).to.equal('it reaches');
    });

    it('has increasing positions if the clock goes back, and no gaps for failed commits', async () => {
      const first = await write('urn:a');
      now -= 3600_000;
      await write('urn:lost', false);
      const second = await write('urn:b');
      expect(second).to.be.above(first);
      expect((await eventsAfter(log, first)).map(iriOf)).to.deep.equal(['urn:b']);
      expect(await refusal(log, 0)).to.equal('it reaches');
    });

    it('has marks that precede all later positions, and show the time only', async () => {
      await write('urn:a');
      now += 5_000;
      const mark = log.mark();
      expect(mark).to.equal(positionBefore(now) + 1);
      expect(await write('urn:b')).to.be.above(mark);
      expect((await eventsAfter(log, mark)).map(iriOf)).to.deep.equal(['urn:b']);
    });
  });
});
