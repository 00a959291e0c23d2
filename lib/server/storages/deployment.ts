/**
 * Many storages in one process: each request goes to the storage that its host or path names, which is opened on demand. The
 * storage of `lws.base-uri`, the home storage, is always open. Its controllers are the operators.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { throttle } from '../../authentication/throttle.js';
import type { CallerClass } from '../../authorization/authorizer.js';
import type { Access, Principal } from '../../authorization/principal.js';
import { type Deployment, invitationDays, type StorageRecord } from '../../component/deployment.js';
import { createRefusal } from '../../http/app.js';
import { breakOff, hasBody, isHttp2, onClosed } from '../../http/http2.js';
import { statusOf } from '../../http/problem.js';
import { interruptBody } from '../../http/request.js';
import { addressOf, hostOf, pathOf } from '../../http/request-log.js';
import { endUpgrade } from '../../http/upgrade.js';
import type { Storage } from '../../resources/storage.js';
import { lruCache } from '../../tools/caches.js';
import { LwsError, tooBusy } from '../../tools/errors.js';
import { clientOf } from '../../tools/fields/client-address.js';
import { HiddenField } from '../../tools/hidden-field.js';
import { type Metric, metric } from '../../tools/metrics.js';
import { priority } from '../../tools/threads/thread.js';
import { coreSettings, readBaseUri } from '../settings/core-settings.js';
import { type OpenStorage, openStorage } from '../storage/open-storage.js';
import { readIdentity, signLinkCredential } from '../storage/owner-credential.js';
import type { ServerProcess } from '../storage/process.js';
import type { Upgrade } from '../storage/upgrades.js';
import type { Addressee } from './addresses.js';
import { OpenStorages } from './open-storages.js';
import { storageSettings } from './overlay.js';
import type { Seat } from './seats.js';
import type { StorageRecords } from './storage-records.js';
import { forGood, type StorageRegistry } from './storage-registry.js';
import { laying } from './templates.js';

/** Maximum count of storages that are open in addition to `lws.storages.max-open` while their callers are authenticated. */
const maxGuests = 4;
/** Time for which a caller's class and credential are cached for the next opening, in milliseconds. */
const [standingMs, credentialMs] = [5_000, 3_600_000];

/** Validity of a sign-in link, in seconds. */
const signInSeconds = 3600;

const dayMs = 86_400_000;
const sweepMs = 3_600_000;

const digestOf = (name: string, { headers }: IncomingMessage): string =>
  createHash('sha256').update(`${name} ${headers.authorization}`).digest('base64');

export class StorageDeployment implements Deployment {
  private readonly records: StorageRecords;
  private readonly residents: OpenStorages;
  private readonly shared: ServerProcess;
  private home: OpenStorage | undefined;
  private refusal: RequestListener | undefined;
  private readonly refusals = new HiddenField<IncomingMessage, unknown>();
  /** Rate limit of openings for unprivileged callers, per minute: per address, and in total. */
  private readonly openings = throttle(30, 600);
  private readonly seats = new HiddenField<IncomingMessage, Seat>();
  private readonly standings = new WeakMap<Principal, { readonly callerClass: CallerClass; readonly until: number }>();
  /** Caller classes by digests of storage and accepted credential. */
  private readonly credentials = lruCache<CallerClass>(10_000, credentialMs);
  private sweeper: NodeJS.Timeout | undefined;
  /** Directory with a file for each storage that is open or has pending work. Files next to the records would cause rescans. */
  private readonly marks: string;
  /** Directory with a file for each storage, with the bytes that the storage used when it was closed. */
  private readonly usages: string;
  private sweeping = Promise.resolve();
  private isSweepDue = false;
  /** Path of the health routes, which the home storage answers. */
  private readonly watchedPath: string;
  /** Suffix of the path of each token endpoint. */
  private readonly tokenPath: string;

  constructor(
    readonly storages: StorageRegistry,
    private readonly process: ServerProcess,
  ) {
    const core = storages.settings.of(coreSettings);
    this.records = storages.records;
    storages.onChanged = (name) => this.renew(name);
    this.marks = join(this.records.folder, '.open');
    this.usages = join(this.records.folder, '.used');
    rmSync(join(this.records.folder, laying), { recursive: true, force: true });
    for (const folder of [this.marks, this.usages]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.watchedPath = `${new URL(readBaseUri(core).storage).pathname.slice(0, -1)}${core.systemPrefix}/health/`;
    this.tokenPath = `${core.systemPrefix}/token`;
    // Parsing, queries and imports of one storage must not delay responses of others.
    priority.niceness = 10;
    // All storages share one limit for fetches of untrusted URLs, with round robin between clients.
    const fetch = process.fetchUnder();
    this.shared = { ...process, fetchUnder: (policy) => (policy ? process.fetchUnder(policy) : fetch) };
    this.residents = new OpenStorages({
      maxOpen: core.storagesOpen,
      maxGuests,
      idleMs: core.storagesIdle * 1000,
      clock: Date.now,
      isReady: (name) => this.isReady(name),
      open: (name) => this.open(name),
      markOf: (name) => this.markOf(name),
      usageOf: (name) => this.usageOf(name),
      onFailure: (name, error) =>
        process.log.error({ err: error, storage: name }, 'a storage cannot be opened or closed'),
    });
  }

  /** Starts to serve. The home storage must be open. */
  start(home: OpenStorage): void {
    const { process, storages } = this;
    const { storagesKept } = storages.settings.of(coreSettings);
    this.home = home;
    this.refusal = createRefusal({ ...home.appContext, onAnswered: [], storage: undefined, hasPages: true }, (req) =>
      this.refusals.get(req),
    );
    const fault = (message: string) => (err: unknown) => process.log.error({ err }, message);
    // Run one sweep at a time: a directory must not be deleted after a new storage has received its name.
    const sweep = (): void => {
      if (this.isSweepDue) return;
      this.isSweepDue = true;
      this.sweeping = this.sweeping
        .then(() => this.sweep(storagesKept * dayMs))
        .catch(fault('removed storages could not be deleted'));
    };
    const changed = (name: string): void => void this.renew(name).then(sweep);
    this.records.watch(changed, fault('the record of a storage cannot be read; the previous one stays in force'));
    void this.residents.wake(readdirSync(this.marks).filter((name) => this.isReady(name)));
    sweep();
    this.sweeper = setInterval(sweep, sweepMs).unref();
    if (this.isOneOrigin)
      process.log.warn(
        'The pages of all storages have one origin (lws.storages.address has {name} in its path). Their users must trust each other.',
      );
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    this.records.close();
    await this.residents.closeAll();
  }

  private markOf(name: string): string {
    return join(this.marks, name);
  }

  private usageOf(name: string): string {
    return join(this.usages, name);
  }

  usedBytes(name: string): number | undefined {
    return this.residents.usedBytes(name);
  }

  /** Closes a storage whose record has changed. If it has pending work, it is opened again. */
  private async renew(name: string): Promise<void> {
    await this.residents.close(name);
    if (this.isReady(name) && existsSync(this.markOf(name))) void this.residents.wake([name]);
  }

  private isReady(name: string): boolean {
    return this.records.get(name)?.state === 'ready';
  }

  private async open(name: string): Promise<OpenStorage> {
    const { storages, shared } = this;
    const record = this.records.get(name)!;
    return openStorage(storageSettings(storages, record), storages.components, {
      ownersChange: record.ownersChange,
      process: {
        ...shared,
        // No progress for each storage: the terminal shows the progress of the process.
        progress: () => () => {},
        log: shared.log.child({ storage: name }),
        documents: shared.documents.of(name),
        onCaller: (storage) => (req, access) => this.judge(name, storage, req, access),
      },
      home: this.home,
    });
  }

  /** Records the class of a caller in a storage after its credential was verified (rule 21.4). */
  private judge(...[name, { authorizer, store }, req, access]: [string, Storage, IncomingMessage, Access]): void {
    const seat = this.seats.get(req);
    const { principal } = access;
    if (!seat || !principal) return;
    const use = (callerClass: CallerClass): void => {
      Object.assign(seat, { callerClass, isJudged: true } satisfies Partial<Seat>);
      if (callerClass !== 'stranger') this.residents.known(name);
    };
    const known = this.standings.get(principal);
    if (known && known.until > Date.now()) return void use(known.callerClass);
    // Do not wait, because fetching group documents may take long.
    authorizer.callerClass(store, access).then(
      (callerClass) => {
        this.standings.set(principal, { callerClass, until: Date.now() + standingMs });
        if (callerClass !== 'stranger') this.credentials.set(digestOf(name, req), callerClass);
        use(callerClass);
      },
      (error: unknown) => this.process.log.warn({ err: error, storage: name }, 'the class of a caller is unknown'),
    );
  }

  /** Handles every request that reaches the server. */
  readonly listener = (req: IncomingMessage, res: ServerResponse): void => {
    const whom = this.whom(req);
    if (whom === 'home') return void this.home!.listener(req, res);
    void this.enter(req, whom, res).then(
      // Unsent data does not keep the storage open, even if the client reads slowly.
      ({ storage, leave }) => storage.listener(req, res).finally(leave),
      (error: unknown) => {
        this.refusals.set(req, error);
        this.refusal!(req, res);
      },
    );
  };

  /** Handles WebSocket upgrades. */
  readonly upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    const whom = this.whom(req);
    if (whom === 'home') this.home!.upgrade(req, socket, head);
    else void this.handUpgrade(req, socket, head, whom);
  };

  private handUpgrade(...[req, socket, head, whom]: [...Parameters<Upgrade>, Addressee]): Promise<void> {
    return this.enter(req, whom).then(
      ({ storage, leave }) => {
        storage.upgrade(req, socket, head);
        // A WebSocket does not keep the storage open: the storage is closed if another one needs the slot.
        leave();
      },
      (error: unknown) => endUpgrade(socket, statusOf(error)),
    );
  }

  private whom(req: IncomingMessage): Addressee {
    const host = hostOf(req);
    const path = pathOf(req);
    const found = this.storages.addresses.find(host, path);
    // Monitoring may use any address. The home storage handles requests about the server, and requests without a storage.
    const isAnywhere = host === '' || path === '*' || (found === 'elsewhere' && path.startsWith(this.watchedPath));
    return isAnywhere ? 'home' : found;
  }

  /**
   * Returns the storage of a request. The storage counts as used until it is released or the connection closes.
   * @throws LwsError if there is no such storage, or it cannot be opened now
   */
  private async enter(
    req: IncomingMessage,
    whom: Addressee,
    res?: ServerResponse,
  ): Promise<{ storage: OpenStorage; leave: () => void }> {
    const { storage, end } = await this.admit(req, whom, res);
    let isUsing = true;
    let forget = (): void => {};
    const leave = (): void => {
      if (isUsing) end();
      isUsing = false;
      forget();
    };
    // Allow any count of listeners: on an HTTP/1.1 connection, many requests may wait for the first one.
    if (!isHttp2(req)) req.socket.setMaxListeners(0);
    forget = onClosed(req, leave);
    return { storage, leave };
  }

  /** Admits a request to a storage. @param res undefined for an upgrade */
  private async admit(
    req: IncomingMessage,
    whom: Addressee,
    res: ServerResponse | undefined,
  ): ReturnType<OpenStorages['use']> {
    if (whom === 'elsewhere') throw new LwsError('misdirected-request', 'This server has no storage at this host.');
    const record = typeof whom === 'object' ? this.records.get(whom.name) : undefined;
    if (!record || record.state === 'deleted') throw new LwsError('not-found', 'The storage does not exist.');
    const { name, state } = record;
    if (state === 'suspended') throw tooBusy('The storage is suspended. Contact its operator.', 3600);
    const address = addressOf(this.home!.appContext, req) ?? '';
    const hasCredential = req.headers.authorization !== undefined;
    const known = hasCredential ? this.credentials.get(digestOf(name, req)) : undefined;
    const callerClass = known ?? 'stranger';
    const isJudged = known !== undefined || !hasCredential;
    const isPaying = callerClass === 'stranger' && !this.residents.isOpen(name);
    const seat: Seat = {
      ...{ callerClass, address: clientOf(address), isJudged, isForToken: this.isForToken(req) },
      isUnfinished: () => hasBody(req) && !req.complete,
      isSending: () => res?.headersSent === true,
      interrupt: (error) => interruptBody(req, error),
      abort: () => res && breakOff(res),
    };
    this.seats.set(req, seat);
    return this.residents.use(name, seat, isPaying ? await this.openings.begin(address) : undefined);
  }

  private isForToken(req: IncomingMessage): boolean {
    return req.method === 'POST' && pathOf(req).endsWith(this.tokenPath);
  }

  get isOneOrigin(): boolean {
    return this.storages.addresses.isOneOrigin;
  }

  async signIn(name: string, subject: string | undefined): Promise<string | undefined> {
    const identity = this.home!.mintedOwner === undefined ? undefined : readIdentity(this.home!.mintedOwner);
    if (identity === undefined || identity.did !== subject) return undefined;
    return signLinkCredential(identity, this.storages.addresses.of(name), signInSeconds);
  }

  isOpen(name: string): boolean {
    return this.residents.isOpen(name);
  }

  get metrics(): readonly Metric[] {
    const { open, counts } = this.residents;
    return [
      metric('gauge', 'storages_known', 'Storages of the deployment, except that of the base URI.', this.records.size),
      metric('gauge', 'storages_open', 'Open storages.', open),
      metric('counter', 'storages_opened_total', 'Storages opened.', counts.opened),
      metric('counter', 'storages_evicted_total', 'Storages closed to open another one.', counts.evicted),
    ];
  }

  /** Deletes expired storages from the trash. Holds the lock, so that a concurrent restore fails. */
  private async sweep(keptMs: number): Promise<void> {
    this.isSweepDue = false;
    const until = Date.now() - keptMs;
    for (const record of this.records.all()) {
      if (record.deleted === undefined || Date.parse(record.deleted) > until) continue;
      await this.clear(record).catch((error: unknown) =>
        this.process.log.error({ err: error, storage: record.name }, 'a removed storage could not be deleted'),
      );
    }
  }

  private async clear({ name, id }: StorageRecord): Promise<void> {
    const isIt = (present: StorageRecord | undefined): boolean => present?.id === id && present.state === 'deleted';
    const record = await this.records.change(name, (present) =>
      isIt(present) ? { ...present!, deleted: forGood } : present,
    );
    if (!isIt(record)) return;
    await this.residents.close(name);
    this.process.tallies.remove(this.storages.addressOf(name));
    await rm(this.records.folderOf(name), { recursive: true, force: true });
    for (const file of [this.markOf(name), this.usageOf(name)]) await rm(file, { force: true });
    // Keep the record if the invitation that has created the storage may still be valid.
    const isSpent =
      record!.invitation !== undefined && Date.parse(record!.created) > Date.now() - invitationDays * dayMs;
    if (!isSpent) await this.records.change(name, (present) => (isIt(present) ? undefined : present));
  }
}
