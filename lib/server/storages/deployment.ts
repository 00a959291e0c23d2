/**
 * Many storages in one process: each request is handed to the storage that its host or path names, which is opened for it. That of `lws.base-uri`,
 * the home, is open all the time, and its controllers are the operators.
 */
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { throttle } from '../../authentication/throttle.js';
import type { Deployment, StorageChange, StorageRecord } from '../../component/deployment.js';
import { LwsError } from '../../errors.js';
import { createRefusal } from '../../http/app.js';
import { addressOf, pathOf } from '../../http/request-log.js';
import { endUpgrade } from '../../http/upgrade.js';
import { type Measure, measure } from '../../measures.js';
import { coreSettings, readBaseUri } from '../core-settings.js';
import { type OpenStorage, openStorage } from '../open-storage.js';
import type { ServerProcess } from '../process.js';
import type { Upgrade } from '../upgrades.js';
import type { Addressee } from './addresses.js';
import { storageSettings } from './overlay.js';
import { Residents } from './residents.js';
import type { StorageRecords } from './storage-records.js';
import { forGood, type StorageRegistry } from './storage-registry.js';

/** Openings of storages, in a minute, that requests from one address cause: without a credential; and with one, where that gets nobody anything. */
const openings = { unknown: throttle(30), known: throttle(120) };

const dayMs = 86_400_000;
const sweepMs = 3_600_000;

export class StorageDeployment implements Deployment {
  private readonly records: StorageRecords;
  private readonly residents: Residents;
  private readonly shared: ServerProcess;
  private home: OpenStorage | undefined;
  private refusal: RequestListener | undefined;
  private readonly refusals = new WeakMap<IncomingMessage, unknown>();
  private sweeper: NodeJS.Timeout | undefined;
  /** Of the home: whether it is alive, and ready. */
  private readonly watchedPath: string;

  constructor(
    private readonly registry: StorageRegistry,
    private readonly process: ServerProcess,
  ) {
    const core = registry.settings.of(coreSettings);
    this.records = registry.records;
    this.watchedPath = `${new URL(readBaseUri(core).storage).pathname.slice(0, -1)}${core.systemPrefix}/health/`;
    // All storages have one gate for what they fetch on the word of others; its clients take turns.
    const fetch = process.fetchUnder();
    this.shared = { ...process, fetchUnder: (policy) => (policy ? process.fetchUnder(policy) : fetch) };
    this.residents = new Residents({
      maxOpen: core.storagesOpen,
      idleMs: core.storagesIdle * 1000,
      clock: Date.now,
      open: (name) => this.open(name),
      markOf: (name) => `${this.records.folderOf(name)}.open`,
      onFailure: (name, error) =>
        process.log.error({ err: error, storage: name }, 'a storage cannot be opened or closed'),
    });
  }

  /** Begins to serve, with the home open. */
  start(home: OpenStorage): void {
    const { process, registry } = this;
    const { storagesKept } = registry.settings.of(coreSettings);
    this.home = home;
    this.refusal = createRefusal({ ...home.appContext, onAnswered: [], storage: undefined }, (req) =>
      this.refusals.get(req),
    );
    const sweep = (): void =>
      void this.sweep(storagesKept * dayMs).catch((error: unknown) =>
        process.log.error({ err: error }, 'removed storages could not be cleared away'),
      );
    this.records.watch((name) => void this.residents.close(name).then(sweep));
    const marks = readdirSync(this.records.folder).filter((file) => file.endsWith('.open'));
    void this.residents.wake(marks.map((file) => file.slice(0, -'.open'.length)).filter((name) => this.isReady(name)));
    sweep();
    this.sweeper = setInterval(sweep, sweepMs).unref();
    if (registry.addresses.isOneOrigin)
      process.log.warn(
        'The pages of all storages have one origin (lws.storages.address has {name} in its path): their users have to trust each other.',
      );
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    this.records.close();
    await this.residents.closeAll();
  }

  private isReady(name: string): boolean {
    return this.records.get(name)?.state === 'ready';
  }

  private async open(name: string): Promise<OpenStorage> {
    const { registry, shared } = this;
    return openStorage(storageSettings(registry, this.records.get(name)!), registry.components, {
      process: {
        ...shared,
        log: shared.log.child({ storage: name }),
        documents: shared.documents.of(name),
        answered: (request) => {
          shared.answered(request);
          if (request.isGranted) this.residents.known(name);
        },
      },
      home: this.home,
    });
  }

  /** Answers every request that reaches the server. */
  readonly listener: RequestListener = (req, res) => {
    const whom = this.whom(req);
    if (whom === 'home') return this.home!.listener(req, res);
    void this.hand(req, res, whom).catch((error: unknown) => {
      this.refusals.set(req, error);
      this.refusal!(req, res);
    });
  };

  /** Takes connections that are to become WebSockets. */
  readonly upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    const whom = this.whom(req);
    if (whom === 'home') this.home!.upgrade(req, socket, head);
    else void this.handUpgrade(req, socket, head, whom);
  };

  private handUpgrade(...[req, socket, head, whom]: [...Parameters<Upgrade>, Addressee]): Promise<void> {
    return this.enter(req, whom).then(
      ({ storage, end }) => {
        socket.once('close', end);
        storage.upgrade(req, socket, head);
      },
      () => endUpgrade(socket, 404),
    );
  }

  private whom(req: IncomingMessage): Addressee {
    const host = String(req.headers[':authority'] ?? req.headers.host ?? '');
    const path = pathOf(req);
    const found = this.registry.addresses.find(host, path);
    // Whoever watches the process asks it by whatever address it has; what is about the server, or names none, is for the home to answer.
    const isAnywhere = host === '' || path === '*' || (found === 'elsewhere' && path.startsWith(this.watchedPath));
    return isAnywhere ? 'home' : found;
  }

  private async hand(req: IncomingMessage, res: ServerResponse, whom: Addressee): Promise<void> {
    const { storage, end } = await this.enter(req, whom);
    res.once('close', end);
    storage.listener(req, res);
  }

  /** @throws LwsError where there is no such storage, or it cannot be asked now */
  private async enter(req: IncomingMessage, whom: Addressee): ReturnType<Residents['use']> {
    if (whom === 'elsewhere')
      throw new LwsError('misdirected-request', 'No storage of this server has an address with this host.');
    const record = typeof whom === 'object' ? this.records.get(whom.name) : undefined;
    if (!record || record.state === 'deleted') throw new LwsError('not-found', 'There is no such storage.');
    const { name, state } = record;
    if (state === 'suspended')
      throw new LwsError('too-busy', 'The storage is suspended. Ask its operator.', {
        fields: { 'Retry-After': '3600' },
      });
    const isKnown = req.headers.authorization !== undefined;
    const address = addressOf(this.home!.appContext, req) ?? '';
    const isOpen = this.residents.isOpen(name);
    const paid = isOpen ? undefined : await openings[isKnown ? 'known' : 'unknown'].begin(address);
    return this.residents.use(name, { isKnown, paid });
  }

  // The records, for the component `storages`.

  all(): readonly StorageRecord[] {
    return this.registry.all();
  }

  get(name: string): StorageRecord | undefined {
    return this.registry.get(name);
  }

  isOpen(name: string): boolean {
    return this.residents.isOpen(name);
  }

  addressOf(name: string): string {
    return this.registry.addressOf(name);
  }

  get measures(): readonly Measure[] {
    const { open, counts } = this.residents;
    return [
      measure('gauge', 'storages_known', 'Storages of the deployment, but that of the base URI.', this.records.size),
      measure('gauge', 'storages_open', 'Of these, open now.', open),
      measure('counter', 'storages_opened_total', 'Times that one was opened.', counts.opened),
      measure('counter', 'storages_evicted_total', 'Times that one was closed for another.', counts.evicted),
    ];
  }

  async change(name: string, wanted: StorageChange): Promise<StorageRecord> {
    const record = await this.registry.change(name, wanted);
    await this.residents.close(name);
    return record;
  }

  /** Clears away what was removed long enough ago: nobody brings it back while its folder goes. */
  private async sweep(keptMs: number): Promise<void> {
    const until = Date.now() - keptMs;
    for (const { name, id, deleted } of this.records.all()) {
      if (deleted === undefined || Date.parse(deleted) > until) continue;
      const isIt = (present: StorageRecord | undefined): boolean => present?.id === id && present.state === 'deleted';
      const record = await this.records.change(name, (present) =>
        isIt(present) ? { ...present!, deleted: forGood } : present,
      );
      if (!isIt(record)) continue;
      await this.residents.close(name);
      await rm(this.records.folderOf(name), { recursive: true, force: true });
      await this.records.change(name, (present) => (isIt(present) ? undefined : present));
    }
  }
}
