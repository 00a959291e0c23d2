/**
 * One import: a thread reads, and what it read is decided and staged here, a block a transaction, together with how far the import
 * has come. It must not know HTTP or formats.
 */
import { hash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import { LwsError } from '../../lib/errors.js';
import { entryKey, entryRange } from '../../lib/storage/records.js';
import type { Transaction } from '../../lib/storage/transaction.js';
import type { Block, BlockItem, FromReader, ImportTask, Told, ToReader } from './blocks.js';
import {
  behind,
  type ImportState,
  importSpace,
  isStored,
  seenSpace,
  stageStates,
  type Verdict,
  whatIsLost,
  writeState,
} from './import-state.js';
import { TransferError } from './member.js';

export interface ImportOptions {
  readonly house: House;
  /** Who asks, and owns what is created. */
  readonly access: Access;
  /** The operator may do everything. */
  readonly isOperator: boolean;
  readonly dryRun: boolean;
}

interface Staged {
  readonly verdicts: readonly Verdict[];
  /** Indices of the items that the reading thread writes. */
  readonly written: readonly number[];
  /** What is not taken over of items that are. */
  readonly lost: readonly Told[];
}

/** What a dry run undoes its transactions with. */
class DryRun extends Error {
  constructor(readonly staged: Staged) {
    super('A dry run stores nothing.');
  }
}

class NeedsKeys extends Error {
  constructor(readonly items: readonly number[]) {
    super('All keys of some graphs are wanted.');
  }
}

export class ImportJob {
  private readonly ended = new Int32Array(new SharedArrayBuffer(4));
  private readonly seen = new Set<string>();
  private worker: Worker | undefined;
  private readonly written = new Map<number, { resolve(): void; reject(error: Error): void }>();
  private keys: ((keys: readonly (readonly string[])[]) => void) | undefined;
  /** The last block whose transaction was staged. */
  private last: Promise<void> = Promise.resolve();

  constructor(
    readonly state: ImportState,
    private readonly options: ImportOptions,
  ) {}

  /** Reads to the end. @throws TransferError, LwsError; what was stored before stays */
  async run(): Promise<void> {
    const { house, dryRun } = this.options;
    await this.recall();
    const { source, name, format, mediaType, into, rewrite, cursor, id } = this.state;
    const task: ImportTask = {
      ...{ source, name, format, mediaType, into, rewrite, dryRun, ended: this.ended },
      ...(cursor === '' ? {} : { cursor }),
      seed: id,
      level: join(resolve(house.dataDir), 'level'),
      blobs: join(resolve(house.dataDir), 'blobs'),
      bounds: { jsonBytes: 16 << 20 },
    };
    const worker = new Worker(new URL('./import-worker.js', import.meta.url), {
      workerData: task,
      // A block is garbage as soon as it is written: with the usual 16 MiB a quarter of the time goes by with moving it.
      resourceLimits: { maxYoungGenerationSizeMb: 96, maxOldGenerationSizeMb: 512 },
    });
    this.worker = worker;
    try {
      await new Promise<void>((done, fail) => {
        const failed = (error: Error): void => {
          this.interrupt(error);
          fail(error);
        };
        worker.on('message', (message: FromReader) => {
          if ('total' in message) this.state.total = message.total;
          else if ('block' in message) {
            this.last = this.last.then(() => this.take(message.block));
            this.last.catch(failed);
          } else if ('written' in message) this.written.get(message.written)?.resolve();
          else if ('refused' in message) this.written.get(message.refused)?.reject(new Error(message.message));
          else if ('keysOf' in message) this.keys?.(message.keys);
          else if ('done' in message) this.last.then(() => done(), fail);
          else
            this.last.then(
              () => fail(message.isFault ? new Error(message.broken) : new TransferError(message.broken)),
              fail,
            );
        });
        worker.once('error', failed);
        worker.once('exit', () => failed(new Error('The thread of the import ended.')));
      });
    } finally {
      await this.stop();
    }
  }

  /** Ends it; what was stored stays, and it can go on. */
  async stop(): Promise<void> {
    const { worker } = this;
    Atomics.store(this.ended, 0, 1);
    worker?.postMessage({ end: true });
    if (worker && worker.threadId >= 0) await new Promise((gone) => worker.once('exit', gone));
    this.interrupt(new TransferError('The import was stopped.'));
  }

  private interrupt(error: Error): void {
    for (const { reject } of this.written.values()) reject(error);
    this.written.clear();
    this.keys?.([]);
  }

  private tell(message: ToReader): void {
    this.worker?.postMessage(message);
  }

  /** Resources that this import has stored before it was interrupted. */
  private async recall(): Promise<void> {
    for await (const entries of this.options.house.store.entries(entryRange(seenSpace, this.state.id)))
      for (const [, value] of entries) for (const name of value.split(' ')) this.seen.add(name);
  }

  private async take(block: Block): Promise<void> {
    let staged: Staged;
    try {
      staged = await this.store(block, block.items);
    } catch (error) {
      this.tell({ drop: block.number });
      throw error;
    }
    if (this.options.dryRun) this.tell({ drop: block.number });
    this.count(block, staged);
  }

  /** One transaction. */
  private async store(block: Block, items: readonly BlockItem[]): Promise<Staged> {
    const { store } = this.options.house;
    try {
      return await store.transact(async (tx) => {
        const staged = await this.stage(tx, block, items);
        if (this.options.dryRun) throw new DryRun(staged);
        this.enlist(tx, block, staged);
        return staged;
      });
    } catch (error) {
      if (error instanceof DryRun) return error.staged;
      if (!(error instanceof NeedsKeys)) throw error;
      const wanted = await this.askKeys(block.number, error.items);
      const complete = items.map((item, index) => {
        const keys = wanted[error.items.indexOf(index)];
        return keys && item.content?.kind === 'rdf' ? { ...item, content: { ...item.content, keys } } : item;
      });
      return this.store(block, complete);
    }
  }

  private askKeys(number: number, items: readonly number[]): Promise<readonly (readonly string[])[]> {
    return new Promise((resolve) => {
      this.keys = resolve;
      this.tell({ keysOf: number, items });
    });
  }

  private async stage(tx: Transaction, block: Block, items: readonly BlockItem[]): Promise<Staged> {
    const { house, access, isOperator } = this.options;
    tx.actor = access.principal?.subject;
    const staging = house.bulk(tx, { access, isOperator });
    const [verdicts, lost]: [Verdict[], Told[]] = [[], []];
    const [incomplete, written]: [number[], number[]] = [[], []];
    for (const [index, item] of items.entries()) {
      const existing = this.seen.has(nameOf(item.iri)) ? 'merge' : this.state.conflict;
      try {
        const verdict = await staging.stage(item, existing);
        verdicts.push(verdict);
        const why = whatIsLost(item, verdict, staging.keepsLists);
        if (why !== undefined) lost.push({ source: item.source, why });
        if (verdict === 'needs-keys') incomplete.push(index);
        if (verdict === 'created' && item.content?.kind === 'rdf' && !item.content.keys) written.push(index);
      } catch (error) {
        if (!(error instanceof LwsError) || (this.state.conflict === 'fail' && error.code === 'already-exists'))
          throw named(item.source, error);
        verdicts.push({ source: item.source, why: error.message });
      }
    }
    if (incomplete.length > 0) throw new NeedsKeys(incomplete);
    lost.push(...stageStates(tx, block));
    return { verdicts, written, lost };
  }

  /** How far it is goes with what was stored; the thread that has the keys writes both. */
  private enlist(tx: Transaction, block: Block, { verdicts, written, lost }: Staged): void {
    const { state } = this;
    const names = block.items.flatMap(({ iri }, index) => (isStored(verdicts[index]!) ? [nameOf(iri)] : []));
    if (names.length > 0) tx.putEntry(entryKey(seenSpace, state.id, String(state.blocks)), names.join(' '));
    tx.putEntry(entryKey(importSpace, state.id), writeState(behind(state, block, { verdicts, lost })));
    const accepted = block.items.flatMap((_, index) => (isStored(verdicts[index]!) ? [index] : []));
    tx.partner = {
      bytes: block.batchBytes,
      write: (operations) =>
        new Promise((resolve, reject) => {
          const settle = { resolve, reject };
          this.written.set(block.number, settle);
          this.tell({ write: block.number, accepted, written, operations });
        }),
    };
  }

  private count(block: Block, { verdicts, lost }: Staged): void {
    this.written.delete(block.number);
    for (const [index, { iri }] of block.items.entries()) if (isStored(verdicts[index]!)) this.seen.add(nameOf(iri));
    Object.assign(this.state, behind(this.state, block, { verdicts, lost }));
  }
}

/** Short, since one is kept for each resource. */
const nameOf = (iri: string): string => hash('sha256', iri, 'base64url').slice(0, 12);

const named = (source: string, error: unknown): unknown =>
  error instanceof LwsError ? new TransferError(`${source}: ${error.message}`) : error;
