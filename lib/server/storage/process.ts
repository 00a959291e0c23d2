/** Resources of the process, shared by all its storages: log, document threads, guarded fetch, rate limit of rejected credentials. */
import { inAllStorages, Tallies } from '../../authentication/tally.js';
import { type Throttle, throttle } from '../../authentication/throttle.js';
import type { Platform } from '../../component/contract.js';
import { Documents, makePools, type Pools } from '../../documents/documents.js';
import { remoteContexts } from '../../documents/remote-contexts.js';
import type { AppContext } from '../../http/app-context.js';
import type { Storage } from '../../resources/storage.js';
import { levelFaults } from '../../storage/level/classic-level.js';
import { getOrMake } from '../../tools/collections.js';
import type { Log } from '../../tools/log.js';
import type { Answered } from '../../tools/metrics.js';
import type { CoreSettings } from '../settings/core-settings.js';
import { outboundFetch } from './outbound-fetch.js';

export interface ServerProcess {
  readonly log: Log;
  /** Shows the progress of long work. */
  readonly progress: Platform['progress'];
  readonly documents: Documents;
  /** Returns the fetch function for a policy. Default: the policy of the settings. */
  readonly fetchUnder: ReturnType<typeof outboundFetch>;
  readonly failures: Throttle;
  /** Limits that components share across all storages. */
  readonly throttle: Platform['throttle'];
  readonly tallies: Tallies;
  /** Functions that are called a few seconds after the first request. */
  readonly warms: (() => void)[];
  /** Called after every response. */
  readonly answered: (answered: Answered) => void;
  /** Called with the caller of each request to a storage. */
  readonly onCaller?: ((storage: Storage) => AppContext['onCaller']) | undefined;
  /** Ends the threads if no other server of the process uses them. Called when all storages are closed. */
  close(): Promise<void>;
}

/** Time after the first request until the threads for updates and queries are loaded, in milliseconds. An unused server stays small. */
const warmMs = 3_000;
/** Routes for monitoring. Requests to them do not count as use. */
const watching = new Set(['health', 'metrics']);

/** Document threads shared by all servers that a program opens. */
const shared: { pools?: Pools | undefined; users: number } = { users: 0 };

/** Creates the resources of a process. @throws SettingsError for an unreadable certificate file */
export function makeProcess(
  core: CoreSettings,
  { log, progress = () => () => {} }: { readonly log: Log; readonly progress?: Platform['progress'] },
): ServerProcess {
  for (const fault of levelFaults)
    log.warn(`${fault}. The server uses the LevelDB of npm, which has defects. Install Quadpod again.`);
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
    throttle: (name: string, perMinute: number): Throttle =>
      getOrMake(throttles, name, () => throttle(perMinute, perMinute * inAllStorages)),
    tallies: new Tallies(),
  };
  return { log, progress, documents, fetchUnder, ...limits, warms, answered, close };
}
