/** How the storage is, for those who control it; and what the signed-in subject may do with it. */
import { storageUri } from '../session/session.js';
import { refusalOf, request, systemUrl } from './api.js';
import { once } from './once.js';

export interface Status {
  readonly version: string;
  readonly node: string;
  readonly uptimeSeconds: number;
  readonly bytes: number;
  /** 0: no limit. */
  readonly quotaBytes: number;
  readonly settings: readonly {
    readonly name: string;
    readonly doc: string;
    /** Left out of a secret. */
    readonly value?: unknown;
    readonly source: string;
  }[];
}

/** @returns `undefined` where the signed-in subject is refused */
async function ask<T>(url: string): Promise<T | undefined> {
  const response = await request('GET', url);
  if ([401, 403, 404].includes(response.status)) return undefined;
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as T;
}

/** @returns `undefined` for who does not control the storage */
export const readStatus = async (): Promise<Status | undefined> => ask(await systemUrl('status'));

/** Beyond reading. */
export type Rights = Readonly<Partial<Record<'append' | 'write' | 'share', boolean>>>;

/** What the signed-in subject may do with something; nothing with what it may not read. */
export const rightsOn = async (iri: string): Promise<Rights> =>
  (await ask<Rights>(`${storageUri}app/rights?${new URLSearchParams({ iri })}`)) ?? {};

/** Whether the signed-in subject controls the storage; asked once for each of them. */
export const controls = once(async () => (await rightsOn(storageUri)).share ?? false);
