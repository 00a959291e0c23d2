/**
 * LevelDB in memory with faults: batches without sync that a cut loses from the last one on, batches that the disk rejects, deleted
 * entries that come back, and damaged values.
 */
import { MemoryLevel } from 'memory-level';
import type { Level } from '../../lib/storage/level/durable-level.js';
import type { World } from './world.js';

interface Operation {
  readonly type: 'put' | 'del';
  readonly key: string;
  readonly value?: string;
}
type Batch = readonly Operation[];
/** Methods of abstract-level for its implementations. */
interface Hidden {
  _batch(operations: Batch, options: { sync?: boolean }): Promise<void>;
}
const hidden = MemoryLevel.prototype as unknown as Hidden;

/** Deleted entries that may come back. */
const maxDeleted = 2_000;

function apply(to: Map<string, string>, batch: Batch): void {
  for (const { type, key, value } of batch)
    if (type === 'put') to.set(key, value!);
    else to.delete(key);
}

/** What outlives a process. */
export class LevelDisk {
  /** Entries that a cut does not lose. */
  readonly durable = new Map<string, string>();
  /** Later batches. */
  readonly pending: Batch[] = [];
  /** A batch that the disk rejected, which may be in the log. */
  rejected: Batch | undefined;
  readonly deleted = new Map<string, string>();

  note(batch: Batch, isSynced: boolean): void {
    this.pending.push(batch);
    if (isSynced) for (const each of this.pending.splice(0)) apply(this.durable, each);
  }

  /** The process, or with `isCut` the machine, ended. */
  end({ random }: World, isCut: boolean): void {
    const { length } = this.pending;
    const left = isCut ? random(length + 1) : length;
    for (const each of this.pending.splice(0).slice(0, left)) apply(this.durable, each);
    if (left === length && this.rejected && random(2) === 0) apply(this.durable, this.rejected);
    this.rejected = undefined;
  }
}

export class FakeLevel extends MemoryLevel<string, string> {
  private readonly life: number;
  private isFailing = false;

  private constructor(
    private readonly world: World,
    private readonly disk: LevelDisk,
  ) {
    super({ storeEncoding: 'utf8' });
    this.life = world.life;
  }

  static async open(world: World, disk: LevelDisk): Promise<FakeLevel> {
    const level = new FakeLevel(world, disk);
    await level.open();
    await level.put_(disk.durable);
    return level;
  }

  get asLevel(): Level {
    return this as unknown as Level;
  }

  /** The next batch is rejected. */
  failNext(): void {
    this.isFailing = true;
  }

  private put_(entries: Iterable<readonly [string, string]>): Promise<void> {
    const batch = [...entries].map(([key, value]) => ({ type: 'put' as const, key, value }));
    return hidden._batch.call(this, batch, {});
  }

  async _open(): Promise<void> {
    // LevelDB reads its log.
    const { rejected } = this.disk;
    this.disk.rejected = undefined;
    if (!rejected || this.world.random(2) === 0) return;
    await hidden._batch.call(this, rejected, {});
    this.disk.note(rejected, true);
  }

  async _batch(batch: Batch, { sync = false }: { sync?: boolean }): Promise<void> {
    await this.world.step(this.life);
    if (this.disk.rejected) this.world.faults.push('a batch was written after a rejected one');
    if (this.isFailing || this.world.isDiskFull) {
      this.isFailing = false;
      this.disk.rejected = batch;
      throw Object.assign(new Error('IO error: 000005.log: No space left on device'), { code: 'ENOSPC' });
    }
    for (const { type, key } of batch) this.forget(type, key);
    await hidden._batch.call(this, batch, {});
    this.disk.note(batch, sync);
    await this.world.step(this.life);
  }

  _put(key: string, value: string): Promise<void> {
    return this._batch([{ type: 'put', key, value }], {});
  }

  _del(key: string): Promise<void> {
    return this._batch([{ type: 'del', key }], {});
  }

  async _clear({ gte, lte }: { gte: string; lte: string }): Promise<void> {
    const keys = await this.keys({ gte, lte }).all();
    await this._batch(
      keys.map((key) => ({ type: 'del', key })),
      {},
    );
  }

  private forget(type: string, key: string): void {
    const { deleted } = this.disk;
    deleted.delete(key);
    const value = type === 'del' ? this.getSync(key) : undefined;
    if (value === undefined) return;
    deleted.set(key, value);
    if (deleted.size > maxDeleted) deleted.delete(deleted.keys().next().value!);
  }

  /** Brings a deleted entry back whose key begins with a string. @returns its key */
  async bringBack(beginning: string): Promise<string | undefined> {
    const { deleted, durable } = this.disk;
    const found = [...deleted].filter(([key]) => key.startsWith(beginning));
    if (found.length === 0) return undefined;
    const [key, value] = this.world.pick(found);
    deleted.delete(key);
    durable.set(key, value);
    await this.put_([[key, value]]);
    return key;
  }

  /** Changes a character of the value of an entry whose key begins with a string. @returns its key */
  async damage(beginning: string): Promise<string | undefined> {
    const found = [...this.disk.durable].filter(([key, value]) => key.startsWith(beginning) && value.length > 1);
    if (found.length === 0) return undefined;
    const [key, value] = this.world.pick(found);
    const at = this.world.random(value.length);
    const damaged = value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ 1) + value.slice(at + 1);
    this.disk.durable.set(key, damaged);
    await this.put_([[key, damaged]]);
    return key;
  }
}
