/** A turn that the database has revoked from a server: no part of it gets into the journal, and it delays no other server. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Cluster as Member } from '../../../components/shared-storage/cluster.js';
import { Connection } from '../../../components/shared-storage/connection.js';
import { Journal } from '../../../components/shared-storage/journal.js';
import { Replica } from '../../../lib/storage/graphs/replica.js';
import { newReplicaThread } from '../../../lib/storage/graphs/replica-thread.js';
import { blobKey, entryKey } from '../../../lib/storage/keys/records.js';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { Cluster } from './cluster.js';
import { startCuttingProxy } from './cutting-proxy.js';

const counter = entryKey('spec', 'counter');
const count = (store: Store): number => Number(store.entry(counter) ?? '0');
const increment = (store: Store, meanwhile: () => Promise<void> = async () => {}): Promise<void> =>
  store.transact(async (tx) => {
    const before = Number(tx.entry(counter) ?? '0');
    await meanwhile();
    tx.putEntry(counter, String(before + 1));
  });

describe('A turn of a server', function () {
  this.timeout(120_000);
  let postgres: Postgres;
  let cluster: Cluster;
  let own: Readonly<Record<string, string>>;
  let database: Connection;
  before(async function () {
    postgres = await postgresFor(this);
    own = postgres.settings('turns');
    cluster = await Cluster.start(2, own);
    database = new Connection({ url: own['store']!, schema: 'turns', password: own['store.password'] });
  });
  after(async () => {
    await database?.close();
    await cluster?.end();
    await postgres?.dispose();
  });

  const stores = (): [Store, Store] => [cluster.servers[0]!.server.store, cluster.servers[1]!.server.store];
  const endTurn = async (): Promise<void> => {
    const { rowCount } = await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'",
    );
    expect(rowCount, 'sessions that had a turn').to.equal(1);
  };
  /** All servers have the acknowledged state, and both can write. */
  const assertSound = async (acknowledged: number): Promise<void> => {
    for (const store of stores()) {
      await increment(store);
      await store.coordination.freshen();
    }
    for (const store of stores()) await store.coordination.freshen();
    expect(stores().map(count)).to.deep.equal([acknowledged + 2, acknowledged + 2]);
    const { rows } = await database.query<{ head: string; last: string }>(
      'SELECT (SELECT seq FROM head) AS head, (SELECT max(seq) FROM journal) AS last',
    );
    expect(rows[0]!.head).to.equal(rows[0]!.last);
  };

  for (const [others, title] of [
    [0, 'no server wrote in between'],
    [1, 'another server wrote in between'],
    [3, 'another server wrote several times in between'],
  ] as const)
    for (const follows of [true, false])
      it(`is over when its session has ended, if ${title}${follows ? ' and this one has seen it' : ''} (rule 19.2)`, async () => {
        const [a, b] = stores();
        await a.coordination.freshen();
        const start = count(a);
        const outcome = await increment(a, async () => {
          await endTurn();
          for (let at = 0; at < others; at++) await increment(b);
          if (follows) await a.coordination.freshen();
          else await sleep(20);
        }).then(
          () => 'acknowledged',
          (error: { code?: string }) => error.code,
        );
        expect(outcome).to.equal('too-busy');
        await assertSound(start + others);
      });

  it('is over for all if its changes cannot be sent to others (rule 19.2)', async () => {
    const [a, b] = stores();
    await a.coordination.freshen();
    const start = count(a);
    const outcome = a.transact((tx) => {
      tx.putEntry(counter, 'never');
      tx.actor = 1n as never;
    });
    expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    await increment(b);
    // A rejected turn is not reported to a transaction without changes.
    expect(await a.transact((tx) => tx.entry(counter))).to.equal(String(start + 1));
    await assertSound(start + 1);
  });

  it('ends before its row is too long for its readers', async () => {
    const [a, b] = stores();
    const value = 'x'.repeat(4 << 20);
    const put = (at: number) => a.transact((tx) => tx.putEntry(entryKey('spec', 'long', String(at)), value));
    await Promise.all(Array.from({ length: 16 }, (_, at) => put(at)));
    const { rows } = await database.query<{ bytes: number }>('SELECT max(octet_length(body)) AS bytes FROM journal');
    expect(rows[0]!.bytes).to.be.within(8 << 20, 40 << 20);
    await b.coordination.freshen();
    for (let at = 0; at < 16; at++) expect(b.entry(entryKey('spec', 'long', String(at)))).to.have.length(value.length);
    await assertSound(count(b));
  });

  it('rejects a transaction that is too large for a row', async () => {
    const [a] = stores();
    const start = count(a);
    const value = 'x'.repeat(8 << 20);
    const outcome = a.transact((tx) => {
      for (let at = 0; at < 40; at++) tx.putEntry(entryKey('spec', 'large', String(at)), value);
    });
    const [, refusal] = await Promise.all([increment(a), outcome.catch((error: { code?: string }) => error.code)]);
    expect(refusal).to.equal('too-large');
    await assertSound(start + 1);
  });

  it('applies the changes of another server once if that fails at first (rule 19.2)', async () => {
    const [a, b] = stores();
    await b.coordination.freshen();
    const [iri, blob] = [`${cluster.root}applied-twice`, randomUUID()];
    let failures = 1;
    b.onForeign((tx) => {
      if (tx.entries.has(counter) && failures-- > 0) throw new Error('of a spec');
    });
    const before = count(b);
    const record = { ...a.record(cluster.root)!, iri, kind: 'binary', blob, size: 7 } as const;
    const bytes = b.bytes;
    await Promise.all([a.transact((tx) => tx.putRecord(record)), increment(a)]);
    while (count(b) === before) await b.coordination.freshen()!.catch(() => {});
    for (const store of stores()) {
      expect(await store.level.get(blobKey(blob))).to.equal(iri);
      expect(store.bytes - bytes).to.equal(7);
    }
    await a.transact((tx) => tx.deleteRecord(record));
    await assertSound(before + 1);
  });

  it('forgets expired proofs (rule 19.5)', async () => {
    const old =
      "INSERT INTO used (id, until) VALUES ('old', now() - interval '2 hours'), ('new', now() - interval '1 minute')";
    await database.query(old);
    await cluster.servers[1]!.stop();
    await cluster.servers[0]!.stop();
    for (const name of ['server-0', 'server-1']) await cluster.add(name);
    const { rows } = await database.query<{ id: string }>('SELECT id FROM used');
    expect(rows).to.deep.equal([{ id: 'new' }]);
  });

  it('serves nothing while the database has less than the servers, or other rows (rule 19.6)', async () => {
    const refused = async (state: string): Promise<void> => {
      for (const store of stores())
        for (const ask of [() => store.coordination.freshen()!, () => increment(store)])
          expect(await ask().catch((error: { code?: string }) => error.code), state).to.equal('too-busy');
    };
    const another = 'UPDATE journal SET id = gen_random_uuid() WHERE seq = (SELECT seq FROM head)';
    await assertSound(count(stores()[0]));
    await database.query('UPDATE head SET seq = seq - 1');
    await refused('one row less');
    await database.query('UPDATE head SET seq = seq + 1');
    await assertSound(count(stores()[0]));
    await database.query(another);
    await refused('another last row');
    await database.query(
      "INSERT INTO journal (seq, id, body) SELECT seq + 1, gen_random_uuid(), '[]' FROM head; UPDATE head SET seq = seq + 1",
    );
    await refused('another row and one after it');
    await cluster.servers[1]!.stop();
    const started = cluster.add('server-1').then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    );
    expect(await started).to.match(/reset to an earlier state/);
  });

  it('serves nothing if its missing rows are no longer in the journal (rule 19.1)', async () => {
    const later = await Cluster.start(1, postgres.settings('later'));
    try {
      const { store } = later.servers[0]!.server;
      const { url, password } = { url: own['store']!, password: own['store.password'] };
      const connection = new Connection({ url, schema: 'later', password });
      await connection.query('UPDATE head SET seq = seq + 1');
      await connection.close();
      const outcome = await store.coordination.freshen()!.then(
        () => ({ code: 'fresh', reason: '' }),
        (error: { code: string; reason: string }) => error,
      );
      expect(outcome.code).to.equal('too-busy');
      expect(outcome.reason).to.match(/no longer has the rows after/);
    } finally {
      await later.end();
    }
  });

  it('detects an unresponsive database in time (rule 19.3)', async () => {
    const proxy = await startCuttingProxy(postgres.port);
    const url = own['store']!.replace(String(postgres.port), String(proxy.port));
    const journal = new Journal({ url, schema: 'turns', password: own['store.password'] }, 300);
    const place = await journal.head();
    await journal.lock(place);
    await journal.release();
    await journal.after(place);
    const silent = new Connection({ url, schema: 'turns', password: own['store.password'] });
    await silent.query('SELECT 1');
    proxy.stall();
    const questions: (() => Promise<unknown>)[] = [
      () => journal.head(),
      () => journal.after(place),
      () => journal.lock(place),
    ];
    for (const ask of questions)
      expect(await ask().catch((error: { code?: string }) => error.code)).to.equal('too-busy');
    await journal.close();
    const unanswered = silent.query('SELECT 1').catch((error: { code?: string }) => error.code);
    await silent.close();
    expect(await unanswered).to.equal('too-busy');
    await proxy.close();
  });

  it('does not start if another server could start in between (rule 19.6)', async () => {
    const folder = join(cluster.folder, 'starting');
    mkdirSync(join(folder, 'blobs'), { recursive: true });
    const level = await openLevel(join(folder, 'level'));
    const address = { url: own['store']!, schema: 'starting', password: own['store.password'] };
    const member = await Member.join(address, {
      ...{
        replica: new Replica(level),
        newThread: () => newReplicaThread(join(folder, 'level')),
        storage: cluster.root,
        folder,
        blobs: { dataDir: folder },
        secrets: [],
      },
      ...{ told() {}, onProgress() {}, onTrouble() {} },
    });
    await endTurn();
    await sleep(50);
    const outcome = await member.opened().then(
      () => 'opened',
      (error: Error) => error.message,
    );
    expect(outcome).to.match(/lost while the server started/);
    await member.close();
    await level.close();
  });
});
