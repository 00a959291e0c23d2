/** Turns of what is done to one resource, and attempts at it. */
import { tooBusy } from '../errors.js';

/** What is computed outside of the transaction takes turns, or all but one would be in vain. */
const turns = new Map<string, Promise<unknown>>();

async function alternately<T>(iri: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(iri) ?? Promise.resolve()).then(work);
  const settled = turn.catch(() => {});
  turns.set(iri, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(iri) === settled) turns.delete(iri);
  }
}

/** How often what was computed on an outdated state is computed again. */
const maxAttempts = 10;

/** A resource has changed since a change of it was computed, which has to be done again. */
export class OutdatedState extends Error {
  constructor(readonly iri: string) {
    super('A resource has changed.');
  }
}

/**
 * Computes a change and writes it, again and again until nothing has changed in between.
 * @param once throws OutdatedState when something has
 * @param first the resource to take turns for from the beginning; those that were in the way take turns in any case
 * @throws LwsError `too-busy`, and what `once` throws
 */
export async function untilCurrent<T>(once: () => Promise<T>, first?: string): Promise<T> {
  let outdated = first;
  for (let attempt = 0; attempt < maxAttempts; attempt++)
    try {
      return await (outdated === undefined ? once() : alternately(outdated, once));
    } catch (error) {
      if (!(error instanceof OutdatedState)) throw error;
      outdated = error.iri;
    }
  throw tooBusy('What is changed here changes too quickly. Nothing was changed; try again.', 1);
}
