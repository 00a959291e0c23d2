/** Runs transactions again, after a preparation outside of the queue, or because they were computed from an outdated state. */

/** Thrown by the work of a transaction or a listener, to run the transaction again on a later state (`Store.transact`). */
export class Again extends Error {
  /**
   * @param first function to run before, outside of the queue; its error rejects the transaction. Or the IRI of a resource:
   * `prepare` of the transaction then runs after the attempts of other transactions on this resource
   */
  constructor(readonly first: string | (() => Promise<void>)) {
    super('The transaction has to run again.');
  }
}

/** Last attempt on each resource. Attempts run one after the other: of concurrent attempts, all but one would be outdated. */
const last = new Map<string, Promise<unknown>>();

/** Runs an attempt after the earlier attempts on a resource. */
export function afterOthers<T>(iri: string, attempt: () => Promise<T>): Promise<T> {
  const own = (last.get(iri) ?? Promise.resolve()).then(attempt);
  const ended = (): boolean => last.get(iri) === settled && last.delete(iri);
  const settled = own.then(ended, ended);
  last.set(iri, settled);
  return own;
}
