/**
 * Follows the journal on one server, and writes to it. In a turn, the server holds the lock of the journal: it has applied all
 * rows of other servers, and no other server writes. At the end of the turn, its transactions become one row. Rows of other
 * servers are applied before responses are sent, so that no client sees an outdated state.
 */
import { type LwsError, tooBusy } from '../../lib/plugin/component.js';
import { databaseAway } from './connection.js';
import type { CommitQueue, JournalPlace, Replica } from './contract.js';
import { AppendInDoubtError, contradict, type Journal, type JournalRow, setBack } from './journal.js';

/** Maximum bytes of a turn: every server holds the row of the turn in memory, and applies it before responding. */
const maxTurnBytes = 32 << 20;

const pollMs = 250;
/**
 * Interval of keep-alive queries during a turn, in milliseconds. The database ends a transaction that is idle for ten seconds
 * (`idleMs` in connection.ts).
 */
const keepMs = 3_000;

export class SharedLog {
  /** Position of the last row that was applied. */
  private place: JournalPlace;
  private isTurn = false;
  private applying: Promise<unknown> = Promise.resolve();
  private question: Promise<void> | undefined;
  /** Sequence number of the last row that is known to exist. */
  private head = 0;
  private isClosed = false;
  private polling: NodeJS.Timeout | undefined;
  private keeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Pick<
      CommitQueue,
      'stagedBytes' | 'after' | 'take' | 'rowOf' | 'commit' | 'reject' | 'apply'
    >,
    private readonly journal: Journal,
    readonly replica: Replica,
  ) {
    this.place = replica.place;
  }

  admitted(): Promise<void> | undefined {
    if (!this.isTurn) return this.begin();
    return this.queue.stagedBytes > maxTurnBytes ? this.end().then(() => this.begin()) : undefined;
  }

  reopened(): void {
    this.place = this.replica.place;
  }

  /**
   * Applies all rows that any server acknowledged before the call. Concurrent calls share one query.
   * @throws LwsError `too-busy` if the database cannot be reached
   */
  freshen(): Promise<void> {
    this.question ??= this.ask();
    return this.question;
  }

  private async ask(): Promise<void> {
    // Let the calls of the same event loop turn share one query.
    await new Promise((resolve) => setImmediate(resolve));
    this.question = undefined;
    const before = this.known;
    this.meet(await this.journal.head(), before);
    if (this.head > this.place.seq) await this.follow();
  }

  /** Position of the last row that was applied or is known to exist. */
  private get known(): JournalPlace {
    return this.place.seq >= this.head ? this.place : { seq: this.head };
  }

  /**
   * Records the last position of the journal.
   * @param before last known row when the position was requested
   * @throws LwsError `too-busy` if the journal has lost rows, or has a different row at the position of this server
   */
  private meet(head: JournalPlace, before: JournalPlace): void {
    if (head.seq < before.seq) throw setBack(before);
    if (contradict(head, this.place)) throw setBack(this.place);
    this.head = Math.max(this.head, head.seq);
  }

  /** Follows the journal at intervals, even without requests. */
  poll(): void {
    this.polling = setInterval(() => {
      // Ignore errors here: each request handles the error of its own `freshen`.
      if (!this.isClosed) this.freshen().catch(() => {});
    }, pollMs).unref();
  }

  /** Begins a turn, which ends after the transactions that are queued by then. @throws LwsError `too-busy` */
  private async begin(): Promise<void> {
    const [{ place }, before] = [this, this.known];
    const { head, rows } = await this.journal.lock(place);
    this.keeping = setInterval(() => void this.journal.keep(), keepMs).unref();
    try {
      this.meet(head, before);
      if (head.seq !== this.place.seq) await this.follow(rows);
      if (head.seq !== this.place.seq) throw setBack(this.place);
    } catch (error) {
      await this.release();
      throw error;
    }
    this.isTurn = true;
    this.queue.after(() => this.end());
  }

  private release(): Promise<void> {
    clearInterval(this.keeping);
    return this.journal.release();
  }

  /** Ends a turn: appends the staged transactions as one row. */
  private async end(): Promise<void> {
    if (!this.isTurn) return;
    this.isTurn = false;
    const group = this.queue.take();
    if (group.length === 0) return this.release();
    clearInterval(this.keeping);
    await this.alone(async () => {
      try {
        const place = await this.journal.append(this.place.seq + 1, ...this.queue.rowOf(group));
        await this.queue.commit(group, place);
        this.place = place;
      } catch (error) {
        await this.journal.release();
        this.queue.reject(group, error, error instanceof AppendInDoubtError);
      }
    });
  }

  /** Applies the rows up to `head`. @param known next rows, if they were already read */
  private follow(known: readonly JournalRow[] = []): Promise<void> {
    return this.alone(async () => {
      // Another call may have applied some of these rows meanwhile.
      let rows = known.filter(({ seq }) => seq > this.place.seq);
      for (;;) {
        if (rows.length === 0 && this.place.seq < this.head) rows = await this.journal.after(this.place);
        if (this.place.seq >= this.head) return;
        if (rows[0]?.seq !== this.place.seq + 1) throw await this.gap();
        for (const row of rows) await this.apply(row);
        rows = [];
      }
    });
  }

  /** Applies a row of another server. */
  private async apply({ body, ...place }: JournalRow): Promise<void> {
    // A row of another server during a turn means that the database has ended the turn: staged
    // transactions used an outdated state.
    if (this.isTurn)
      this.queue.reject(this.queue.take(), databaseAway('the session that had the turn has ended'), false);
    await this.queue.apply(body, place);
    this.place = place;
  }

  /** Returns the error for a missing next row: the journal was reset meanwhile, or a checkpoint has replaced its rows. */
  private async gap(): Promise<LwsError> {
    const { place, known } = this;
    if ((await this.journal.head()).seq < known.seq) return setBack(known);
    const reason = `the journal no longer has the rows after ${place.seq}; restart the server, which rebuilds its copy`;
    return tooBusy('This server is too far behind the database of its storage.', 60, { reason });
  }

  /** Runs work while no row is being applied. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.applying.then(work);
    this.applying = run.catch(() => {});
    return run;
  }

  /** Stops following the journal. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.polling);
    await this.applying;
  }
}
