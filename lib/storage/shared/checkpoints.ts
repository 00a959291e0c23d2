/** Makes checkpoints when they are due, on the server that leads. */
import { Thread } from '../../threads/thread.js';
import { threadLimits } from '../../threads/thread-limits.js';
import { lastCheckpoint } from './checkpoint.js';
import type { CheckpointFunctions, CheckpointTask } from './checkpoint-worker.js';
import { Connection } from './connection.js';

export interface CheckpointOptions extends CheckpointTask {
  /** The least bytes of the journal after a checkpoint with which another one is made. */
  readonly minBytes: number;
  /** Milliseconds between two looks at the journal. */
  readonly lookMs?: number;
}

/** How long the thread may take to end when the server stops amid a checkpoint. */
const graceMs = 1_000;

export class Checkpoints {
  private lookedAt = Number.NEGATIVE_INFINITY;
  private thread: Thread<CheckpointFunctions> | undefined;
  /** Bytes of the journal's rows after row `after`, up to row `to`. */
  private measured = { after: -1, to: -1, bytes: 0 };
  /** A connection of its own: to measure a long journal takes long. */
  private readonly connection: Connection;

  constructor(private readonly options: CheckpointOptions) {
    this.connection = new Connection(options.address);
  }

  /** Makes a checkpoint when it is due; called at each renewal of the lead. @throws the error of the database, or of the thread */
  async review(): Promise<void> {
    const { minBytes, folder, address, keptMinutes, lookMs = 30_000 } = this.options;
    if (this.thread || performance.now() - this.lookedAt < lookMs) return;
    this.lookedAt = performance.now();
    const last = await lastCheckpoint(this.connection);
    if ((await this.bytesAfter(last?.seq ?? 0)) < Math.max(minBytes, last?.bytes ?? 0)) return;
    const script = new URL('./checkpoint-worker.js', import.meta.url);
    const thread = new Thread<CheckpointFunctions>({ script, limits: threadLimits(), graceMs });
    this.thread = thread;
    try {
      await thread.call('write', { folder, address, keptMinutes });
    } catch (error) {
      // After `stop`, the failure of the thread is expected.
      if (this.thread === thread) throw error;
    } finally {
      await thread.end();
      this.thread = undefined;
    }
  }

  /** Bytes of the journal after a row; only rows that are new since the last call are read. */
  private async bytesAfter(seq: number): Promise<number> {
    if (this.measured.after !== seq) this.measured = { after: seq, to: seq, bytes: 0 };
    const { measured } = this;
    const { rows } = await this.connection.query<{ last: string | null; bytes: string | null }>(
      'SELECT max(seq) AS last, sum(octet_length(body)) AS bytes FROM journal WHERE seq > $1',
      [measured.to],
    );
    const { last, bytes } = rows[0]!;
    measured.to = Number(last ?? measured.to);
    measured.bytes += Number(bytes ?? 0);
    return measured.bytes;
  }

  async stop(): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    await thread?.end();
    await this.connection.close();
  }
}
