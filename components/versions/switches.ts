/**
 * Determines which resources have versions: all, or those with a link `version-history` to their versions, and those below a
 * container with such a link. An entry for each link allows transactions and requests to decide without reading linksets.
 */
import { ancestorsOf } from '../../lib/authorization/authorizer.js';
import type { Platform } from '../../lib/component/contract.js';
import { type ClientLinks, relationTargets } from '../../lib/resources/linkset.js';
import { featuresKey } from '../../lib/storage/keys/features.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/keys/records.js';
import { hasVersions } from '../../lib/storage/transactions/kept-blobs.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { headKey, sinceKey } from './entries.js';

type State = Pick<Transaction, 'entry' | 'derived'>;

const relation = 'version-history';
const linksPrefix = entryKey('links', '');
const switchKey = (iri: string): string => entryKey('versions-on', iri);

function hasLink(iri: string, value: string | null, rootIri: string): boolean {
  // Most linksets have no such link and need not be parsed.
  if (!value?.includes(relation)) return false;
  const targets = relationTargets(JSON.parse(value) as ClientLinks, iri);
  // The target may be another resource of the storage, because after a MOVE the link has the earlier name.
  return targets.some(
    ([name, target]) => name === relation && target.startsWith(rootIri) && target.endsWith('?versions'),
  );
}

/** Stages the entries of links that a transaction writes or deletes. */
export function noteLinks(tx: Transaction, rootIri: string, position: () => number): void {
  const changed: (readonly [key: string, value: string | null])[] = [];
  // Called for every transaction: do not copy its entries.
  for (const entry of tx.entries) if (entry[0].startsWith(linksPrefix)) changed.push(entry);
  for (const [key, value] of changed) {
    const iri = key.slice(linksPrefix.length);
    const [isOn, wasOn] = [hasLink(iri, value, rootIri), tx.entry(switchKey(iri)) !== undefined];
    if (isOn && !wasOn) {
      tx.putEntry(switchKey(iri), '1');
      tx.putEntry(sinceKey(iri), String(position()));
    }
    if (!isOn && wasOn) for (const key of [switchKey(iri), sinceKey(iri)]) tx.deleteEntry(key);
  }
}

/** Records since which position versions are kept, by the setting or by restored links. @param position present position */
export async function noteSince(store: Store, all: boolean, position: number): Promise<void> {
  const names = all ? [''] : [];
  for await (const keys of store.keys(entryRange('versions-on')))
    for (const key of keys) names.push(partsOfEntry(key)[1]!);
  const unknown = names.filter((name) => store.entry(sinceKey(name)) === undefined);
  const isOver = !all && store.entry(sinceKey('')) !== undefined;
  if (unknown.length === 0 && !isOver) return;
  await store.transact((tx) => {
    for (const name of unknown) tx.putEntry(sinceKey(name), String(position));
    if (isOver) tx.deleteEntry(sinceKey(''));
  });
}

export class Switches {
  /** @param all true if every resource has versions (`lws.versions.all`) */
  constructor(
    readonly all: boolean,
    private readonly platform: Pick<Platform, 'rootIri' | 'store'>,
  ) {
    this.areUsed = all || hasVersions(platform.store);
    // Set `areUsed` before readers see the transaction.
    platform.store.onStage((tx) => {
      if (tx.entries.has(featuresKey)) this.areUsed ||= hasVersions(tx);
    });
  }

  /** True if the storage has versions. Cached, because each request reads this several times. */
  private areUsed: boolean;

  /** Returns true if a resource has versions, or had them. */
  isUsed(view?: State): boolean {
    return this.areUsed || (view !== undefined && hasVersions(view));
  }

  /** Returns true if states of a resource that end from now on are kept. */
  isOn(iri: string, view: State): boolean {
    if (this.all) return true;
    if (!hasVersions(view)) return false;
    for (const at of [iri, ...ancestorsOf(iri, this.platform.rootIri)])
      if (view.entry(switchKey(at)) !== undefined) return true;
    return false;
  }

  /** Returns true if the present state of a resource will be kept when it ends. */
  isKept(iri: string): boolean {
    const { store } = this.platform;
    return this.isUsed() && (this.isOn(iri, store) || store.entry(headKey(iri)) !== undefined);
  }
}
