/** A primary with a synchronous standby: acknowledged commits are on the standby, also after a crash of the primary during a commit. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type {
  CommitQueue,
  DatabaseAddress,
  JournalPlace,
  Replica,
} from '../../../components/shared-storage/contract.js';
import { AppendInDoubtError, Journal, openTables } from '../../../components/shared-storage/journal.js';
import { SharedLog } from '../../../components/shared-storage/shared-log.js';
import { patience } from '../../support/patience.js';
import { ask, type Postgres, postgresFor, type Standby, standbyOf } from '../../support/postgres.js';
import { until } from '../../support/until.js';

const limitMs = 1_500 * patience;

describe('A storage in PostgreSQL with a synchronous standby', function () {
  this.timeout(120_000 * patience);
  let postgres: Postgres;
  let standby: Standby;
  let journal: Journal;
  let address: DatabaseAddress;
  before(async function () {
    postgres = await postgresFor(this);
    const { store: url = '', 'store.password': specPassword = '' } = postgres.settings('standby');
    address = { url, password: specPassword, schema: 'standby' };
    await openTables(address, 'http://localhost/');
    standby = await standbyOf(postgres);
    await standby.start();
    journal = new Journal(address, limitMs);
  });
  beforeEach(async () => {
    await standby.start();
    // All three connections: after a failure, a connection rests for a while.
    const connect = async (): Promise<boolean> => {
      await journal.head();
      await journal.after({ seq: 0 });
      await journal.lock({ seq: 0 });
      await journal.release();
      return true;
    };
    await until(() => connect().catch(() => false));
  });
  after(async () => {
    await journal?.close();
    await standby?.stop();
    await postgres?.dispose();
  });

  const seqsAt = async (port: number): Promise<number[]> =>
    (await ask(port, 'SELECT seq::int FROM standby.journal ORDER BY seq')).map(({ seq }) => Number(seq));
  /** Returns a condition, which does not hold while the database cannot be reached. */
  const isAt = (port: number, holds: (seqs: number[]) => boolean) => (): Promise<boolean> =>
    seqsAt(port).then(holds, () => false);
  const waiting = (): Promise<unknown[]> =>
    ask(postgres.port, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  const isWaiting = (): Promise<boolean> =>
    waiting().then(
      ({ length }) => length > 0,
      () => false,
    );

  /** Starts to append a row while the standby is away, and crashes the primary while the commit waits. @returns the outcome */
  async function crashDuringCommit(seq: number): Promise<{ readonly outcome: Promise<unknown> }> {
    await journal.lock({ seq: seq - 1 });
    await standby.stop();
    const outcome = journal.append(seq, Buffer.from('[]')).catch((error: unknown) => error);
    await until(isWaiting);
    await postgres.kill();
    await postgres.start();
    // The restarted primary shows the row at once.
    expect(await seqsAt(postgres.port)).to.include(seq);
    return { outcome };
  }

  it('acknowledges a commit that the standby has (rule 19.10)', async () => {
    await journal.lock({ seq: 0 });
    expect(await journal.append(1, Buffer.from('[]'))).to.include({ seq: 1 });
    await until(isAt(standby.port, (seqs) => seqs.includes(1)));
  });

  it('reports a doubtful commit while no standby confirms it, and reads nothing of it (rule 19.10)', async () => {
    const { outcome } = await crashDuringCommit(2);
    expect(await outcome).to.be.instanceOf(AppendInDoubtError);
    expect(await journal.head().catch(({ code }: { code: string }) => code)).to.equal('too-busy');
  });

  it('leaves no waiting sessions behind while it retries (rule 19.10)', async () => {
    await standby.stop();
    const hasty = new Journal(address, 200);
    for (let attempt = 0; attempt < 6; attempt++) {
      expect(await hasty.head().catch(({ code }: { code: string }) => code)).to.equal('too-busy');
      // Longer than a connection rests after a failure.
      await sleep(600);
    }
    expect((await waiting()).length).to.be.within(1, 2);
    await hasty.close();
  });

  it('acknowledges a doubtful commit as soon as the standby has it (rule 19.10)', async () => {
    const { outcome } = await crashDuringCommit(3);
    await standby.start();
    expect(await outcome).to.include({ seq: 3 });
    expect(await seqsAt(standby.port)).to.include(3);
  });

  it('does not trust a commit whose wait for the standby was cancelled (rule 19.10)', async () => {
    await journal.lock({ seq: 3 });
    await standby.stop();
    const outcome = journal.append(4, Buffer.from('[]')).catch((error: unknown) => error);
    await until(isWaiting);
    await ask(postgres.port, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    expect(await outcome).to.be.instanceOf(AppendInDoubtError);
  });

  it('returns 503 for a row that was seen and vanished with the primary (rule 19.10)', async () => {
    const seen: JournalPlace[] = [];
    const apply = async (_body: Buffer, place: JournalPlace): Promise<void> => {
      // The replica cannot apply the last row yet.
      if (place.seq === 5) throw new Error('not yet');
      seen.push(place);
    };
    const log = new SharedLog({ apply } as unknown as CommitQueue, journal, { place: { seq: 0 } } as Replica);
    await log.freshen();
    await journal.lock(seen.at(-1)!);
    await journal.append(5, Buffer.from('[]'));
    expect(await log.freshen().catch(({ message }: Error) => message)).to.equal('not yet');
    await ask(postgres.port, 'DELETE FROM standby.journal WHERE seq = 5; UPDATE standby.head SET seq = 4');
    for (let time = 0; time < 3; time++) {
      const error = await log.freshen().catch((failure: unknown) => failure);
      expect(error).to.include({ code: 'too-busy' });
      expect((error as { reason: string }).reason).to.match(/lacks row 5 .*reset to an earlier state/);
    }
    expect(seen.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4]);
    await log.close();
  });

  it('has all acknowledged rows on the promoted standby (rule 19.10)', async () => {
    const acknowledged = await seqsAt(postgres.port);
    await until(isAt(standby.port, ({ length }) => length === acknowledged.length));
    const { outcome } = await crashDuringCommit(5);
    expect(await outcome).to.be.instanceOf(AppendInDoubtError);
    await postgres.kill();
    await standby.start();
    await standby.promote();
    expect(await seqsAt(standby.port)).to.deep.equal(acknowledged);
    await standby.stop();
    await postgres.start();
  });
});
