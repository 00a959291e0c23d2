/**
 * Authorizes reads of earlier states. A caller can read a state if its permission to read the present state already applied
 * before the earlier state ended. So a state never becomes readable for callers who could not read it when it was current.
 * Controllers can read everything.
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

/** Settings that determine access without an ACL, and the position since which they apply. */
interface SettingsSince {
  readonly settings: string;
  readonly since: number;
}

const settingsKey = accessKey('');

/**
 * Returns a text that identifies the settings that determine access. In WAC mode it includes the revision of the root ACL,
 * which may be written before components are installed.
 */
function settingsOf(view: View, { rootIri: iri, storage: { acls }, authorizer }: Deciding): string {
  if (acls) return `lists ${view.record(iri)?.acl}`;
  const known = fixed.get(authorizer);
  if (known !== undefined) return known;
  // The rule shows if all callers can read (`lws.public-read` or open mode). This is decided synchronously, before grants.
  const decision = authorizer.decide({ view, access: {}, mode: 'read', iri });
  const found = decision instanceof Promise || !decision.allowed ? 'owners' : decision.rule;
  fixed.set(authorizer, found);
  return found;
}

/** Texts of settings without ACLs, by authorizer. They do not change while the server runs. */
const fixed = new WeakMap<Deciding['authorizer'], string>();

/** Stages the position of changed settings, with the first transaction after the change. */
export function noteSettings(tx: Transaction, position: number, platform: Deciding): void {
  const settings = settingsOf(tx, platform);
  const known = tx.derived(settingsKey, (value) => JSON.parse(value) as SettingsSince);
  if (known?.settings === settings) return;
  // If this transaction only changes the root ACL, the positions of this ACL apply (`access-dates`).
  const isList = tx.entries.has(aclKey(platform.rootIri)) && known?.settings === settingsOf(tx.before, platform);
  tx.putEntry(
    settingsKey,
    JSON.stringify({ settings, since: isList ? known.since : position } satisfies SettingsSince),
  );
}

/** Returns false if LevelDB has returned or lost positions (decision 168). Only controllers then read earlier states. */
export async function areDatesWhole(store: Store): Promise<boolean> {
  const digests = new Map<string, KeyDigest>();
  for await (const entries of store.entries(entryRange(accessSpace)))
    for (const [key, value] of entries) toggleEntry(digests, key, () => [value]);
  return !isOtherDigest(store.level, accessSpace, digests);
}

/** Part of a history that a caller may read. */
export interface Reach {
  /** True if the whole history is readable, including states before the resource was created again. */
  readonly isController: boolean;
  /** Position after which a state must have ended to be readable. */
  readonly after: number;
  /** Owner of the readable states. Absent: states of all owners are readable. */
  readonly owner?: string | undefined;
}

export const everything: Reach = { isController: true, after: 0 };

/** Decides which earlier states a caller can read. Create one per request, because it caches access decisions. */
export class CallerReach {
  private readonly dates: CallerDates;
  /** True if the caller is a controller. Undefined until it is decided. */
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

/** Returns the position since which the settings that determine access apply. */
function sinceOfSettings(platform: Deciding): number {
  const noted = platform.store.entry(settingsKey);
  if (noted === undefined) return never;
  const { settings, since } = JSON.parse(noted) as SettingsSince;
  return settings === settingsOf(platform.store, platform) ? since : never;
}
