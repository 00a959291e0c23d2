/** The thread that reads an import and writes its batches: its interface for the HTTP thread. */

import { TransferError } from '../../../lib/exchange/member.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { ThreadEnded } from '../../../lib/tools/threads/messages.js';
import { Thread } from '../../../lib/tools/threads/thread.js';
import type { BlockItem, BlockWrite, ImportBlock, ImportTask, Operation, ReadPart } from './blocks.js';
import type { ImportFunctions } from './import-worker.js';

const operationsAtATime = 1000;
/** Heap of the thread, in MiB. */
const heapMb = 512;

/** Thrown if the import was stopped. It can be resumed. */
export class ImportStopped extends TransferError {
  constructor() {
    super('The import was stopped.');
  }
}

export interface BlockTaker {
  /** Receives the size of the source in bytes, if known. */
  expect(total: number | undefined): void;
  /**
   * Stages a block and sends the verdict to the thread, also before throwing. Returns when the next block may be staged.
   * @returns a promise that resolves when the block is stored
   */
  take(block: ImportBlock): Promise<{ readonly stored: Promise<void> }>;
}

export class ImportThread {
  private readonly thread: Thread<ImportFunctions>;
  /** The items of the next block so far. */
  private readonly items: BlockItem[] = [];
  /** Settles when the last received block is staged. */
  private staged: Promise<{ readonly stored: Promise<void> }> = Promise.resolve({ stored: Promise.resolve() });
  /** Settles when all blocks are stored. */
  private last: Promise<void> = Promise.resolve();
  private isStopped = false;
  private fail!: (error: unknown) => void;
  /** Resolves when all blocks are stored. Rejects with TransferError or LwsError, after all started blocks are settled. */
  readonly finished: Promise<void>;

  constructor(
    task: ImportTask,
    private readonly taker: BlockTaker,
  ) {
    this.thread = new Thread<ImportFunctions>({
      script: new URL('./import-worker.js', import.meta.url),
      data: task,
      // A written block is garbage: with the default of 16 MiB, copying blocks would take a quarter of the time.
      limits: { maxYoungGenerationSizeMb: 96, maxOldGenerationSizeMb: heapMb },
    });
    this.finished = new Promise((done, fail) => {
      this.fail = (error) => {
        void this.thread.end();
        const isFull = error instanceof ThreadEnded && error.why === 'memory';
        fail(isFull ? new TransferError(`A part of the source requires more than ${heapMb} MiB of memory.`) : error);
      };
      this.read().then(done, this.fail);
    });
    this.finished.catch(() => {});
  }

  private async read(): Promise<void> {
    const take = (part: ReadPart): void => {
      if ('total' in part) this.taker.expect(part.total);
      else if ('items' in part) this.items.push(...part.items);
      else {
        this.next({ ...part.block, items: this.items.splice(0) });
        this.last.catch(this.fail);
      }
    };
    const isWhole = await this.thread.call('read', undefined, { take }).catch(async (error: Error) => {
      await this.last;
      if (error instanceof ThreadEnded) throw this.isStopped ? new ImportStopped() : error;
      // Compare the name, because an error from another thread loses its class.
      throw error instanceof LwsError || error.name === TransferError.name ? new TransferError(error.message) : error;
    });
    await this.last;
    if (!isWhole) throw new ImportStopped();
  }

  private next(block: ImportBlock): void {
    const before = this.last;
    const staged = this.staged.then(
      () => this.taker.take(block),
      (error) => {
        this.drop(block.number);
        throw error;
      },
    );
    const stored = staged.then((taken) => taken.stored);
    // `last` awaits the promise after all earlier promises. Until then a rejection must not count as unhandled.
    stored.catch(() => {});
    this.staged = staged;
    this.last = before.then(() => stored);
  }

  /** True if the thread was asked to end, or has ended. Then nothing may be staged for the thread. */
  get isEnding(): boolean {
    return this.thread.isEnding;
  }

  /** Returns all keys of some items of a block. Returns none after the thread has ended. */
  keysOf(block: number, items: readonly number[]): Promise<readonly (readonly string[])[]> {
    return this.thread.call('keysOf', { block, items }).catch((error: unknown) => {
      if (error instanceof ThreadEnded) return [];
      throw error;
    });
  }

  /** Lets the thread write a batch. @throws Error if the write may have failed */
  async write(given: Omit<BlockWrite, 'operations'>, operations: readonly Operation[]): Promise<void> {
    let at = 0;
    for (; operations.length - at > operationsAtATime; at += operationsAtATime) {
      // If this call fails, the call of `write` fails too.
      this.thread.call('operations', operations.slice(at, at + operationsAtATime)).catch(() => {});
      await yieldToEventLoop();
    }
    await this.thread.call('write', { ...given, operations: operations.slice(at) });
  }

  /** Tells the thread to drop a block. @param kept items whose blobs are kept, because a stored record may refer to them */
  drop(block: number, kept: readonly number[] = []): void {
    this.thread.call('drop', { block, items: kept }).catch((error: unknown) => {
      if (!(error instanceof ThreadEnded)) this.fail(error);
    });
  }

  /** Stops reading, and ends the thread after all started blocks are settled. Returns when the thread has closed LevelDB. */
  stop(): Promise<void> {
    this.isStopped = true;
    return this.thread.end();
  }

  /** Ends the thread without waiting for blocks, while no transaction can run. Returns when the thread has closed LevelDB. */
  abandon(): Promise<void> {
    this.thread.call('abandon', undefined).catch(() => {});
    return this.stop();
  }
}
