/**
 * File system in memory with faults. A file has its content at the last sync of it, and a directory the names at the last sync of it:
 * what is later may be on the disk or not, each name and each sector on its own.
 */
import { quadstoreIndex } from '../../lib/storage/level/quadstore-file.js';
import type { World } from './world.js';

const place = '/simulated/';
const sector = 64;
/** Writes that go to another file: one in this number. */
const misdirected = 200;

export const isFake = (path: unknown): path is string => typeof path === 'string' && path.startsWith(place);
const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

class File {
  synced: Buffer;
  /** True if a write that was meant for another file went here, or one of its own went elsewhere. */
  isHarmed = false;
  constructor(public content: Buffer = Buffer.alloc(0)) {
    this.synced = content;
  }
}
/** Files by path. `null`: a directory. */
type Names = Map<string, File | null>;

const failure = (code: string, path: string): Error => Object.assign(new Error(`${code}: ${path}`), { code });

export class FakeFiles {
  world!: World;
  private names: Names = new Map([['', null]]);
  private synced: Names = new Map(this.names);

  /** Directory of the data of the running process. Files of an earlier process are not reached by its name. */
  get dataDir(): string {
    return `${place}${this.world.life}`;
  }

  /** The machine ends: leaves one of the states that may be on the disk. */
  cut(): void {
    const [left, copies]: [Names, Map<File, File>] = [new Map(), new Map()];
    for (const path of [...new Set([...this.names.keys(), ...this.synced.keys()])].sort()) {
      const [now, then] = [this.names.get(path), this.synced.get(path)];
      const found = now === then || this.world.oneIn(2) ? now : then;
      if (found === undefined || (path !== '' && !left.has(parentOf(path)))) continue;
      if (found && !copies.has(found))
        copies.set(found, Object.assign(new File(this.torn(found)), { isHarmed: found.isHarmed }));
      left.set(path, found && copies.get(found)!);
    }
    [this.names, this.synced] = [left, new Map(left)];
  }

  private torn({ content, synced }: File): Buffer {
    const { world } = this;
    const more = content.length - synced.length;
    const found = Buffer.alloc(synced.length + (world.oneIn(3) ? world.random(more + 1) : more));
    synced.copy(found);
    for (let at = synced.length; at < found.length; at += sector)
      if (world.oneIn(2)) content.copy(found, at, at, Math.min(found.length, at + sector));
    return found;
  }

  /** @throws Error `ENOENT` without its directory, and for a path of an earlier process */
  private own(path: string): string {
    const own = path.slice(this.dataDir.length + 1);
    if (path.startsWith(this.dataDir) && this.names.get(parentOf(own)) === null) return own;
    throw failure('ENOENT', path);
  }

  /** True if a misdirected write changed the file of a blob. */
  isHarmed(blob: string): boolean {
    return this.names.get(`blobs/${blob.slice(0, 2)}/${blob}`)?.isHarmed === true;
  }

  exists(path: string): boolean {
    return path.endsWith('/quadstore.json') || this.names.has(this.own(path));
  }

  /** Only `quadstore.json` is read so. */
  text(_path: string): string {
    return `${JSON.stringify({ indexes: [quadstoreIndex] })}\n`;
  }

  async statfs(): Promise<object> {
    return { bavail: this.world.isDiskFull ? 0 : 2 ** 30, bsize: 1 };
  }

  /** Works in a process that may end before or after. */
  async during<T>(work: () => T, life = this.world.life): Promise<T> {
    await this.world.step(life);
    const result = work();
    await this.world.step(life);
    return result;
  }

  private add(path: string, added: File | null): void {
    if (this.names.has(this.own(path))) throw failure('EEXIST', path);
    if (this.world.isDiskFull) throw failure('ENOSPC', path);
    this.names.set(this.own(path), added);
  }

  mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    return this.during(() => {
      const isThere = (folder: string): boolean => options?.recursive === true && this.exists(folder);
      // `blobs/tmp` is made with its parent.
      for (const folder of options?.recursive ? [parentOf(path), path] : [path])
        if (!isThere(folder)) this.add(folder, null);
    });
  }

  readdir(path: string): Promise<string[]> {
    return this.during(() => {
      const folder = this.own(path);
      const found = [...this.names.keys()].filter((each) => each !== '' && parentOf(each) === folder);
      return found.map((each) => each.slice(folder.length + 1));
    });
  }

  link(from: string, to: string): Promise<void> {
    return this.during(() => this.add(to, this.names.get(this.own(from))!));
  }

  unlink(path: string): Promise<void> {
    return this.during(() => {
      if (!this.names.delete(this.own(path))) throw failure('ENOENT', path);
    });
  }

  open(path: string, flags: string | number): Promise<object> {
    return this.during(() => {
      const isNew = flags === 'wx' || (flags === 'w' && !this.exists(path));
      if (isNew) this.add(path, new File());
      const found = this.names.get(this.own(path));
      if (found === undefined) throw failure('ENOENT', path);
      return found ? new Handle(this, found) : { sync: () => this.syncNames(this.own(path)), close: async () => {} };
    });
  }

  private syncNames(folder: string): Promise<void> {
    return this.during(() => {
      for (const names of [this.synced, this.names])
        for (const path of names.keys())
          if (path !== '' && parentOf(path) === folder)
            if (this.names.has(path)) this.synced.set(path, this.names.get(path)!);
            else this.synced.delete(path);
    });
  }

  /** Returns the file that a write goes to. */
  targetOf(file: File): File {
    if (!this.world.oneIn(misdirected)) return file;
    const others = [...this.names.values()].filter((each) => each !== null && each !== file) as File[];
    if (others.length === 0) return file;
    const other = this.world.pick(others);
    [file.isHarmed, other.isHarmed] = [true, true];
    return other;
  }
}

/** The part of a `FileHandle` that lib/storage uses. */
class Handle {
  private readonly life: number;
  constructor(
    private readonly files: FakeFiles,
    private readonly file: File,
  ) {
    this.life = files.world.life;
  }

  async writev(chunks: readonly Uint8Array[]): Promise<{ bytesWritten: number }> {
    const bytes = Buffer.concat(chunks);
    // `writev` may write less than all.
    const bytesWritten = this.files.world.oneIn(4) ? this.files.world.random(bytes.length) : bytes.length;
    await this.writeFile(bytes.subarray(0, bytesWritten));
    return { bytesWritten };
  }

  writeFile(bytes: Buffer): Promise<void> {
    const { file, files } = this;
    return files.during(() => {
      if (files.world.isDiskFull) throw failure('ENOSPC', 'a file');
      const target = files.targetOf(file);
      file.content = Buffer.concat([file.content, target === file ? bytes : Buffer.alloc(bytes.length)]);
      if (target === file) return;
      target.content = Buffer.from(target.content);
      bytes.copy(target.content);
      target.synced = target.content;
    }, this.life);
  }

  datasync(): Promise<void> {
    return this.files.during(() => {
      this.file.synced = this.file.content;
    }, this.life);
  }

  sync(): Promise<void> {
    return this.datasync();
  }

  async stat(): Promise<{ size: number }> {
    return { size: this.file.content.length };
  }

  readFile(): Promise<Buffer> {
    return this.files.during(() => this.file.content, this.life);
  }

  async close(): Promise<void> {}
}
