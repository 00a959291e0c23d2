/** Connection to the database, opened on demand, and reopened after a loss. */
import { randomUUID } from 'node:crypto';
import type { Client, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { type LwsError, tooBusy } from '../../lib/plugin/component.js';
import type { DatabaseAddress } from './contract.js';

const [connectMs, farewellMs] = [5_000, 1_000];
/** Maximum wait for the first commit of a session, in milliseconds. */
const firstCommitMs = 10_000;
/** Time after a failed connection attempt during which queries are rejected immediately, in milliseconds. */
const restMs = 500;
/** Maximum time that a blocked server can keep a lock in a transaction, and maximum wait for a lock, in milliseconds. */
const [idleMs, lockMs] = [10_000, 15_000];

export const databaseAway = (cause: unknown): LwsError =>
  tooBusy('The storage cannot reach its database. Retry in a few seconds.', 5, {
    cause,
    reason: cause instanceof Error ? cause.message : String(cause),
  });

export class Connection {
  private client: Promise<Client> | undefined;
  private failure: { readonly error: unknown; readonly at: number } | undefined;
  private isClosed = false;
  /** Application name of a session until its first commit. Identifies abandoned sessions of this connection. */
  private readonly beginner = `quadpod ${randomUUID()}`;
  private warning: string | undefined;

  /** @param timeoutMs timeout of a query in milliseconds; absent: no limit */
  constructor(
    private readonly address: DatabaseAddress,
    private readonly timeoutMs?: number,
  ) {}

  /** Executes a query. @throws LwsError `too-busy` if the database cannot be reached; otherwise the error of the database */
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

  /** Object that identifies the session. Changes after a loss: transactions and locks of the old session have ended. */
  get session(): object | undefined {
    return this.client;
  }

  /**
   * Returns and clears the last warning. If the wait of a commit for the standby is cancelled, the commit succeeds with a
   * warning, and the standby may lack the commit.
   */
  takeWarning(): string | undefined {
    const { warning } = this;
    this.warning = undefined;
    return warning;
  }

  /** Closes the connection. The next query opens a new one. */
  drop(): void {
    const { client } = this;
    this.client = undefined;
    void client?.then((each) => each.connection.stream.destroy()).catch(() => {});
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const client = await this.client?.catch(() => undefined);
    if (!client) return;
    // If the database is unreachable, it never confirms the end of the session.
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
        // The query that waits for the connection handles the error.
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
      // Close the socket: otherwise each failed attempt would leave an open session.
      client.connection.stream.destroy();
      throw error;
    }
    return client;
  }

  /**
   * Commits before the first read. A restarted primary shows commits that no synchronous standby has. This commit waits for the
   * standby, and the WAL is ordered, so everything read later is replicated.
   * @throws Error if the standby did not confirm the commit
   */
  private async commitFirst(client: Client): Promise<void> {
    // Cancel abandoned sessions: they wait for the standby, and do not notice that their client is gone. Repeated attempts
    // would otherwise use up the connections of the database.
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

/** Returns the address with the password: pg would prefer the empty password in the address over its option `password`. */
function withPassword(address: string, password: string | undefined): string {
  if (password === undefined) return address;
  const url = new URL(address);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Returns true if the database rejected a statement, but the connection is usable. Excludes connection and shutdown errors. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|25P0[23]|57|XX)/.test(code);
}
