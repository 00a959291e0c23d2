/** Status of the storage for controllers, and permissions of the signed-in user. */
import { onSession, storageUri, subjectNow } from '../session/session.js';
import { refusalFrom, request, systemUrl } from './api.js';
import { shortName } from './names.js';
import { once } from './once.js';

export interface Status {
  readonly version: string;
  readonly node: string;
  readonly uptimeSeconds: number;
  readonly bytes: number;
  readonly resources: number;
  /** Count of triples, including triples of linksets. */
  readonly triples: number;
  /** True if a defect of LevelDB can bring deleted data back. */
  readonly deletedCanReturn: boolean;
  /** Quota in bytes. 0: no limit. */
  readonly quotaBytes: number;
  /** Free bytes of the disk that holds the database. Absent for storages of a deployment. */
  readonly freeBytes?: number;
  /** Date of the last backup. Absent if there is none. */
  readonly lastBackup?: string;
  /** Running and waiting queries. Empty without a SPARQL endpoint. Absent for storages of a deployment. */
  readonly queries?: { readonly running?: number; readonly waiting?: number };
  /** State of the query index. Empty without a SPARQL endpoint. */
  readonly index: Partial<Record<'quads' | 'memory_bytes' | 'changed_graphs' | 'building' | 'build_seconds', number>>;
  readonly settings: readonly {
    readonly name: string;
    readonly doc: string;
    /** Value of the setting. Absent for a secret. */
    readonly value?: unknown;
    readonly source: string;
  }[];
}

/** Returns the JSON at a URL, or `undefined` if the user has no access. */
export async function ask<T>(url: string): Promise<T | undefined> {
  const response = await request('GET', url);
  if ([401, 403, 404].includes(response.status)) return undefined;
  if (!response.ok) throw await refusalFrom(response);
  return (await response.json()) as T;
}

/** Known owners: those in the settings, and the signed-in user if the user controls the storage. */
const owners = new Set<string>();
onSession(() => owners.clear());

/** Returns a short name of an identity. The key of an owner becomes “Owner”, with its last characters if there are several. */
export function identityName(iri: string): string {
  if (!iri.startsWith('did:') || !owners.has(iri)) return shortName(iri);
  return owners.size === 1 ? 'Owner' : `Owner (key ending …${iri.slice(-4)})`;
}

/** Returns the status, or `undefined` for users without control of the storage. */
export async function readStatus(): Promise<Status | undefined> {
  const status = await ask<Status>(await systemUrl('status'));
  const named = status?.settings.find(({ name }) => name === 'lws.owners')?.value ?? [];
  for (const iri of named as readonly string[]) owners.add(iri);
  return status;
}

/** Permissions in addition to reading. */
export type Rights = Readonly<Partial<Record<'append' | 'write' | 'share', boolean>>>;

/** Returns the permissions of the signed-in user on a resource. Empty if the resource is not readable. */
export const rightsOn = async (iri: string): Promise<Rights> =>
  (await ask<Rights>(`${storageUri}app/rights?${new URLSearchParams({ iri })}`)) ?? {};

/** True if the signed-in user controls the storage. Cached per user. */
export const isController = once(async () => {
  const subject = subjectNow();
  const { share = false } = await rightsOn(storageUri);
  if (share) owners.add(subject);
  return share;
});
