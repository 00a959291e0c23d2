/** How the storage is, for those who control it; and whether the signed-in subject does. */
import { refusalOf, request } from './api.js';
import { onSession } from './session.js';
import { systemUrl } from './system.js';

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

let control: Promise<boolean> | undefined;
onSession(() => {
  control = undefined;
});

/** @returns `undefined` for who does not control the storage */
export async function readStatus(): Promise<Status | undefined> {
  const response = await request('GET', await systemUrl('status'));
  if ([401, 403, 404].includes(response.status)) return undefined;
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as Status;
}

/** Whether the signed-in subject controls the storage; asked once for each of them. */
export function controls(): Promise<boolean> {
  control ??= readStatus().then(
    (status) => status !== undefined,
    (error: unknown) => {
      control = undefined;
      throw error;
    },
  );
  return control;
}
