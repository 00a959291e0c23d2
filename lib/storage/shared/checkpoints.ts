/** When a checkpoint is due, and its making by the server that leads. */
import { Thread } from '../../threads/thread.js';
import { threadLimits } from '../../threads/thread-limits.js';
import { lastCheckpoint } from './checkpoint.js';
import type { CheckpointFunctions, CheckpointTask } from './checkpoint-worker.js';
import { Connection } from './connection.js';

export interface CheckpointOptions extends CheckpointTask {
  /** Bytes of the journal after a checkpoint that lead to another one at the earliest. */
  readonly minBytes: number;
  /** Milliseconds between two looks at the journal. */
  readonly lookMs?: number;
}

/** A checkpoint under way that is not wanted any more is given up after so long. */
const graceMs = 1_000;

export class Checkpoints {
  private lookedAt = Number.NEGATIVE_INFINITY;
  private thread: Thread<CheckpointFunctions> | undefined;
  /** Bytes of the rows after one, up to another. */
  private measured = { after: -1, to: -1, bytes: 0 };
  /** Its own: a long journal takes long to be measured. */
  private readonly connection: Connection;

  constructor(private readonly options: CheckpointOptions) {
    this.connection = new Connection(options.address);
  }

  /** Called now and then by the server that leads. @throws the error of the database, or of the thread */
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
      // Nobody waits for one that was told to end.
      if (this.thread === thread) throw error;
    } finally {
      await thread.end();
      this.thread = undefined;
    }
  }

  /** Bytes of the journal after a row; those of rows that were measured before are known. */
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
