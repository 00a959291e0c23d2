/** Transactions that run again: after a preparation outside of the queue, or because they were computed from an outdated state. */

/** Thrown by the work of a transaction, or a listener: the transaction runs again, on the state of then (`Store.transact`). */
export class Again extends Error {
  /**
   * @param first what to do before, outside of the queue; its error rejects the transaction. The IRI of a resource: `prepare` of the
   * transaction, after the attempts of others on that resource
   */
  constructor(readonly first: string | (() => Promise<void>)) {
    super('The transaction has to run again.');
  }
}

/** Last transaction on each resource: of concurrent ones, all but one would be computed from an outdated state. */
const last = new Map<string, Promise<unknown>>();

/** Runs an attempt after the others on a resource. */
export function afterOthers<T>(iri: string, attempt: () => Promise<T>): Promise<T> {
  const own = (last.get(iri) ?? Promise.resolve()).then(attempt);
  const ended = (): boolean => last.get(iri) === settled && last.delete(iri);
  const settled = own.then(ended, ended);
  last.set(iri, settled);
  return own;
}
