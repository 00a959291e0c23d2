/**
 * Follows the journal on one server: rows of other servers are applied here before a client gets an answer from an earlier state. It must
 * not know what the rows change.
 */
import { type LwsError, tooBusy } from '../../errors.js';
import { contradict, type Journal, type JournalPlace, type JournalRow, setBack } from './journal.js';

/** Callbacks for the end of a turn with staged transactions. */
export interface TurnEnd {
  /** Gives the body of the row. */
  readonly write: () => Buffer;
  /** Applies the row here, before any later row. */
  readonly settle: (place: JournalPlace) => Promise<void>;
  /** Called, before any later row is applied, when the row is not in the journal, when that is unknown, or when `settle` threw. */
  readonly refuse: (error: unknown) => void;
}

const pollMs = 250;
/** Between two signs of life in a turn: the database ends a transaction that is idle for ten seconds (`idleMs` in connection.ts). */
const keepMs = 3_000;

export class SharedLog {
  /** The last row that is applied here. */
  place: JournalPlace = { seq: 0 };
  private applying: Promise<unknown> = Promise.resolve();
  private question: Promise<void> | undefined;
  /** The number of the last row of the journal that this server knows of. */
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
   * Returns when everything is applied that any server acknowledged before the call. Concurrent calls share one question to the
   * database.
   * @throws LwsError `too-busy` when the database cannot be asked
   */
  freshen(): Promise<void> {
    this.question ??= this.ask();
    return this.question;
  }

  private async ask(): Promise<void> {
    // Calls in this turn of the event loop share the question.
    await new Promise((resolve) => setImmediate(resolve));
    this.question = undefined;
    const before = this.known;
    this.meet(await this.journal.head(), before);
    if (this.head > this.place.seq) await this.follow();
  }

  /** The last row that this server has or has seen. */
  private get known(): JournalPlace {
    return this.place.seq >= this.head ? this.place : { seq: this.head };
  }

  /**
   * Notes the head of the journal.
   * @param before the last row that was known when it was asked for
   * @throws LwsError `too-busy` when the journal has fewer rows, or another row at the place of this server
   */
  private meet(head: JournalPlace, before: JournalPlace): void {
    if (head.seq < before.seq) throw setBack(before);
    if (contradict(head, this.place)) throw setBack(this.place);
    this.head = Math.max(this.head, head.seq);
  }

  /** Follows the journal also without requests. */
  poll(): void {
    this.polling = setInterval(() => {
      // A request gets the error of its own `freshen`.
      if (!this.isClosed) this.freshen().catch(() => {});
    }, pollMs).unref();
  }

  /** Begins a turn: takes the lock of the journal, and applies all rows of other servers. @throws LwsError `too-busy` */
  async begin(): Promise<void> {
    const [{ place }, before] = [this, this.known];
    const { head, rows } = await this.journal.lock(place);
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

  /** Ends a turn without a row. */
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

  /** Applies rows up to `head`. @param known the next rows, when they were read already */
  private follow(known: readonly JournalRow[] = []): Promise<void> {
    return this.alone(async () => {
      // Another call may have applied some of the known rows meanwhile.
      let rows = known.filter(({ seq }) => seq > this.place.seq);
      for (;;) {
        if (rows.length === 0 && this.place.seq < this.head) rows = await this.journal.after(this.place);
        if (this.place.seq >= this.head) return;
        if (rows[0]?.seq !== this.place.seq + 1) throw await this.gap();
        await this.apply(rows);
        rows = [];
      }
    });
  }

  /** The error for a journal without the next row: it was set back after its head was read, or has dropped rows that a checkpoint has. */
  private async gap(): Promise<LwsError> {
    const { place, known } = this;
    if ((await this.journal.head()).seq < known.seq) return setBack(known);
    const reason = `the journal has dropped what came after row ${place.seq}; start the server again, which takes the state anew`;
    return tooBusy('This server is too far behind the database of its storage.', 60, { reason });
  }

  /** Runs work while no row is applied. */
  alone<T>(work: () => Promise<T>): Promise<T> {
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
