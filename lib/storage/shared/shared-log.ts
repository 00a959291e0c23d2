/**
 * The journal as one server follows it: what others wrote is applied here before anybody is answered with what was before. It must not
 * know what the rows change.
 */
import type { Journal, JournalRow } from './journal.js';

/** How a turn ends in which something was written. */
export interface TurnEnd {
  /** Makes the row. */
  readonly write: () => Buffer;
  /** Applies it here, before anything that comes after it. */
  readonly settle: (position: number) => Promise<void>;
  /** Called when the row is not in the journal, or nobody knows, before anything that comes after it; or when `settle` threw. */
  readonly refuse: (error: unknown) => void;
}

const pollMs = 250;
/** The database ends what does nothing for ten seconds. */
const keepMs = 3_000;

export class SharedLog {
  /** The last row that is applied here. */
  position = 0;
  private applying: Promise<unknown> = Promise.resolve();
  private question: Promise<void> | undefined;
  /** The last row that is known of. */
  private head = 0;
  private isClosed = false;
  private polling: NodeJS.Timeout | undefined;
  private keeping: NodeJS.Timeout | undefined;

  /** @param apply applies rows of others, in order, and sets the position */
  constructor(
    private readonly journal: Journal,
    private readonly apply: (rows: readonly JournalRow[]) => Promise<void>,
  ) {}

  /**
   * Returns when everything is applied that was acknowledged by any server before the call. Those who ask at the same time share
   * one question.
   * @throws LwsError `too-busy` when the database cannot be asked
   */
  freshen(): Promise<void> {
    this.question ??= this.ask();
    return this.question;
  }

  private async ask(): Promise<void> {
    // Who comes before it is asked has the same answer.
    await new Promise((resolve) => setImmediate(resolve));
    this.question = undefined;
    this.head = Math.max(this.head, await this.journal.head());
    if (this.head > this.position) await this.follow();
  }

  /** Follows also when nobody asks. */
  poll(): void {
    this.polling = setInterval(() => {
      // Whoever asks hears that the database is away.
      if (!this.isClosed) this.freshen().catch(() => {});
    }, pollMs).unref();
  }

  /** Waits until this server alone may write, and everything of others is applied. @throws LwsError `too-busy` */
  async begin(): Promise<void> {
    const { head, rows } = await this.journal.lock(this.position);
    this.keeping = setInterval(() => void this.journal.keep(), keepMs).unref();
    this.head = Math.max(this.head, head);
    if (head === this.position) return;
    try {
      await this.follow(rows);
      if (head !== this.position)
        throw new Error(`The journal ends at ${head}, and this server is at ${this.position}.`);
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  /** Ends a turn in which nothing was written. */
  end(): Promise<void> {
    clearInterval(this.keeping);
    return this.journal.release();
  }

  /** Appends a row and ends the turn. */
  commit({ write, settle, refuse }: TurnEnd): Promise<void> {
    clearInterval(this.keeping);
    return this.alone(async () => {
      const seq = this.position + 1;
      try {
        await this.journal.append(seq, write());
        await settle(seq);
      } catch (error) {
        await this.journal.release();
        refuse(error);
      }
    });
  }

  /** @param known the next rows, when they were read already */
  private follow(known: readonly JournalRow[] = []): Promise<void> {
    return this.alone(async () => {
      // Some may have been applied meanwhile.
      let rows = known.filter(({ seq }) => seq > this.position);
      for (;;) {
        if (rows.length === 0 && this.position < this.head) rows = await this.journal.after(this.position);
        if (rows.length === 0) return;
        if (rows[0]!.seq !== this.position + 1)
          throw new Error(
            `The journal has lost what came after ${this.position}. Start the server again: it takes the state anew.`,
          );
        await this.apply(rows);
        rows = [];
      }
    });
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.applying.then(work);
    this.applying = run.catch(() => {});
    return run;
  }

  /** Ends the following. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.polling);
    await this.applying;
  }
}
