/**
 * What a process makes once, however many storages it serves: the log, the threads for documents, the guarded fetch, the count of
 * refused credentials. It must not know a storage.
 */
import { type Throttle, throttle } from '../authentication/throttle.js';
import type { Platform } from '../component/contract.js';
import { Documents } from '../documents/documents.js';
import { remoteContexts } from '../documents/remote-contexts.js';
import type { Log } from '../log.js';
import type { CoreSettings } from './core-settings.js';
import { outboundFetch } from './outbound-fetch.js';

export interface ServerProcess {
  readonly log: Log;
  /** Shows how far long work is. */
  readonly progress: Platform['progress'];
  readonly documents: Documents;
  /** Fetches under a policy; that of the settings when none is given. */
  readonly fetchUnder: ReturnType<typeof outboundFetch>;
  readonly failures: Throttle;
  /** Ends the threads; called when all storages are closed. */
  close(): Promise<void>;
}

/** @throws SettingsError for a file of certificates that cannot be read */
export function makeProcess(
  core: CoreSettings,
  { log, progress = () => () => {} }: { readonly log: Log; readonly progress?: Platform['progress'] },
): ServerProcess {
  const fetchUnder = outboundFetch(core);
  const documents = new Documents({
    updateTimeoutMs: core.updateTimeout * 1000,
    bounds: { triples: core.maxTriples },
    remoteContexts: remoteContexts({ hosts: core.contextHosts, fetch: fetchUnder() }),
  });
  return { log, progress, documents, fetchUnder, failures: throttle(core.failures), close: () => documents.close() };
}
