/** Versions: earlier states of data resources, to read, cite and restore (chapter 27 of the rules). */
import { defineComponent } from '../../lib/component/component.js';
import type { Installation, Platform } from '../../lib/component/contract.js';
import { hourly } from '../../lib/component/hourly.js';
import { flag, integer, type SettingsOf, setting } from '../../lib/settings/settings.js';
import { keptBlobs } from '../../lib/storage/keys/kept-blobs.js';
import { isContainerIri } from '../../lib/storage/keys/records.js';
import { versionEntries } from '../../lib/storage/keys/version-entries.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { pastQueries } from './as-of-requests.js';
import { versionFaults } from './check.js';
import { positionOf } from './entries.js';
import { expire } from './erasure.js';
import { packingListener, versionListener } from './listener.js';
import { areDatesWhole, noteSettings } from './permissions.js';
import { earlierStates, versionLinks } from './replies.js';
import { noteSince, Switches } from './switches.js';

const settings = {
  all: setting(
    'lws.versions.all',
    flag,
    false,
    'Keep earlier states of all data resources. Otherwise of those with a link version-history only.',
    'storage',
  ),
  days: setting(
    'lws.versions.days',
    integer(0, 36_500),
    0,
    'Time after which earlier states of resources are deleted, in days. 0: they are kept.',
    'storage',
  ),
};

const dayMs = 86_400_000;

export default defineComponent({
  name: 'versions',
  settings,
  // True even if the setting is off: the component then ends the histories of changed resources, to prevent gaps.
  isEnabled: () => true,
  async install(platform: Platform, { all, days }: SettingsOf<typeof settings>): Promise<Installation> {
    const { store, log } = platform;
    const switches = new Switches(all, platform);
    store.onTransaction(packingListener(switches), () => true);
    store.onCompletion(versionListener(platform, switches));
    const isWhole = await areDatesWhole(store);
    if (!isWhole)
      log.warn(
        'Dates of permissions are not those written last. Only controllers can read earlier states. Run "quadpod check".',
      );
    const answering = { platform, switches, areDatesWhole: isWhole };
    return {
      earlierStates: earlierStates(answering),
      pastQueries: pastQueries(answering),
      linksOf: (_access, iri) =>
        !isContainerIri(iri) && switches.isKept(iri) ? Promise.resolve(versionLinks(iri)) : undefined,
      ...background(platform, switches, days * dayMs),
    };
  },
  check: versionFaults,
});

/** Records the settings, releases blobs of versions that a restore to another base URI has omitted, and expires versions. */
function background(platform: Platform, switches: Switches, keptMs: number): Pick<Installation, 'start' | 'stop'> {
  const { store, clock } = platform;
  const ending = new AbortController();
  const work = () => expire(store, positionOf(clock() - keptMs), ending.signal);
  const expiry = hourly(platform, work, 'expired versions could not be deleted');
  return {
    async start() {
      if (switches.isUsed()) await store.transact((tx) => noteSettings(tx, store.changes.mark(), platform));
      await noteSince(store, switches.all, store.changes.mark());
      await releaseBlobs(store);
      if (keptMs > 0) await expiry.start();
    },
    stop() {
      ending.abort();
      return expiry.stop();
    },
  };
}

async function releaseBlobs(store: Store): Promise<void> {
  for await (const _ of store.keys(versionEntries, { limit: 1 })) return;
  for await (const keys of store.keys(keptBlobs))
    await store.transact(
      async (tx) => {
        // Another server may have started to keep versions meanwhile.
        for await (const _ of store.keys(versionEntries, { limit: 1 })) return;
        for (const key of keys) tx.deleteEntry(key);
      },
      { frees: true },
    );
}
