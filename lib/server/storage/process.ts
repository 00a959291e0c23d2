/**
 * What a process makes once, however many storages it serves: the log, the threads for documents, the guarded fetch, the count of
 * refused credentials. It must not know a storage.
 */
import { inAllStorages, Tallies } from '../../authentication/tally.js';
import { type Throttle, throttle } from '../../authentication/throttle.js';
import type { Platform } from '../../component/contract.js';
import { Documents, makePools, type Pools } from '../../documents/documents.js';
import { remoteContexts } from '../../documents/remote-contexts.js';
import type { AppContext } from '../../http/app-context.js';
import type { Log } from '../../log.js';
import type { Answered } from '../../metrics.js';
import type { Storage } from '../../resources/storage.js';
import type { CoreSettings } from '../settings/core-settings.js';
import { outboundFetch } from './outbound-fetch.js';

export interface ServerProcess {
  readonly log: Log;
  /** Shows how far long work is. */
  readonly progress: Platform['progress'];
  readonly documents: Documents;
  /** Fetches under a policy; that of the settings when none is given. */
  readonly fetchUnder: ReturnType<typeof outboundFetch>;
  readonly failures: Throttle;
  /** Limits that components have in common in all storages. */
  readonly throttle: Platform['throttle'];
  readonly tallies: Tallies;
  /** What is made ready some seconds after the first request. */
  readonly warms: (() => void)[];
  /** Told of every request that was answered. */
  readonly answered: (answered: Answered) => void;
  /** Told of the caller of each request to a storage. */
  readonly onCaller?: ((storage: Storage) => AppContext['onCaller']) | undefined;
  /** Ends the threads when no other server of the process has them; called when all storages are closed. */
  close(): Promise<void>;
}

/** Milliseconds after the first request, after which the threads are loaded that updates and queries need first. A server that nobody asks stays small. */
const warmMs = 3_000;
/** Routes that are asked whether anybody needs the server or not. */
const watching = new Set(['health', 'metrics']);

/** The threads for documents, which all servers that a program opens share: each storage would have its own otherwise. */
const shared: { pools?: Pools | undefined; users: number } = { users: 0 };

/** @throws SettingsError for a file of certificates that cannot be read */
export function makeProcess(
  core: CoreSettings,
  { log, progress = () => () => {} }: { readonly log: Log; readonly progress?: Platform['progress'] },
): ServerProcess {
  const fetchUnder = outboundFetch(core);
  shared.pools ??= makePools();
  shared.users++;
  const documents = new Documents(
    {
      updateTimeoutMs: core.updateTimeout * 1000,
      bounds: { triples: core.maxTriples, values: core.maxValues },
      remoteContexts: remoteContexts({ hosts: core.contextHosts, fetch: fetchUnder() }),
    },
    shared.pools,
  );
  const warms = [() => documents.warm()];
  const warmUp = (): void => {
    for (const warm of warms) warm();
  };
  let warming: NodeJS.Timeout | undefined;
  const answered = ({ route }: Answered): void => {
    if (!watching.has(route)) warming ??= setTimeout(warmUp, warmMs).unref();
  };
  const close = async (): Promise<void> => {
    clearTimeout(warming);
    if (--shared.users > 0) return;
    shared.pools = undefined;
    await documents.close();
  };
  const throttles = new Map<string, Throttle>();
  const limits = {
    failures: throttle(core.failures),
    throttle: (name: string, perMinute: number): Throttle => {
      const known = throttles.get(name) ?? throttle(perMinute, perMinute * inAllStorages);
      throttles.set(name, known);
      return known;
    },
    tallies: new Tallies(),
  };
  return { log, progress, documents, fetchUnder, ...limits, warms, answered, close };
}
