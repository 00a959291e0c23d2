/**
 * The journal as one server follows it: what others wrote is applied here before anybody is answered with what was before. It must not
 * know what the rows change.
 */
import type { Journal, JournalRow } from './journal.js';
import { contradict, type JournalPlace, setBack } from './place.js';

/** How a turn ends in which something was written. */
export interface TurnEnd {
  /** Makes the row. */
  readonly write: () => Buffer;
  /** Applies it here, before anything that comes after it. */
  readonly settle: (place: JournalPlace) => Promise<void>;
  /** Called when the row is not in the journal, or nobody knows, before anything that comes after it; or when `settle` threw. */
  readonly refuse: (error: unknown) => void;
}

const pollMs = 250;
/** The database ends what does nothing for ten seconds. */
const keepMs = 3_000;

export class SharedLog {
  /** The last row that is applied here. */
  place: JournalPlace = { seq: 0 };
  private applying: Promise<unknown> = Promise.resolve();
  private question: Promise<void> | undefined;
  /** The last row that is known of. */
  private head = 0;
  private isClosed = false;
  private polling: NodeJS.Timeout | undefined;
  private keeping: NodeJS.Timeout | undefined;

  /** @param apply applies rows of others, in order, and sets the place */
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
    const before = this.place;
    this.meet(await this.journal.head(), before);
    if (this.head > this.place.seq) await this.follow();
  }

  /**
   * Takes note of how far the journal is.
   * @param before how far this server was when it asked
   * @throws LwsError `too-busy` when the journal has less than this server, or something else
   */
  private meet(head: JournalPlace, before: JournalPlace): void {
    if (head.seq < before.seq || contradict(head, this.place)) throw setBack(this.place);
    this.head = Math.max(this.head, head.seq);
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
    const before = this.place;
    const { head, rows } = await this.journal.lock(before);
    this.keeping = setInterval(() => void this.journal.keep(), keepMs).unref();
    try {
      this.meet(head, before);
      if (head.seq !== this.place.seq) await this.follow(rows);
      if (head.seq !== this.place.seq) throw setBack(this.place);
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
      try {
        await settle(await this.journal.append(this.place.seq + 1, write()));
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
      let rows = known.filter(({ seq }) => seq > this.place.seq);
      for (;;) {
        if (rows.length === 0 && this.place.seq < this.head) rows = await this.journal.after(this.place);
        if (this.place.seq >= this.head) return;
        if (rows[0]?.seq !== this.place.seq + 1)
          throw new Error(
            `The journal has lost what came after ${this.place.seq}. Start the server again: it takes the state anew.`,
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
