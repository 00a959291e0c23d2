/** How the storage is, for those who control it; and whether the signed-in subject does. */
import { refusalOf, request, services } from './api.js';
import { onSession, storageUri } from './session.js';

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

const ofSystem = /^(?:TypeIndex|AccessGrant|Notification)Service$/;

/** The address below which the system's endpoints lie, without a slash at its end. */
export async function systemPrefix(): Promise<string> {
  const found = (await services()).find(({ type }) => [type].flat().some((each) => ofSystem.test(each)));
  return found ? found.serviceEndpoint.replace(/\/[^/]+$/, '') : `${storageUri}.lws`;
}

let control: Promise<boolean> | undefined;
onSession(() => {
  control = undefined;
});

/** @returns `undefined` for who does not control the storage */
export async function readStatus(): Promise<Status | undefined> {
  const response = await request('GET', `${await systemPrefix()}/status`);
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
