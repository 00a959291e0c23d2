/** Concurrent checkpoints of several servers: the last one is complete, also if one server was delayed. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { lastCheckpoint, writeCheckpoint } from '../../../components/shared-storage/checkpoint.js';
import { Checkpoints } from '../../../components/shared-storage/checkpoints.js';
import { Connection } from '../../../components/shared-storage/connection.js';
import { Journal } from '../../../components/shared-storage/journal.js';
import { Replica } from '../../../lib/storage/graphs/replica.js';
import { newReplicaThread } from '../../../lib/storage/graphs/replica-thread.js';
import { entryKey } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { Cluster } from './cluster.js';

const key = entryKey('spec', 'value');
const put = (store: Store, value: string): Promise<void> => store.transact((tx) => tx.putEntry(key, value));

describe('Checkpoints', function () {
  this.timeout(120_000);
  let postgres: Postgres;
  let cluster: Cluster;
  let connection: Connection;
  let address: { url: string; schema: string; password: string };
  before(async function () {
    postgres = await postgresFor(this);
    const own = postgres.settings('checkpoints');
    address = { url: own['store']!, schema: 'checkpoints', password: own['store.password']! };
    cluster = await Cluster.start(2, own);
    connection = new Connection(address);
  });
  after(async () => {
    await connection?.close();
    await cluster?.end();
    await postgres?.dispose();
  });

  const stores = (): [Store, Store] => [cluster.servers[0]!.server.store, cluster.servers[1]!.server.store];

  /** A connection that pauses before a statement until it is resumed. */
  function heldUp(beginning: string): { held: Connection; reached: Promise<void>; goOn: () => void } {
    let [reach, goOn] = [(): void => {}, (): void => {}];
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const query = async (statement: string, values?: readonly unknown[]): Promise<unknown> => {
      if (statement.startsWith(beginning)) {
        reach();
        await gate;
      }
      return connection.query(statement, values);
    };
    return { held: { query } as unknown as Connection, reached, goOn };
  }

  it('are created when the journal since the last one is as long as it, for any number of checks', async () => {
    const [a] = stores();
    const { location } = a.level as unknown as { location: string };
    const newThread = () => newReplicaThread(location);
    await a.transact((tx) => tx.putEntry(entryKey('spec', 'large'), randomBytes(100_000).toString('base64')));
    const { seq, bytes } = await writeCheckpoint(new Replica(a.level), connection, 60);
    const checkpoints = new Checkpoints({ newThread, address, keptMinutes: 60, minBytes: 1, lookMs: 0 });
    const grow = async (part: number): Promise<number> => {
      await put(a, 'x'.repeat(bytes * part));
      await checkpoints.review();
      await checkpoints.review();
      return (await lastCheckpoint(connection))!.seq;
    };
    try {
      expect(await grow(0.3)).to.equal(seq);
      expect(await grow(0.3)).to.equal(seq);
      expect(await grow(1)).to.equal(seq + 3);
      expect(await grow(0.3)).to.equal(seq + 3);
    } finally {
      await checkpoints.stop();
    }
  });

  const assertUsable = async (value: string): Promise<void> => {
    const last = (await lastCheckpoint(connection))!;
    const { rows } = await connection.query('SELECT part FROM checkpoint');
    expect(rows, 'parts of the last one only').to.have.length(last.parts);
    const fresh = await cluster.add(`fresh-${last.seq}-${value}`);
    expect(fresh.server.store.entry(key)).to.equal(value);
    await fresh.stop();
  };

  for (const statement of ['INSERT INTO checkpoint', 'INSERT INTO meta', 'DELETE FROM checkpoint'])
    it(`are complete if a server is delayed before "${statement}" and another one creates a later one`, async () => {
      const [a, b] = stores();
      await put(a, `first ${statement}`);
      const { held, reached, goOn } = heldUp(statement);
      const first = writeCheckpoint(new Replica(a.level), held, 60);
      await reached;
      await put(b, statement);
      const later = await writeCheckpoint(new Replica(b.level), connection, 60);
      goOn();
      await first;
      expect((await lastCheckpoint(connection))!.seq).to.equal(later.seq);
      await assertUsable(statement);
    });

  it('are complete if two servers create the same one', async () => {
    const [a, b] = stores();
    await put(a, 'same');
    await b.coordination.freshen();
    await Promise.all([
      writeCheckpoint(new Replica(a.level), connection, 60),
      writeCheckpoint(new Replica(b.level), connection, 60),
    ]);
    await assertUsable('same');
  });

  it('are followed by long rows a few at a time', async () => {
    const [a] = stores();
    await a.coordination.freshen();
    const journal = new Journal(address);
    const head = await journal.head();
    await connection.query(
      "INSERT INTO journal (seq, id, body) SELECT head.seq + n, gen_random_uuid(), body || convert_to(repeat(' ', 10000000), 'UTF8') " +
        'FROM journal JOIN head USING (seq), generate_series(1, 3) n; UPDATE head SET seq = seq + 3',
    );
    expect((await journal.after(head)).map(({ seq }) => seq - head.seq)).to.deep.equal([1, 2]);
    // A server that starts a turn reads them as well.
    await Promise.all(stores().map((store) => put(store, 'after long ones')));
    await journal.close();
    for (const store of stores()) await store.coordination.freshen();
    expect(stores().map((store) => store.entry(key))).to.deep.equal(['after long ones', 'after long ones']);
  });
});
