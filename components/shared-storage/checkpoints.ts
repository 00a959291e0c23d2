/** Writes checkpoints when they are due. Runs on the leader. */
import { type CheckpointTask, lastCheckpoint } from './checkpoint.js';
import { Connection } from './connection.js';
import type { JoinOptions } from './contract.js';

export interface CheckpointOptions extends CheckpointTask, Pick<JoinOptions, 'newThread'> {
  /** Minimum size of the journal since the last checkpoint, in bytes. */
  readonly minBytes: number;
  /** Minimum interval between checks of the journal, in milliseconds. */
  readonly lookMs?: number;
}

export class Checkpoints {
  private lookedAt = Number.NEGATIVE_INFINITY;
  private thread: ReturnType<JoinOptions['newThread']> | undefined;
  /** Cached size of the journal rows after row `after` up to row `to`, in bytes. */
  private measured = { after: -1, to: -1, bytes: 0 };
  /** Separate connection, because measuring a long journal takes long. */
  private readonly connection: Connection;

  constructor(private readonly options: CheckpointOptions) {
    this.connection = new Connection(options.address);
  }

  /** Writes a checkpoint if one is due. Called at each renewal of the leadership. @throws the error of database or thread */
  async review(): Promise<void> {
    const { minBytes, newThread, address, keptMinutes, lookMs = 30_000 } = this.options;
    if (this.thread || performance.now() - this.lookedAt < lookMs) return;
    this.lookedAt = performance.now();
    const last = await lastCheckpoint(this.connection);
    if ((await this.bytesAfter(last?.seq ?? 0)) < Math.max(minBytes, last?.bytes ?? 0)) return;
    const thread = newThread();
    this.thread = thread;
    try {
      const { href: module } = new URL('./checkpoint.js', import.meta.url);
      await thread.call('run', { module, task: { address, keptMinutes } });
    } catch (error) {
      // After `stop`, the thread is expected to fail.
      if (this.thread === thread) throw error;
    } finally {
      await thread.end();
      this.thread = undefined;
    }
  }

  /** Returns the size of the journal after a row, in bytes. Reads only rows added since the last call. */
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
