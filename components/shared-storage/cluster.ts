/** Lifecycle of a server that shares its storage with others: startup, membership in the cluster, shutdown. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailableError } from '../../lib/plugin/blobs.js';
import { writeWhole } from '../../lib/plugin/certificates.js';
import { Checkpoints } from './checkpoints.js';
import { Connection } from './connection.js';
import type { CommitQueue, Coordination, DatabaseAddress, JoinOptions } from './contract.js';
import { openCopy } from './copy.js';
import { Journal, openTables } from './journal.js';
import { SharedLog } from './shared-log.js';

/** Asserts that all servers use the same blob store. @throws StoreUnavailableError */
async function assertSharedBlobs(connection: Connection, location: JoinOptions['blobs']): Promise<void> {
  const own = await nameOf(location);
  await connection.query("INSERT INTO meta (name, value) VALUES ('blobs', $1) ON CONFLICT DO NOTHING", [own]);
  const { rows } = await connection.query<{ value: string }>("SELECT value FROM meta WHERE name = 'blobs'");
  if (rows[0]!.value === own) return;
  throw new StoreUnavailableError(
    'This server stores JSON and binary content in another location than the other servers of the storage. Use the same lws.blobs (s3://…) for all of them, or ' +
      'the same directory blobs/ in their lws.data-dir.',
  );
}

async function nameOf({ dataDir, place }: JoinOptions['blobs']): Promise<string> {
  if (place) return place.id;
  const folder = join(dataDir, 'blobs');
  const file = join(folder, 'place');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, randomUUID(), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFile(file, 'utf8');
}

/** Synchronizes the secrets between the servers: each server has files with the secrets, and the database has a copy. */
class SharedSecrets {
  /** Secrets that the database had at the last synchronization, by name. */
  private readonly known = new Map<string, string>();

  /** @param names file names of the secrets */
  constructor(
    private readonly connection: Connection,
    private readonly folder: string,
    private readonly names: readonly string[],
  ) {}

  /** Copies changed secrets: from the database to the files, and from the files to the database. */
  async synchronize(): Promise<void> {
    const { rows } = await this.connection.query<{ name: string; value: string }>('SELECT name, value FROM secrets');
    const shared = new Map(rows.map(({ name, value }) => [name, value]));
    for (const name of this.names) {
      const file = join(this.folder, name);
      const there = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      const value = shared.get(name);
      if (value === there) {
        if (value !== undefined) this.known.set(name, value);
      } else if (there !== undefined && value === this.known.get(name)) await this.give(name, there);
      else if (value !== undefined) {
        writeWhole(file, value);
        this.known.set(name, value);
      }
    }
  }

  private async give(name: string, value: string): Promise<void> {
    const before = this.known.get(name);
    // If two servers change a secret, the first one wins. The other server reads the secret at the next synchronization.
    const [statement, values] =
      before === undefined
        ? ['INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, value]]
        : ['UPDATE secrets SET value = $2 WHERE name = $1 AND value = $3', [name, value, before]];
    const { rowCount } = await this.connection.query(statement, values);
    if (rowCount === 1) this.known.set(name, value);
  }
}

const [refreshMs, forgetMs] = [1_000, 60_000];
const keptMinutes = 60;
const minCheckpointBytes = 64 << 20;
/** Maximum time that a startup waits for other startups, in seconds. */
const startSeconds = 300;

export class Cluster implements Coordination {
  readonly hasOthers = true;
  private readonly journal: Journal;
  private log: SharedLog | undefined;
  private readonly membership: ServerMembership;
  private readonly secrets: SharedSecrets;
  private readonly checkpoints: Checkpoints;
  /** Connection that holds a lock during the startup: servers that start concurrently could create the same objects. */
  private readonly starting: Connection;
  private readonly onLead: (() => void)[] = [];
  /** Session of `starting` when it acquired the lock. */
  private startSession: object | undefined;
  private isMember = false;
  private refreshedAt = -refreshMs;
  private forgotAt = -forgetMs;

  private constructor(
    address: DatabaseAddress,
    private readonly options: JoinOptions,
  ) {
    const { folder, secrets, newThread, onTrouble } = options;
    this.journal = new Journal(address);
    this.starting = new Connection(address);
    const connection = this.journal.others;
    this.secrets = new SharedSecrets(connection, folder, secrets);
    this.checkpoints = new Checkpoints({ address, keptMinutes, newThread, minBytes: minCheckpointBytes });
    this.membership = new ServerMembership(
      connection,
      (begins) => this.term(begins),
      (error) => onTrouble('The membership of this server could not be renewed in the database.', error),
    );
  }

  static async join(address: DatabaseAddress, options: JoinOptions): Promise<Cluster> {
    const { replica, storage, blobs } = options;
    const name = await openTables(address, storage);
    const cluster = new Cluster(address, options);
    try {
      await cluster.startAlone();
      await assertSharedBlobs(cluster.journal.others, blobs);
      await cluster.secrets.synchronize();
      await openCopy({ ...options, journal: cluster.journal, name });
      await replica.begin();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  order(queue: CommitQueue): SharedLog {
    this.log = new SharedLog(queue, this.journal, this.options.replica);
    return this.log;
  }

  freshen(): Promise<void> {
    return this.log!.freshen();
  }

  private async startAlone(): Promise<void> {
    await this.starting.query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '${startSeconds}s'; ` +
        "SELECT 1 FROM meta WHERE name = 'journal' FOR UPDATE",
    );
    this.startSession = this.starting.session;
  }

  /** Asserts that the lock was not lost. @throws StoreUnavailableError if another server may have started meanwhile */
  private assertAlone(): void {
    if (this.startSession === undefined || this.startSession === this.starting.session) return;
    throw new StoreUnavailableError(
      'The connection to the database was lost while the server started. Start it again.',
    );
  }

  async opened(): Promise<void> {
    this.assertAlone();
    await this.secrets.synchronize();
    this.startSession = undefined;
    await this.starting.close();
  }

  async serve(): Promise<void> {
    this.log!.poll();
    await this.opened();
    this.isMember = true;
    await this.membership.join();
  }

  /** Synchronizes the secrets, at most once a second. */
  async refreshSecrets(): Promise<void> {
    if (performance.now() - this.refreshedAt < refreshMs) return;
    this.refreshedAt = performance.now();
    await this.secrets.synchronize();
  }

  async isFirst(id: string, validMs: number): Promise<boolean> {
    const { rowCount } = await this.journal.others.query(
      "INSERT INTO used (id, until) VALUES ($1, now() + $2 * interval '1 millisecond') ON CONFLICT DO NOTHING",
      [id, validMs],
    );
    return rowCount === 1;
  }

  get leads(): boolean {
    return this.membership.leads;
  }

  onLeading(listener: () => void): void {
    this.onLead.push(listener);
  }

  private async term(begins: boolean): Promise<void> {
    await this.secrets.synchronize();
    if (!this.leads) return;
    if (begins) for (const listener of this.onLead) listener();
    await this.forget();
    this.checkpoints.review().catch((error: unknown) => this.options.onTrouble('Making a checkpoint failed.', error));
  }

  /** Removes used identifiers an hour after their expiry, because the clocks of the servers differ. */
  private async forget(): Promise<void> {
    if (performance.now() - this.forgotAt < forgetMs) return;
    this.forgotAt = performance.now();
    await this.journal.others.query("DELETE FROM used WHERE until < now() - interval '1 hour'");
  }

  async close(): Promise<void> {
    await this.log?.close();
    if (this.isMember)
      await this.membership.leave().catch((error: unknown) => {
        this.options.onTrouble('The membership of this server could not be removed from the database.', error);
      });
    await this.checkpoints.stop();
    await this.starting.close();
    await this.journal.close();
  }
}

const renewMs = 4_000;
const [leaseSeconds, leaseMs] = [12, 12_000];

/**
 * Membership in the cluster: every running server renews its row in a table. One server is the leader and runs the jobs of the
 * storage. A delayed server may consider itself the leader for too long, so these jobs must tolerate a second server.
 */
class ServerMembership {
  readonly id = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;
  private leadsUntil = 0;

  /** @param onTerm called after each renewal; `begins` is true if this server has just become the leader */
  constructor(
    private readonly connection: Connection,
    private readonly onTerm: (begins: boolean) => Promise<void>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  get leads(): boolean {
    return performance.now() < this.leadsUntil;
  }

  async join(): Promise<void> {
    await this.renew();
    this.timer = setInterval(() => {
      this.renewing ??= this.renew()
        .catch(this.onTrouble)
        .finally(() => {
          this.renewing = undefined;
        });
    }, renewMs).unref();
  }

  private async renew(): Promise<void> {
    const began = performance.now();
    await this.connection.query(
      "INSERT INTO servers (id, until) VALUES ($1, now() + $2 * interval '1 second') " +
        'ON CONFLICT (id) DO UPDATE SET until = excluded.until',
      [this.id, leaseSeconds],
    );
    const { rows } = await this.connection.query<{ id: string }>(
      'SELECT id FROM servers WHERE until > now() ORDER BY joined, id LIMIT 1',
    );
    const led = this.leads;
    this.leadsUntil = rows[0]?.id === this.id ? began + leaseMs : 0;
    await this.onTerm(!led && this.leads);
  }

  /** Removes the row, so that another server can become the leader at once. */
  async leave(): Promise<void> {
    clearInterval(this.timer);
    await this.renewing;
    this.leadsUntil = 0;
    await this.connection.query("DELETE FROM servers WHERE id = $1 OR until < now() - interval '1 day'", [this.id]);
  }
}
