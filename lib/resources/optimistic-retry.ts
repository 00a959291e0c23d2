/** Retries writes after a revision conflict. */
import { tooBusy } from '../tools/errors.js';

/** Last task on each resource with serialized tasks: of concurrent computations, all but one would conflict. */
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

/** The current revision of the resource differs from the one that a change was computed from. */
export class RevisionConflict extends Error {
  constructor(readonly iri: string) {
    super('A resource was changed by another request.');
  }
}

/**
 * Computes and writes a change. After a revision conflict, retries serialized with other tasks on the resource.
 * @param once throws RevisionConflict
 * @param first resource whose tasks the first attempt waits for as well
 * @throws LwsError `too-busy` after the last attempt, and errors of `once`
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
  throw tooBusy('Too many concurrent changes. Nothing was changed. Retry in a few seconds.', 1);
}
