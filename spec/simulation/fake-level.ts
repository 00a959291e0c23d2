/**
 * LevelDB in memory with faults: batches without sync that a cut loses from the last one on, batches that the disk rejects, deleted
 * entries that come back, and damaged values.
 */
import { MemoryLevel } from 'memory-level';
import type { Level } from '../../lib/storage/level/durable-level.js';
import type { World } from './world.js';

type Batch = readonly { readonly type: 'put' | 'del'; readonly key: string; readonly value?: string }[];
/** The method of abstract-level for its implementations. */
const written = (
  MemoryLevel.prototype as unknown as { _batch(this: FakeLevel, batch: Batch, options: object): Promise<void> }
)._batch;

/** Maximum of deleted entries that may come back. */
const maxDeleted = 2_000;

/** What outlives a process. */
export class LevelDisk {
  /** Entries that a cut does not lose. */
  readonly durable = new Map<string, string>();
  /** Later batches. */
  private pending: Batch[] = [];
  /** A batch that the disk rejected, which may be in the log. */
  rejected: Batch | undefined;
  readonly deleted = new Map<string, string>();

  note(batch: Batch, isSynced: boolean): void {
    this.pending.push(batch);
    if (isSynced) this.settle(this.pending.length);
  }

  private settle(count: number): void {
    for (const { type, key, value } of this.pending.slice(0, count).flat())
      if (type === 'put') this.durable.set(key, value!);
      else this.durable.delete(key);
    this.pending = [];
  }

  /** The process, or with `isCut` the machine, ended. */
  end(world: World, isCut: boolean): void {
    if (this.rejected && world.oneIn(2)) this.pending.push(this.rejected);
    this.rejected = undefined;
    this.settle(isCut ? world.random(this.pending.length + 1) : this.pending.length);
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
    await level.read(disk.durable);
    return level;
  }

  get asLevel(): Level {
    return this as unknown as Level;
  }

  /** The next batch is rejected. */
  failNext(): void {
    this.isFailing = true;
  }

  private read(entries: Iterable<readonly [string, string]>): Promise<void> {
    const batch = [...entries].map(([key, value]) => ({ type: 'put' as const, key, value }));
    return written.call(this, batch, {});
  }

  /** Reads the log, which may have a batch that the disk rejected. */
  async _open(): Promise<void> {
    const { rejected } = this.disk;
    this.disk.rejected = undefined;
    if (!rejected || this.world.oneIn(2)) return;
    await written.call(this, rejected, {});
    this.disk.note(rejected, true);
  }

  async _batch(batch: Batch, { sync = false }: { sync?: boolean } = {}): Promise<void> {
    await this.world.step(this.life);
    if (this.disk.rejected) this.world.faults.push('a batch was written after a rejected one');
    if (this.isFailing || this.world.isDiskFull) {
      this.isFailing = false;
      this.disk.rejected = batch;
      throw Object.assign(new Error('IO error: 000005.log: No space left on device'), { code: 'ENOSPC' });
    }
    for (const { type, key } of batch) this.remember(type, key);
    await written.call(this, batch, {});
    this.disk.note(batch, sync);
    await this.world.step(this.life);
  }

  _del(key: string): Promise<void> {
    return this._batch([{ type: 'del', key }]);
  }

  async _clear({ gte, lte }: { gte: string; lte: string }): Promise<void> {
    const keys = await this.keys({ gte, lte }).all();
    await this._batch(keys.map((key) => ({ type: 'del', key })));
  }

  /** Remembers the value of an entry that is deleted. */
  private remember(type: string, key: string): void {
    const { deleted } = this.disk;
    deleted.delete(key);
    const value = type === 'del' ? this.getSync(key) : undefined;
    if (value !== undefined) deleted.set(key, value);
    if (deleted.size > maxDeleted) deleted.delete(deleted.keys().next().value!);
  }

  /** Brings a deleted entry back, or damages one, whose key begins with a string. @returns true if there is one */
  async harm(how: 'return' | 'damage', beginning: string): Promise<boolean> {
    const { deleted, durable } = this.disk;
    const all = [...(how === 'return' ? deleted : durable)];
    const found = all.filter(([key, { length }]) => key.startsWith(beginning) && (how === 'return' || length > 1));
    if (found.length === 0) return false;
    const [key, value] = this.world.pick(found);
    const at = how === 'return' ? value.length : this.world.random(value.length);
    const changed = at < value.length ? String.fromCharCode(value.charCodeAt(at) ^ 1) : '';
    const harmed = value.slice(0, at) + changed + value.slice(at + 1);
    deleted.delete(key);
    durable.set(key, harmed);
    await this.read([[key, harmed]]);
    return true;
  }
}
