/**
 * Journal that the servers of a storage share: ordered rows in a database. To write, a server locks the row of the table `head`
 * until its commit. So only one server writes at a time, after it has read all earlier rows.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError } from '../../lib/plugin/blobs.js';
import { LwsError, tooBusy } from '../../lib/plugin/component.js';
import { Connection, databaseAway } from './connection.js';
import type { DatabaseAddress, JournalPlace } from './contract.js';

export interface JournalRow {
  readonly seq: number;
  readonly id: string;
  readonly body: Buffer;
}

/** Thrown if it is unknown whether the journal has the appended row. */
export class AppendInDoubtError extends LwsError {}

const questionMs = 10_000;
/** Time without a response until a connection is closed, in milliseconds. TCP would wait 15 minutes for a stopped machine. */
const answerMs = 45_000;
const doubtMs = 20_000;
const rowsAtATime = 200;
/** Maximum bytes of the rows in one read, unless the first row is longer. */
const bytesAtATime = 16 << 20;
/**
 * Maximum count and size of rows that are read together with the lock: they must fit into the buffers of a connection. A
 * session that waits for its client to read is not idle, so the database would not release the lock of a stopped server.
 */
const [rowsInTurn, rowBytesInTurn] = [8, 32 << 10];

interface StoredRow {
  readonly seq: string;
  readonly id: string;
  readonly body: Buffer | null;
}

/** Query for the row at a position without its body, and for the rows after it. */
const nextRows =
  'SELECT seq, id, body FROM (SELECT seq, id, body, ' +
  'coalesce(sum(octet_length(body)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes FROM ' +
  '(SELECT seq, id, CASE WHEN seq > $1 THEN body END AS body FROM journal WHERE seq >= $1 ORDER BY seq LIMIT $2) AS first) AS following ' +
  'WHERE bytes < $3 ORDER BY seq';
/** Like `nextRows`, together with the lock. Returns bodies only for short rows. */
const shortRows =
  'SELECT seq, id, CASE WHEN seq > $1 AND octet_length(body) <= $3 THEN body END AS body FROM journal WHERE seq >= $1 ' +
  'ORDER BY seq LIMIT $2';
const lastRow = 'SELECT seq, (SELECT id FROM journal WHERE journal.seq = head.seq) AS id FROM head';

interface StoredPlace {
  readonly seq: string;
  readonly id: string | null;
}

const placeOf = ({ rows }: { readonly rows: readonly StoredPlace[] }): JournalPlace => ({
  seq: Number(rows[0]!.seq),
  id: rows[0]!.id ?? undefined,
});

/** Returns the rows after a position. @throws LwsError `too-busy` if the journal has a different row at the position */
function rowsAfter(place: JournalPlace, { rows }: { readonly rows: readonly StoredRow[] }): JournalRow[] {
  const found: JournalRow[] = [];
  for (const { seq, id, body } of rows) {
    if (contradict(place, { seq: Number(seq), id })) throw setBack(place);
    if (body) found.push({ seq: Number(seq), id, body });
    else if (Number(seq) > place.seq) break;
  }
  return found;
}

export class Journal {
  /** Connection for queries of the last position, which never wait for the lock. */
  private readonly reader: Connection;
  /** Connection for other tables, and for long rows of the journal. */
  readonly others: Connection;
  private readonly writer: Connection;
  /** Session of `writer` when it acquired the lock. Undefined: this server does not hold the lock. */
  private turn: object | undefined;

  /** @param timeoutMs timeout of a write in milliseconds, including the wait for the lock */
  constructor(
    address: DatabaseAddress,
    private readonly timeoutMs = answerMs,
  ) {
    this.reader = new Connection(address, Math.min(questionMs, timeoutMs));
    this.writer = new Connection(address, timeoutMs);
    this.others = new Connection(address, timeoutMs);
  }

  /** Returns the position of the last row. @throws LwsError `too-busy` */
  async head(): Promise<JournalPlace> {
    return placeOf(await this.reader.query<StoredPlace>(lastRow));
  }

  /** Returns the next rows after a position, in order, up to a maximum count and size. @throws LwsError `too-busy` */
  async after(place: JournalPlace): Promise<JournalRow[]> {
    // Do not use `reader`, whose queries must not wait for long rows.
    return rowsAfter(place, await this.others.query<StoredRow>(nextRows, [place.seq, rowsAtATime + 1, bytesAtATime]));
  }

  /** Returns the position of a row. The id of a removed row is undefined. */
  async find(seq: number): Promise<JournalPlace> {
    const { rows } = await this.reader.query<{ id: string }>('SELECT id FROM journal WHERE seq = $1', [seq]);
    return { seq, id: rows[0]?.id };
  }

  /** Returns true if the journal has all rows after a given row. */
  async reaches(seq: number): Promise<boolean> {
    const { rows } = await this.reader.query(
      'SELECT 1 FROM head WHERE seq <= $1 OR EXISTS (SELECT 1 FROM journal WHERE journal.seq = $1 + 1)',
      [seq],
    );
    return rows.length > 0;
  }

  /**
   * Acquires the lock, which is held until `append` or `release`.
   * @returns the position of the last row, and the next rows after a given position
   * @throws LwsError `too-busy`
   */
  async lock(place: JournalPlace): Promise<{ readonly head: JournalPlace; readonly rows: readonly JournalRow[] }> {
    try {
      const asked = Promise.all([
        this.writer.query('BEGIN'),
        this.writer.query('SELECT seq FROM head FOR UPDATE'),
        this.writer.query<StoredPlace>(lastRow),
        this.writer.query<StoredRow>(shortRows, [place.seq, rowsInTurn + 1, rowBytesInTurn]),
      ]);
      const { session } = this.writer;
      const [, , head, next] = await asked;
      this.turn = session;
      return { head: placeOf(head), rows: rowsAfter(place, next) };
    } catch (error) {
      this.writer.drop();
      throw error instanceof LwsError ? error : databaseAway(error);
    }
  }

  /** Keeps the session active: the database would end an idle transaction, and release the lock. */
  async keep(): Promise<void> {
    if (this.hasTurn) await this.writer.query('SELECT 1').catch(() => {});
  }

  /** True if the session with the lock still exists. A new session would write without the lock. */
  private get hasTurn(): boolean {
    return this.turn !== undefined && this.turn === this.writer.session;
  }

  /** Releases the lock without writing. */
  async release(): Promise<void> {
    if (!this.hasTurn) return;
    this.turn = undefined;
    await this.writer.query('ROLLBACK').catch(() => this.writer.drop());
  }

  /**
   * Appends a row, and releases the lock. If the connection is lost, or the database returns a warning, checks with a new
   * connection if the row exists. A standby has confirmed the row by then (`Connection.commitFirst`). @param hasNewTerms true
   * if the row has terms of RDF 1.2, which servers of an earlier format cannot read @returns the position of the row @throws
   * LwsError `too-busy` if the row does not exist, for example because the session with the lock had ended, or
   * AppendInDoubtError if the check failed for `doubtMs`
   */
  async append(seq: number, body: Buffer, hasNewTerms = false): Promise<JournalPlace> {
    if (!this.hasTurn) throw databaseAway('the session that had the turn has ended');
    this.turn = undefined;
    const id = randomUUID();
    this.writer.takeWarning();
    const raised = hasNewTerms ? this.writer.query(raiseFormat) : undefined;
    try {
      const [, , { command }] = await Promise.all([
        this.writer.query('INSERT INTO journal (seq, id, body) VALUES ($1, $2, $3)', [seq, id, body]),
        this.writer.query('UPDATE head SET seq = $1', [seq]),
        this.writer.query('COMMIT'),
        raised,
      ]);
      const warning = this.writer.takeWarning();
      if (command === 'COMMIT' && warning === undefined) return { seq, id };
      throw new Error(warning ?? 'The database did not commit.');
    } catch (error) {
      this.writer.drop();
      if (!(await this.isThere(seq, id))) throw error instanceof LwsError ? error : databaseAway(error);
      return { seq, id };
    }
  }

  /** Records in the database that it contains terms of RDF 1.2. */
  async raiseFormat(): Promise<void> {
    await this.others.query(raiseFormat);
  }

  private async isThere(seq: number, id: string): Promise<boolean> {
    const until = Date.now() + Math.min(doubtMs, this.timeoutMs);
    for (let failure: unknown; ; ) {
      try {
        // The transaction in doubt holds the lock until it ends, so after the lock is acquired, the result is final.
        await this.lock({ seq });
        const { rows } = await this.writer.query('SELECT 1 FROM journal WHERE seq = $1 AND id = $2', [seq, id]);
        await this.release();
        return rows.length > 0;
      } catch (error) {
        failure = error;
      }
      if (Date.now() > until)
        throw new AppendInDoubtError(
          'too-busy',
          'The connection to the database was lost during the write. It is unknown if this write was stored. ' +
            'Check again when the database is available.',
          { cause: failure, fields: { 'Retry-After': '10' } },
        );
      await sleep(500);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.writer.close(), this.others.close()]);
  }
}

/** Returns true if two positions cannot belong to the same journal. */
export const contradict = (one: JournalPlace, other: JournalPlace): boolean =>
  one.seq === other.seq && one.id !== undefined && other.id !== undefined && one.id !== other.id;

/** Returns the error for a server that has rows which its database lacks. */
export function setBack({ seq }: JournalPlace): LwsError {
  const reason =
    `the database lacks row ${seq} of its journal, which this server has received: it was reset to an earlier state, or lost its ` +
    'last commits; restart the server for instructions';
  return tooBusy('The storage and its database have different states. The operator must resolve this.', 60, {
    reason,
  });
}

const tablesVersion = '1';
/**
 * Formats of rows and checkpoints. They contain only GSPO keys, because each copy has its own indexes. Format 3 has terms of
 * RDF 1.2. It is recorded with the first such term, so that servers which cannot read it do not start.
 */
const [rowFormat, newFormat] = ['2', '3'];
const raiseFormat = `UPDATE meta SET value = '${newFormat}' WHERE name = 'format'`;

const statements = (schema: string): readonly string[] => [
  `CREATE SCHEMA IF NOT EXISTS "${schema}"`,
  'CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL)',
  'CREATE TABLE IF NOT EXISTS head (id int PRIMARY KEY, seq bigint NOT NULL)',
  'CREATE TABLE IF NOT EXISTS journal (seq bigint PRIMARY KEY, id uuid NOT NULL, at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL)',
  'CREATE TABLE IF NOT EXISTS checkpoint (seq bigint, part int, body bytea NOT NULL, PRIMARY KEY (seq, part))',
  'CREATE TABLE IF NOT EXISTS servers (id uuid PRIMARY KEY, joined timestamptz NOT NULL DEFAULT now(), until timestamptz NOT NULL)',
  'CREATE TABLE IF NOT EXISTS secrets (name text PRIMARY KEY, value text NOT NULL)',
  'CREATE TABLE IF NOT EXISTS used (id text PRIMARY KEY, until timestamptz NOT NULL)',
  'CREATE INDEX IF NOT EXISTS used_until ON used (until)',
  'INSERT INTO head (id, seq) VALUES (1, 0) ON CONFLICT DO NOTHING',
];

const attempts = 10;

/**
 * Creates the missing tables.
 * @returns the name of the journal, which each copy stores
 * @throws StoreUnavailableError if the tables belong to another storage or a later version, or if the
 * database cannot be reached
 */
export async function openTables(address: DatabaseAddress, storage: string): Promise<string> {
  const connection = new Connection(address);
  try {
    for (const statement of statements(address.schema)) await insistently(connection, statement);
    const wanted = { tables: tablesVersion, format: rowFormat, storage, journal: randomUUID() };
    for (const [name, value] of Object.entries(wanted))
      await connection.query('INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, value]);
    const { rows } = await connection.query<{ name: string; value: string }>('SELECT name, value FROM meta');
    const found = Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Record<
      keyof typeof wanted,
      string
    >;
    if (found.tables !== tablesVersion || (found.format !== rowFormat && found.format !== newFormat))
      throw new StoreUnavailableError(
        `The database was written by another version of the server (tables ${found.tables}, format ${found.format}); ` +
          `this one supports tables ${tablesVersion} and the formats ${rowFormat} and ${newFormat}.`,
      );
    if (found.storage !== storage)
      throw new StoreUnavailableError(
        `The database contains the storage of ${found.storage}, but lws.base-uri is ${storage}. ` +
          'Restore lws.base-uri, choose another lws.store or lws.store.schema, or move the storage: stop all servers, with the old address run ' +
          '"quadpod backup DIR" on one of them, then into an empty lws.data-dir, with a new lws.store or lws.store.schema, ' +
          `"quadpod restore DIR --rewrite ${found.storage}=${storage}".`,
      );
    return found.journal;
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    throw new StoreUnavailableError(`The database in lws.store cannot be reached: ${error.reason}.`, error);
  } finally {
    await connection.close();
  }
}

/** Retries a failed statement: with concurrent servers, `IF NOT EXISTS` can fail. */
async function insistently(connection: Connection, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await connection.query(statement);
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      if (attempt >= attempts || !['23505', '42P06', '42P07', '40001', 'XX000'].includes(code ?? '')) throw error;
      await sleep(50 * attempt);
    }
}
