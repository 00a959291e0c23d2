/** Runs work concurrently, up to a number. */
export class Requests {
  private readonly under = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly max: number) {}

  /** Begins work. A caller that does not await it gets its failure from `room` or `end`. */
  add(work: () => Promise<void>): Promise<void> {
    const done = work().finally(() => this.under.delete(done));
    this.under.add(done);
    done.catch((error: unknown) => {
      this.failure ??= { error };
    });
    return done;
  }

  /** Waits until one more may begin. @throws what work has thrown */
  async room(): Promise<void> {
    while (this.under.size >= this.max && !this.failure) await Promise.race(this.under).catch(() => {});
    if (this.failure) throw this.failure.error;
  }

  /** Waits for all. @throws what work has thrown */
  async end(): Promise<void> {
    await Promise.allSettled(this.under);
    if (this.failure) throw this.failure.error;
  }
}
