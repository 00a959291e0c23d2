/** One connection to the database, made when it is needed and again after it was lost. */
import { randomUUID } from 'node:crypto';
import type { Client, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { type LwsError, tooBusy } from '../../lib/plugin/component.js';
import type { DatabaseAddress } from './contract.js';

const [connectMs, farewellMs] = [5_000, 1_000];
/** Maximum wait for the first commit of a session, in milliseconds. */
const firstCommitMs = 10_000;
/** For so long after a failed attempt to connect, further questions are refused at once. */
const restMs = 500;
/** How long a server that hangs in a transaction may keep a lock, and how long another one waits for a lock. */
const [idleMs, lockMs] = [10_000, 15_000];

export const databaseAway = (cause: unknown): LwsError =>
  tooBusy('The storage cannot reach its database. Try again in a moment.', 5, {
    cause,
    reason: cause instanceof Error ? cause.message : String(cause),
  });

export class Connection {
  private client: Promise<Client> | undefined;
  private failure: { readonly error: unknown; readonly at: number } | undefined;
  private isClosed = false;
  /** Application name of a session until its first commit; tells abandoned ones of this connection from others. */
  private readonly beginner = `quadpod ${randomUUID()}`;
  private warning: string | undefined;

  /** @param timeoutMs the longest time of a question; absent: no limit */
  constructor(
    private readonly address: DatabaseAddress,
    private readonly timeoutMs?: number,
  ) {}

  /** @throws LwsError `too-busy` when the database cannot be reached; the error of the database otherwise */
  async query<R extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>> {
    const client = await this.connected();
    try {
      return await client.query<R>(text, values as unknown[] | undefined);
    } catch (error) {
      if (isRefusal(error)) throw error;
      this.drop();
      throw databaseAway(error);
    }
  }

  /** The session that gets the next question. After a loss it is another object, and the transactions and locks of the old one are gone. */
  get session(): object | undefined {
    return this.client;
  }

  /**
   * Returns the last warning of the database and forgets it. A commit whose wait for the standby was cancelled is a success with a warning:
   * the standby may lack it.
   */
  takeWarning(): string | undefined {
    const { warning } = this;
    this.warning = undefined;
    return warning;
  }

  /** Ends the connection; the next question makes another one. */
  drop(): void {
    const { client } = this;
    this.client = undefined;
    void client?.then((each) => each.connection.stream.destroy()).catch(() => {});
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.client?.catch(() => undefined);
    if (!client) return;
    // An unreachable database never confirms the end of the connection.
    const giveUp = setTimeout(() => client.connection.stream.destroy(), farewellMs);
    await client.end();
    clearTimeout(giveUp);
  }

  private connected(): Promise<Client> {
    if (this.client) return this.client;
    if (this.isClosed) return Promise.reject(databaseAway('closed'));
    if (this.failure && Date.now() - this.failure.at < restMs) return Promise.reject(databaseAway(this.failure.error));
    const made = this.connect().catch((error: unknown) => {
      if (this.client === made) this.client = undefined;
      this.failure = { error, at: Date.now() };
      throw databaseAway(error);
    });
    this.client = made;
    return made;
  }

  private async connect(): Promise<Client> {
    const { default: pg } = await import('pg');
    const { url, schema, password } = this.address;
    const client = new pg.Client({
      connectionString: withPassword(url, password),
      ...(this.timeoutMs === undefined ? {} : { query_timeout: this.timeoutMs }),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      application_name: this.beginner,
      pipeline: true,
    });
    const lost = (): void => {
      const { client: known } = this;
      known?.then(
        (current) => {
          if (current === client && this.client === known) this.client = undefined;
        },
        // The question that waits for the connection gets the error.
        () => {},
      );
    };
    client.on('notice', ({ message = 'a warning without a text' }) => {
      this.warning = message;
    });
    client.on('error', lost);
    client.on('end', lost);
    try {
      await client.connect();
      await client.query(
        `SET search_path TO ${pg.escapeIdentifier(schema)}; SET lock_timeout = ${lockMs}; ` +
          `SET idle_in_transaction_session_timeout = ${idleMs}; SET client_min_messages = warning`,
      );
      await this.commitFirst(client);
    } catch (error) {
      // Otherwise each failed attempt would leave an open session.
      client.connection.stream.destroy();
      throw error;
    }
    return client;
  }

  /**
   * Commits something before the first read. A primary that was restarted shows commits that no synchronous standby has. This commit waits
   * for the standby, and the log is in order, so whatever the session reads afterwards is replicated.
   * @throws Error when the standby did not confirm it
   */
  private async commitFirst(client: Client): Promise<void> {
    // An abandoned session waits for the standby and does not notice the loss of its client: without this, attempts fill the database.
    await client.query(
      'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
      [this.beginner],
    );
    this.warning = undefined;
    await client
      .query({
        text: `SELECT pg_logical_emit_message(true, 'quadpod', '')`,
        query_timeout: Math.min(firstCommitMs, this.timeoutMs ?? firstCommitMs),
      } as QueryConfig)
      .catch((cause: Error) => {
        const isLate = /timeout/i.test(cause.message);
        throw isLate
          ? new Error('a commit was not confirmed in time, possibly because there is no synchronous standby')
          : cause;
      });
    const warning = this.takeWarning();
    if (warning !== undefined) throw new Error(warning);
    await client.query("SET application_name = 'quadpod'");
  }
}

/** The address with the password in it: pg would take the empty one of the address instead of an option `password`. */
function withPassword(address: string, password: string | undefined): string {
  if (password === undefined) return address;
  const url = new URL(address);
  url.password = encodeURIComponent(password);
  return url.href;
}

/**
 * Returns true if the database rejected a statement and the connection stays usable: the error code is not one of the connection
 * or of a shutdown.
 */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|25P0[23]|57|XX)/.test(code);
}
