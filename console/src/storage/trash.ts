/** The trash of the storage, for controllers. */
import { jsonBody, Refusal, services, succeed, systemUrl } from './api.js';
import { ask, isController } from './controller.js';

export interface ListedTrashItem {
  readonly id: string;
  /** IRI before the deletion. */
  readonly from: string;
  readonly by?: string;
  readonly deleted: string;
  readonly expires: string;
  /** Count of deleted resources in a container. */
  readonly members?: number;
  readonly mediaType?: string;
  readonly size?: number;
}

interface TrashPage {
  /** Time after which items are deleted, in days. */
  readonly days: number;
  readonly items: readonly ListedTrashItem[];
  /** Value of the parameter `before` for the next page. */
  readonly next?: string;
}

const urlOf = async (id?: string): Promise<string> => systemUrl(id === undefined ? 'trash' : `trash/${id}`);

/** Returns items, latest first. `undefined`: the trash is off, or the user does not control the storage. */
export const readTrash = async (before?: string): Promise<TrashPage | undefined> =>
  ask((await urlOf()) + (before === undefined ? '' : `?${new URLSearchParams({ before })}`));

/** Returns how many days this user can restore deleted resources, or `undefined` if deletions are permanent. */
export const trashDays = async (): Promise<number | undefined> =>
  (await isController()) ? (await services()).find(({ type }) => type.endsWith('#TrashService'))?.days : undefined;

/** True if a resource can only be deleted permanently: it exceeds a limit of MOVE, violates a shape, or the disk is full. */
export const isTooMuch = ({ status }: Refusal): boolean => [414, 422, 507].includes(status);

/** @returns the ID of the item in the trash @throws Refusal */
export async function moveToTrash(iri: string, etag: string): Promise<string> {
  const { headers, body } = jsonBody({ iri });
  const response = await succeed('POST', await urlOf(), { headers: { ...headers, 'If-Match': etag }, body });
  return ((await response.json()) as { id: string }).id;
}

/** @throws Refusal if the former name is in use, or the container was deleted */
export const restoreItem = async (id: string): Promise<Response> => succeed('POST', await urlOf(id));
/** Deletes an item. No error if another client or the expiry has deleted the item. @throws Refusal */
export async function deletePermanently(id: string): Promise<void> {
  try {
    await succeed('DELETE', await urlOf(id));
  } catch (error) {
    if (!(error instanceof Refusal && error.status === 404)) throw error;
  }
}
