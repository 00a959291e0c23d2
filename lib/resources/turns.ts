/** Turns of what is done to one resource. */

/** Patches of one resource that are computed outside of the transaction take turns, or all but one would be in vain. */
const turns = new Map<string, Promise<unknown>>();

export async function alternately<T>(iri: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(iri) ?? Promise.resolve()).then(work);
  const settled = turn.catch(() => {});
  turns.set(iri, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(iri) === settled) turns.delete(iri);
  }
}
