/**
 * Permissions to read earlier states. A caller may read a state if its permission to read the present one was in force before
 * the state ended. So nothing becomes readable that was not while it was the present state. Controllers read everything.
 */
import { aclKey } from '../../lib/authorization/acl.js';
import type { View } from '../../lib/authorization/authorizer.js';
import { controls } from '../../lib/authorization/guard.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import type { KeyDigest } from '../../lib/storage/keys/key-digest.js';
import type { ResourceRecord } from '../../lib/storage/keys/records.js';
import { entryRange } from '../../lib/storage/keys/records.js';
import { isOtherDigest, toggleEntry } from '../../lib/storage/level/entry-digests.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { CallerDates } from './access-dates.js';
import { accessKey, accessSpace } from './entries.js';

type Deciding = Pick<Platform, 'store' | 'rootIri' | 'storage' | 'authorizer'>;

/** Settings that decide access without a list, and the position since when they are in force. */
interface SettingsSince {
  readonly settings: string;
  readonly since: number;
}

const settingsKey = accessKey('');

/**
 * Returns a name for the settings that decide access. In WAC mode this includes the list of the root: it may be written before components
 * are installed.
 */
function settingsOf(view: View, { rootIri: iri, storage: { acls }, authorizer }: Deciding): string {
  if (acls) return `lists ${view.record(iri)?.acl}`;
  const known = fixed.get(authorizer);
  if (known !== undefined) return known;
  // The rule says if all callers can read by `lws.public-read`, or in open mode. That is decided at once, before grants.
  const decision = authorizer.decide({ view, access: {}, mode: 'read', iri });
  const found = decision instanceof Promise || !decision.allowed ? 'owners' : decision.rule;
  fixed.set(authorizer, found);
  return found;
}

/** Names of settings without lists, which do not change while the server runs. */
const fixed = new WeakMap<Deciding['authorizer'], string>();

/** Stages the position of a change of settings, when a transaction first meets it. */
export function noteSettings(tx: Transaction, position: number, platform: Deciding): void {
  const settings = settingsOf(tx, platform);
  const known = tx.derived(settingsKey, (value) => JSON.parse(value) as SettingsSince);
  if (known?.settings === settings) return;
  // The list of the root has dates of its own if this transaction changes it.
  const isList = tx.entries.has(aclKey(platform.rootIri)) && known?.settings === settingsOf(tx.before, platform);
  tx.putEntry(
    settingsKey,
    JSON.stringify({ settings, since: isList ? known.since : position } satisfies SettingsSince),
  );
}

/** Returns false if LevelDB returned a deleted date, or lost one (decision 168): then only controllers read earlier states. */
export async function areDatesWhole(store: Store): Promise<boolean> {
  const digests = new Map<string, KeyDigest>();
  for await (const entries of store.entries(entryRange(accessSpace)))
    for (const [key, value] of entries) toggleEntry(digests, key, () => [value]);
  return !isOtherDigest(store.level, accessSpace, digests);
}

/** Part of a history that a caller may read. */
export interface Reach {
  /** All of it, also states before the resource was created again. */
  readonly isController: boolean;
  /** States that ended later are readable. */
  readonly after: number;
  /** They must have had this owner, if given. */
  readonly owner?: string | undefined;
}

export const everything: Reach = { isController: true, after: 0 };

/** Decides which earlier states a caller can read. Create one per request, because it caches access decisions. */
export class CallerReach {
  private readonly dates: CallerDates;
  /** Absent: not asked yet. */
  private isController: boolean | undefined;
  private settingsSince: number | undefined;

  constructor(
    private readonly platform: Deciding,
    private readonly access: Access,
  ) {
    this.dates = new CallerDates(platform, platform.store, access);
  }

  async controls(): Promise<boolean> {
    const { platform, access } = this;
    this.isController ??= await controls(platform as Platform, platform.store, access);
    return this.isController;
  }

  /** Returns the part of a resource's history that the caller can read. @param first beginning of the first state */
  async of(record: ResourceRecord, first: number): Promise<Reach> {
    const { platform, access } = this;
    const { store, authorizer, storage } = platform;
    if (await this.controls()) return everything;
    const { iri } = record;
    const { allowed, isUndated } = await authorizer.decide({ view: store, access, mode: 'read', iri, record });
    this.settingsSince ??= sinceOfSettings(platform);
    if (!allowed || isUndated) return { isController: false, after: never };
    const after = Math.max(this.settingsSince, first, storage.acls ? this.dates.since(iri) : 0);
    const isPublic =
      storage.acls !== undefined || (await authorizer.allows({ view: store, access: {}, mode: 'read', iri }));
    return { isController: false, after, owner: isPublic ? undefined : access.principal?.subject };
  }
}

const never = Number.MAX_SAFE_INTEGER - 1;

/** Returns the position since when the settings that decide access are in force. */
function sinceOfSettings(platform: Deciding): number {
  const noted = platform.store.entry(settingsKey);
  if (noted === undefined) return never;
  const { settings, since } = JSON.parse(noted) as SettingsSince;
  return settings === settingsOf(platform.store, platform) ? since : never;
}
