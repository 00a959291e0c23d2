/**
 * Follows the journal on one server, and takes turns to write it. Rows of other servers are applied before a client gets a response from an
 * earlier state. The server with the turn (the lock of the journal) has applied all rows of the others, and no other server writes. At the end of
 * the turn its transactions become one row.
 */
import { type LwsError, tooBusy } from '../../lib/plugin/component.js';
import { databaseAway } from './connection.js';
import type { CommitQueue, JournalPlace, Replica } from './contract.js';
import { AppendInDoubtError, contradict, type Journal, type JournalRow, setBack } from './journal.js';

/** Maximum size of a turn in bytes: all servers hold its row in memory and apply it before they respond. */
const maxTurnBytes = 32 << 20;

const pollMs = 250;
/** Between two signs of life in a turn: the database ends a transaction that is idle for ten seconds (`idleMs` in connection.ts). */
const keepMs = 3_000;

export class SharedLog {
  /** The last row that is applied here. */
  private place: JournalPlace;
  private isTurn = false;
  private applying: Promise<unknown> = Promise.resolve();
  private question: Promise<void> | undefined;
  /** The number of the last row of the journal that this server knows of. */
  private head = 0;
  private isClosed = false;
  private polling: NodeJS.Timeout | undefined;
  private keeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Pick<
      CommitQueue,
      'stagedBytes' | 'after' | 'take' | 'bodyOf' | 'commit' | 'reject' | 'apply'
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

  /** Begins a turn. It ends after the transactions that are queued by then. @throws LwsError `too-busy` */
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
        const place = await this.journal.append(this.place.seq + 1, this.queue.bodyOf(group));
        await this.queue.commit(group, place);
        this.place = place;
      } catch (error) {
        await this.journal.release();
        this.queue.reject(group, error, error instanceof AppendInDoubtError);
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
        for (const row of rows) await this.apply(row);
        rows = [];
      }
    });
  }

  /** Applies a row of another server. */
  private async apply({ body, ...place }: JournalRow): Promise<void> {
    // During a turn: the database has ended it, and the staged transactions ran on an outdated state.
    if (this.isTurn)
      this.queue.reject(this.queue.take(), databaseAway('the session that had the turn has ended'), false);
    await this.queue.apply(body, place);
    this.place = place;
  }

  /** The error for a journal without the next row: it was set back after its head was read, or has dropped rows that a checkpoint has. */
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

  /** Ends the following. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.polling);
    await this.applying;
  }
}
