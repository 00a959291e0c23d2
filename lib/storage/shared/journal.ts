/**
 * The journal that the servers of one storage share: rows in a database, in one order. Who writes holds the row of the head until the
 * database has committed, so nobody writes at the same time, and all know what came before. It must not know what is in the rows.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LwsError } from '../../errors.js';
import { Connection, type DatabaseAddress, databaseAway } from './connection.js';

export interface JournalRow {
  readonly seq: number;
  readonly body: Buffer;
}

/** Whether what was to be appended is there is not known yet. */
export class AppendInDoubtError extends LwsError {}

const questionMs = 10_000;
const doubtMs = 20_000;
const rowsAtATime = 200;

interface StoredRow {
  readonly seq: string;
  readonly body: Buffer;
}

const nextRows = 'SELECT seq, body FROM journal WHERE seq > $1 ORDER BY seq LIMIT $2';
const rowsOf = ({ rows }: { readonly rows: readonly StoredRow[] }): JournalRow[] =>
  rows.map(({ seq, body }) => ({ seq: Number(seq), body }));

export class Journal {
  /** Asks how far the journal is; never waits for anybody who writes. */
  private readonly reader: Connection;
  /** For what is beside the journal. */
  readonly others: Connection;
  private readonly writer: Connection;
  /** The session of the writer that keeps others from writing. */
  private turn: object | undefined;

  constructor(address: DatabaseAddress) {
    this.reader = new Connection(address, questionMs);
    this.writer = new Connection(address);
    this.others = new Connection(address);
  }

  /** The number of the last row. @throws LwsError `too-busy` */
  async head(): Promise<number> {
    const { rows } = await this.reader.query<{ seq: string }>('SELECT seq FROM head');
    return Number(rows[0]!.seq);
  }

  /** The next rows after one, in order; fewer than there are when there are many. */
  async after(seq: number): Promise<JournalRow[]> {
    return rowsOf(await this.reader.query<StoredRow>(nextRows, [seq, rowsAtATime]));
  }

  /** Whether all rows after one are still there. */
  async reaches(seq: number): Promise<boolean> {
    const { rows } = await this.reader.query(
      'SELECT 1 FROM head WHERE seq <= $1 OR EXISTS (SELECT 1 FROM journal WHERE journal.seq = $1 + 1)',
      [seq],
    );
    return rows.length > 0;
  }

  /**
   * Waits until nobody else writes, and keeps others from it until `append` or `release`.
   * @returns the number of the last row, and the next rows after a given one
   * @throws LwsError `too-busy`
   */
  async lock(position: number): Promise<{ readonly head: number; readonly rows: readonly JournalRow[] }> {
    try {
      const asked = Promise.all([
        this.writer.query('BEGIN'),
        this.writer.query<{ seq: string }>('SELECT seq FROM head FOR UPDATE'),
        this.writer.query<StoredRow>(nextRows, [position, rowsAtATime]),
      ]);
      const { session } = this.writer;
      const [, { rows }, next] = await asked;
      this.turn = session;
      return { head: Number(rows[0]!.seq), rows: rowsOf(next) };
    } catch (error) {
      this.writer.drop();
      throw error instanceof LwsError ? error : databaseAway(error);
    }
  }

  /** Says that this server is still at it, or the database takes the turn from it. */
  async keep(): Promise<void> {
    if (this.hasTurn) await this.writer.query('SELECT 1').catch(() => {});
  }

  /** A later session would write each statement by itself, while others write. */
  private get hasTurn(): boolean {
    return this.turn !== undefined && this.turn === this.writer.session;
  }

  /** Lets others write. */
  async release(): Promise<void> {
    if (!this.hasTurn) return;
    this.turn = undefined;
    await this.writer.query('ROLLBACK').catch(() => this.writer.drop());
  }

  /**
   * Appends a row and lets others write. When the connection is lost meanwhile, the journal says whether the row is there.
   * @throws LwsError `too-busy` when it is not, also when the session that had the turn has ended before; AppendInDoubtError when nobody
   *   could say so soon
   */
  async append(seq: number, body: Buffer): Promise<void> {
    if (!this.hasTurn) throw databaseAway('the session that had the turn has ended');
    this.turn = undefined;
    const id = randomUUID();
    try {
      const [, , { command }] = await Promise.all([
        this.writer.query('INSERT INTO journal (seq, id, body) VALUES ($1, $2, $3)', [seq, id, body]),
        this.writer.query('UPDATE head SET seq = $1', [seq]),
        this.writer.query('COMMIT'),
      ]);
      if (command === 'COMMIT') return;
      throw new Error('The database did not commit.');
    } catch (error) {
      this.writer.drop();
      if (!(await this.isThere(seq, id))) throw error instanceof LwsError ? error : databaseAway(error);
    }
  }

  private async isThere(seq: number, id: string): Promise<boolean> {
    const until = Date.now() + doubtMs;
    for (let failure: unknown; ; ) {
      try {
        // The transaction in doubt holds the head until it has ended.
        await this.lock(seq);
        const { rows } = await this.writer.query('SELECT 1 FROM journal WHERE seq = $1 AND id = $2', [seq, id]);
        await this.release();
        return rows.length > 0;
      } catch (error) {
        failure = error;
      }
      if (Date.now() > until)
        throw new AppendInDoubtError(
          'too-busy',
          'The storage lost its database while it wrote, and whether this write was stored is in doubt until the database is back. ' +
            'Look again then.',
          { cause: failure, fields: { 'Retry-After': '10' } },
        );
      await sleep(500);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.writer.close(), this.others.close()]);
  }
}
