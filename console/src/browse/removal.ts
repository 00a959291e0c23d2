/** Deletes selected members, with a question before and Undo after. */
import { confirmed } from '../frame/confirm.js';
import { notify } from '../frame/notice.js';
import { messageOf } from '../storage/api.js';
import { isContainer, memberNames, shortName } from '../storage/names.js';
import { restoreItem, trashDays } from '../storage/trash.js';
import { deleteMember, trashMember } from './create.js';

/** Progress of a deletion, which the user can stop. */
export interface Removing {
  readonly deleted: number;
  readonly ending: AbortController;
}

/**
 * Deletes members after a confirmation. @param show called with the progress, and with `undefined` at the end @param restored
 * called after the user restored the members @param isSure true if no confirmation is needed when the storage has a trash
 * @returns true if all are deleted, or `undefined` if the user declined @throws Error if it is unknown whether the storage has
 * a trash
 */
export async function removeMembers(
  chosen: readonly string[],
  show: (removing: Removing | undefined) => void,
  restored: () => void,
  isSure = false,
): Promise<boolean | undefined> {
  const what = memberNames(chosen);
  const days = await trashDays();
  const title = 'Delete';
  const question = { title, text: consequence(chosen, days), proceed: `Delete ${what}` };
  if (!(isSure && days !== undefined) && !(await confirmed(question))) return undefined;
  const [refusals, items]: [string[], string[]] = [[], []];
  const ending = new AbortController();
  let deleted = 0;
  const told = (count: number): void => {
    deleted += count;
    show({ ending, deleted });
  };
  told(0);
  for (const iri of chosen)
    try {
      const work = { signal: ending.signal, told, trashed: (id: string) => void items.push(id) };
      const refusal = await (days === undefined ? deleteMember(iri, work) : trashMember(iri, work));
      if (refusal) refusals.push(`${shortName(iri)}: ${refusal.message}`);
    } catch (error) {
      if (ending.signal.aborted) break;
      refusals.push(`${shortName(iri)}: ${messageOf(error)}`);
    }
  show(undefined);
  const undo = { label: 'Undo', run: () => restore(items, restored) };
  if (ending.signal.aborted) notify('Stopped. Deleted items stay deleted.');
  else if (refusals.length > 0) notify(refusals.slice(0, 5).join(' '), 'bad');
  else notify(`${what} deleted.`, 'good', items.length === chosen.length ? undo : undefined);
  return !ending.signal.aborted && refusals.length === 0;
}

/** Returns the consequences of a deletion. @param days days of the trash, `undefined` if there is none */
function consequence(chosen: readonly string[], days: number | undefined): string {
  const goes = chosen.some(isContainer)
    ? ' with everything in them, their metadata and their access rules'
    : ' with metadata and access rules';
  return days === undefined
    ? `${memberNames(chosen)} will be deleted${goes}. This cannot be undone.`
    : `${memberNames(chosen)} will move to the trash${goes}. Owners can restore it for ${days} days.`;
}

async function restore(items: readonly string[], restored: () => void): Promise<void> {
  try {
    for (const id of items) await restoreItem(id);
    notify('Restored.');
  } catch (error) {
    notify(messageOf(error), 'bad');
  }
  restored();
}
