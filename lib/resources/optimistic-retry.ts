/** Retries of writes that were computed from a state that has changed since. */
import { tooBusy } from '../errors.js';

/** Last work on each resource that runs in turn: of works computed side by side, all but one would conflict. */
const turns = new Map<string, Promise<unknown>>();

async function inTurn<T>(iri: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(iri) ?? Promise.resolve()).then(work);
  const settled = turn.catch(() => {});
  turns.set(iri, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(iri) === settled) turns.delete(iri);
  }
}

/** Maximum number of attempts. One retry is enough unless other writes of the same resource commit during each attempt. */
const maxAttempts = 10;

/** The resource has another revision than the one that a change was computed from. */
export class RevisionConflict extends Error {
  constructor(readonly iri: string) {
    super('A resource has changed.');
  }
}

/**
 * Computes a change and writes it, and retries after a revision conflict, in turn with other works on the resource.
 * @param once throws RevisionConflict
 * @param first resource whose turn the first attempt takes as well
 * @throws LwsError `too-busy` after the last attempt, and what `once` throws
 */
export async function retryOnConflict<T>(once: () => Promise<T>, first?: string): Promise<T> {
  let iri = first;
  for (let attempt = 0; attempt < maxAttempts; attempt++)
    try {
      return await (iri === undefined ? once() : inTurn(iri, once));
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
      iri = error.iri;
    }
  throw tooBusy('What is changed here changes too quickly. Nothing was changed; try again.', 1);
}
