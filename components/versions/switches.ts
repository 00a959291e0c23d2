/**
 * Resources with versions: all of them, or those with a link `version-history` to their versions, and those below a container with
 * such a link. An entry for each link lets transactions and requests decide without reading linksets.
 */
import { ancestorsOf } from '../../lib/authorization/authorizer.js';
import type { Platform } from '../../lib/component/contract.js';
import { type ClientLinks, relationTargets } from '../../lib/resources/linkset.js';
import { featuresKey } from '../../lib/storage/keys/features.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { hasVersions } from '../../lib/storage/transactions/kept-blobs.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { headKey } from './entries.js';

type State = Pick<Transaction, 'entry' | 'derived'>;

const relation = 'version-history';
const linksPrefix = entryKey('links', '');
const switchKey = (iri: string): string => entryKey('versions-on', iri);

function hasLink(iri: string, value: string | null, rootIri: string): boolean {
  // Most linksets have no such link and need not be parsed.
  if (!value?.includes(relation)) return false;
  const targets = relationTargets(JSON.parse(value) as ClientLinks, iri);
  // Also to another resource of the storage: after a MOVE the link has the earlier name.
  return targets.some(
    ([name, target]) => name === relation && target.startsWith(rootIri) && target.endsWith('?versions'),
  );
}

/** Stages the entries of links that a transaction writes or deletes. */
export function noteLinks(tx: Transaction, rootIri: string): void {
  const changed: (readonly [key: string, value: string | null])[] = [];
  // Called for every transaction: its entries are not copied.
  for (const entry of tx.entries) if (entry[0].startsWith(linksPrefix)) changed.push(entry);
  for (const [key, value] of changed) {
    const iri = key.slice(linksPrefix.length);
    const [isOn, wasOn] = [hasLink(iri, value, rootIri), tx.entry(switchKey(iri)) !== undefined];
    if (isOn && !wasOn) tx.putEntry(switchKey(iri), '1');
    if (!isOn && wasOn) tx.deleteEntry(switchKey(iri));
  }
}

export class Switches {
  /** @param all every resource has versions (`lws.versions.all`) */
  constructor(
    private readonly all: boolean,
    private readonly platform: Pick<Platform, 'rootIri' | 'store'>,
  ) {
    this.areUsed = all || hasVersions(platform.store);
    // Before readers see it.
    platform.store.onStage((tx) => {
      if (tx.entries.has(featuresKey)) this.areUsed ||= hasVersions(tx);
    });
  }

  /** Asked several times for each request. */
  private areUsed: boolean;

  /** True if any resource has or had versions. */
  isUsed(view?: State): boolean {
    return this.areUsed || (view !== undefined && hasVersions(view));
  }

  /** True if the states of a resource are kept that end from now on. */
  isOn(iri: string, view: State): boolean {
    if (this.all) return true;
    if (!hasVersions(view)) return false;
    for (const at of [iri, ...ancestorsOf(iri, this.platform.rootIri)])
      if (view.entry(switchKey(at)) !== undefined) return true;
    return false;
  }

  /** True if the present state of a resource will be kept. */
  isKept(iri: string): boolean {
    const { store } = this.platform;
    return this.isUsed() && (this.isOn(iri, store) || store.entry(headKey(iri)) !== undefined);
  }
}
