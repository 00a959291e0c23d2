/** Asynchronous work of a transaction listener that must not block other transactions. */

/** Thrown by a listener: the transaction runs again after the preparation, on the state of then. */
export class NeedsPreparation extends Error {
  /** @param prepare runs outside of the queue; its error rejects the transaction */
  constructor(readonly prepare: () => Promise<void>) {
    super('The transaction has to be prepared.');
    this.name = 'NeedsPreparation';
  }
}

/** Thrown by a listener that needs all keys of graphs that a bulk writer holds (`putPartnersGraph`). */
export class NeedsAllKeys extends Error {
  constructor() {
    super('All keys of the graphs are required.');
    this.name = 'NeedsAllKeys';
  }
}
