/** One connection to the database, made when it is needed and again after it was lost. */
import type { Client, QueryResult, QueryResultRow } from 'pg';
import { LwsError } from '../../errors.js';

/** Where the database is, and whose tables are used. */
export interface DatabaseAddress {
  /** `postgres://…`, without a schema. */
  readonly url: string;
  readonly schema: string;
  readonly password: string | undefined;
}

const [connectMs, farewellMs] = [5_000, 1_000];
/** After a failure, others are told at once for so long. */
const restMs = 500;
/** What a server that hangs may keep others waiting, and what one may wait for it. */
const [idleMs, lockMs] = [10_000, 15_000];

export const databaseAway = (cause: unknown): LwsError =>
  new LwsError('too-busy', 'The storage cannot reach its database. Try again in a moment.', {
    cause,
    reason: cause instanceof Error ? cause.message : String(cause),
    fields: { 'Retry-After': '5' },
  });

export class Connection {
  private client: Promise<Client> | undefined;
  private failure: { readonly error: unknown; readonly at: number } | undefined;
  private isClosed = false;

  /** @param timeoutMs of one question; absent: it may take as long as it takes */
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

  /** What the next question goes to: another one after it was lost, which knows nothing of what was begun before. */
  get session(): object | undefined {
    return this.client;
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
    // A machine that is gone does not take leave.
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
      application_name: 'quadpod',
      pipeline: true,
    });
    const lost = (): void => {
      const { client: known } = this;
      known?.then(
        (current) => {
          if (current === client && this.client === known) this.client = undefined;
        },
        // Whoever waits for it hears of that.
        () => {},
      );
    };
    client.on('error', lost);
    client.on('end', lost);
    try {
      await client.connect();
      await client.query(
        `SET search_path TO ${pg.escapeIdentifier(schema)}; SET lock_timeout = ${lockMs}; ` +
          `SET idle_in_transaction_session_timeout = ${idleMs}; SET client_min_messages = warning`,
      );
    } catch (error) {
      // A session that cannot be used would stay open, and another one with every further try.
      client.connection.stream.destroy();
      throw error;
    }
    return client;
  }
}

/** A client would take the empty one of the address instead of one beside it. */
function withPassword(address: string, password: string | undefined): string {
  if (password === undefined) return address;
  const url = new URL(address);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** The database answered, and can be asked on: an error with a code of its own that is none of the connection or a shutdown. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|25P0[23]|57|XX)/.test(code);
}
