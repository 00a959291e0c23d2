/** The tables in the database: the first server makes them, and the others check their version. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LwsError } from '../../errors.js';
import { StoreUnavailableError } from '../engine/durable-level.js';
import { Connection, type DatabaseAddress } from './connection.js';

const tablesVersion = '1';
/** The format of rows and checkpoints, which have quads as GSPO keys alone: the orders of a copy are its own. */
const rowFormat = '2';

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
 * Makes the tables that are missing.
 * @returns the name of the journal, which each copy keeps to know its journal again
 * @throws StoreUnavailableError when the tables are of another storage or a later version, or the database cannot be reached
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
    if (found.tables !== tablesVersion || found.format !== rowFormat)
      throw new StoreUnavailableError(
        `The database was written by another version of the server (tables ${found.tables}, format ${found.format}); ` +
          `this one knows tables ${tablesVersion} and format ${rowFormat}.`,
      );
    if (found.storage !== storage)
      throw new StoreUnavailableError(
        `The database has the storage of ${found.storage}, and lws.base-uri says ${storage}. ` +
          'Set lws.base-uri back, choose another lws.store or lws.store.schema, or move the storage: stop all servers, with the old address ' +
          '"quadpod backup DIR" on one of them, then into an empty lws.data-dir, with a new lws.store or lws.store.schema, ' +
          `"quadpod restore DIR --rewrite ${found.storage}=${storage}".`,
      );
    return found.journal;
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    throw new StoreUnavailableError(`The database that lws.store names cannot be reached: ${error.reason}.`, error);
  } finally {
    await connection.close();
  }
}

/** Repeats a statement that fails: `IF NOT EXISTS` can fail where two servers make something at the same time. */
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
