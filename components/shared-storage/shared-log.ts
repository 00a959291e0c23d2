/**
 * Follows the journal on one server, and writes it in turns. Rows of other servers are applied before a client gets a response
 * from an earlier state. The server with the turn (the lock of the journal) has applied all rows of the others, and no other
 * server writes. At the end of the turn its transactions become one row.
 */
import { type LwsError, tooBusy } from '../../lib/plugin/component.js';
import { databaseAway } from './connection.js';
import type { CommitQueue, JournalPlace, Replica } from './contract.js';
import { AppendInDoubtError, contradict, type Journal, type JournalRow, setBack } from './journal.js';

/** Maximum size of a turn in bytes: all servers hold its row in memory and apply it before they respond. */
const maxTurnBytes = 32 << 20;

const pollMs = 250;
/**
 * Interval of queries during a turn, in milliseconds: the database ends a transaction that is idle for ten seconds (`idleMs` in
 * connection.ts).
 */
const keepMs = 3_000;

export class SharedLog {
  /** Last row applied here. */
  private place: JournalPlace;
  private isTurn = false;
  private applying: Promise<unknown> = Promise.resolve();
  private question: Promise<void> | undefined;
  /** Number of the last known row of the journal. */
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
   * Applies all rows that any server acknowledged before the call. Concurrent calls share one query of the database.
   * @throws LwsError `too-busy` if the database cannot be queried
   */
  freshen(): Promise<void> {
    this.question ??= this.ask();
    return this.question;
  }

  private async ask(): Promise<void> {
    // Calls in the same turn of the event loop share the query.
    await new Promise((resolve) => setImmediate(resolve));
    this.question = undefined;
    const before = this.known;
    this.meet(await this.journal.head(), before);
    if (this.head > this.place.seq) await this.follow();
  }

  /** Last row that this server has applied or received. */
  private get known(): JournalPlace {
    return this.place.seq >= this.head ? this.place : { seq: this.head };
  }

  /**
   * Records the head of the journal.
   * @param before last known row when the head was queried
   * @throws LwsError `too-busy` if the journal has fewer rows, or another row at the position of this server
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

  /** Begins a turn. It ends after the transactions queued by then. @throws LwsError `too-busy` */
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

  /** Ends a turn: appends a row with the staged transactions. */
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

  /** Applies rows up to `head`. @param known next rows, if already read */
  private follow(known: readonly JournalRow[] = []): Promise<void> {
    return this.alone(async () => {
      // Another call may have applied some of the known rows meanwhile.
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
    // During a turn, this means that the database has ended the turn, and the staged transactions ran on an outdated state.
    if (this.isTurn)
      this.queue.reject(this.queue.take(), databaseAway('the session that had the turn has ended'), false);
    await this.queue.apply(body, place);
    this.place = place;
  }

  /**
   * Returns the error for a journal without the next row: it was reset after its head was read, or has dropped rows that a
   * checkpoint includes.
   */
  private async gap(): Promise<LwsError> {
    const { place, known } = this;
    if ((await this.journal.head()).seq < known.seq) return setBack(known);
    const reason = `the journal no longer has the rows after ${place.seq}; restart the server, which rebuilds its copy`;
    return tooBusy('This server is too far behind the database of its storage.', 60, { reason });
  }

  /** Runs work while no row is applied. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.applying.then(work);
    this.applying = run.catch(() => {});
    return run;
  }

  /** Stops following. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.polling);
    await this.applying;
  }
}
