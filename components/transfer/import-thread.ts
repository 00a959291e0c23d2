/** The thread that reads an import and writes its batches, as the thread that decides sees it. */
import { Worker } from 'node:worker_threads';
import { breathe } from '../../lib/component/level.js';
import type { BlockItem, FromReader, ImportBlock, ImportTask, Operation, ToReader } from './blocks.js';
import { TransferError } from './member.js';

const operationsAtATime = 1000;

/** Somebody stopped it; it can continue. */
export class ImportStopped extends TransferError {
  constructor() {
    super('The import was stopped.');
  }
}

export interface BlockTaker {
  /** Bytes of the source, where they are known. */
  expect(total: number | undefined): void;
  /**
   * Stages a block, and tells the thread what became of it, also before it throws. Comes back when the next one may be staged.
   * @returns a promise for when it is stored
   */
  take(block: ImportBlock): Promise<{ readonly stored: Promise<void> }>;
}

type Keys = readonly (readonly string[])[];

export class ImportThread {
  private readonly ended = new Int32Array(new SharedArrayBuffer(4));
  private readonly worker: Worker;
  private isGone = false;
  private readonly written = new Map<number, { resolve(): void; reject(error: Error): void }>();
  /** Of the next block. */
  private readonly items: BlockItem[] = [];
  private keys: ((keys: Keys) => void) | undefined;
  /** Settles when the last block has been staged. */
  private staged: Promise<{ readonly stored: Promise<void> }> = Promise.resolve({ stored: Promise.resolve() });
  /** Settles when all blocks are stored. */
  private last: Promise<void> = Promise.resolve();
  private readonly exited: Promise<void>;
  /** Settles when all blocks have been taken, and nothing of them is under way. Rejects with TransferError, LwsError. */
  readonly finished: Promise<void>;

  constructor(
    task: Omit<ImportTask, 'ended'>,
    private readonly taker: BlockTaker,
  ) {
    this.worker = new Worker(new URL('./import-worker.js', import.meta.url), {
      workerData: { ...task, ended: this.ended } satisfies ImportTask,
      // A block is garbage as soon as it is written: with the usual 16 MiB a quarter of the time goes by with moving it.
      resourceLimits: { maxYoungGenerationSizeMb: 96, maxOldGenerationSizeMb: 512 },
    });
    this.exited = new Promise((gone) => this.worker.once('exit', () => gone()));
    this.finished = this.follow();
    this.finished.catch(() => {});
  }

  private follow(): Promise<void> {
    return new Promise((done, fail) => {
      const failed = (error: unknown): void => {
        this.end();
        fail(error);
      };
      const afterLast = (then: () => void): void => void this.last.then(then, failed);
      const gone = (error: Error): void => {
        this.isGone = true;
        for (const { reject } of this.written.values()) reject(error);
        this.written.clear();
        this.keys?.([]);
        afterLast(() => failed(error));
      };
      this.worker.on('message', (message: FromReader) => {
        if ('total' in message) this.taker.expect(message.total);
        else if ('items' in message) this.items.push(...message.items);
        else if ('block' in message) {
          this.next({ ...message.block, items: this.items.splice(0) });
          this.last.catch(failed);
        } else if ('keysOf' in message) this.keys?.(message.keys);
        else if ('written' in message) this.settled(message.written)?.resolve();
        else if ('refused' in message) this.settled(message.refused)?.reject(new Error(message.message));
        else if ('done' in message) afterLast(done);
        else afterLast(() => failed(message.isFault ? new Error(message.broken) : new TransferError(message.broken)));
      });
      this.worker.once('error', gone);
      this.worker.once('exit', () =>
        gone(this.isEnding ? new ImportStopped() : new Error('The thread of the import ended.')),
      );
    });
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
    // It is awaited when all before it are stored.
    stored.catch(() => {});
    this.staged = staged;
    this.last = before.then(() => stored);
  }

  private settled(number: number): { resolve(): void; reject(error: Error): void } | undefined {
    const settle = this.written.get(number);
    this.written.delete(number);
    return settle;
  }

  /** It was told to end, or has ended: nothing more may be staged for it to write. */
  get isEnding(): boolean {
    return this.isGone || Atomics.load(this.ended, 0) !== 0;
  }

  private tell(message: ToReader): void {
    this.worker.postMessage(message);
  }

  /** All keys of some items of a block. */
  keysOf(block: number, items: readonly number[]): Promise<Keys> {
    if (this.isGone) return Promise.resolve([]);
    return new Promise((resolve) => {
      this.keys = resolve;
      this.tell({ keysOf: block, items });
    });
  }

  /** Has it write a batch. @throws Error when that may have failed */
  async write(message: Extract<ToReader, { write: number }>, operations: readonly Operation[]): Promise<void> {
    for (let at = 0; at < operations.length; at += operationsAtATime) {
      this.tell({ operations: operations.slice(at, at + operationsAtATime) });
      await breathe();
    }
    if (this.isGone) throw new Error('The thread of the import ended.');
    return new Promise((resolve, reject) => {
      this.written.set(message.write, { resolve, reject });
      this.tell(message);
    });
  }

  /** It writes nothing of the block. @param kept items whose blobs stay, since something refers to them, or may */
  drop(block: number, kept: readonly number[] = []): void {
    this.tell({ drop: block, kept });
  }

  private end(): void {
    Atomics.store(this.ended, 0, 1);
    this.tell({ end: true });
  }

  /** Reads no further, and ends when what is under way has been taken. Returns when it has released LevelDB. */
  async stop(): Promise<void> {
    this.end();
    await this.exited;
  }

  /** Ends without waiting for blocks, while no transaction can run. Returns when it has released LevelDB. */
  async abandon(): Promise<void> {
    Atomics.store(this.ended, 0, 1);
    this.tell({ abandon: true });
    await this.exited;
  }
}
