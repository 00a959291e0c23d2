/** Who writes a batch in the place of the commit queue. */

/** Another thread that fills and writes the batch of a transaction, since it has what most of it is made of. */
export interface BatchPartner {
  /** Of its own part, about. */
  readonly bytes: number;
  /**
   * Writes one atomic, synced batch of its own part and these operations.
   * @param operations keys with their values; `null`: the key is removed
   */
  write(operations: readonly (readonly [key: string, value: string | null])[]): Promise<void>;
}
