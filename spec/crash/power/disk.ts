/**
 * Directory rebuilt from a log of operations, and the states that a power cut may leave under two models. It must not know the
 * contents of files.
 *
 * Strict POSIX: a file has its content at the start of its last sync, and a directory has its names at the start of its last
 * sync. ext4 (data=ordered): names change in order, up to any point after the last change that a sync wrote. Of unsynced data,
 * each page of 4 KiB may be present or not, and the file may end before it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Model = 'posix' | 'ext4';
/** Number from 0 up to another. */
export type Random = (below: number) => number;

/** The same numbers on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export interface Operation {
  readonly type: string;
  readonly file: number;
  readonly position: number;
  readonly one: Buffer;
  readonly two: Buffer;
}

/** Records of `operations.c`. A truncated last record is dropped. */
export function* operationsIn(log: Buffer): Generator<Operation> {
  for (let at = 0; at + 21 <= log.length; ) {
    const [first, second] = [log.readUInt32LE(at + 13), log.readUInt32LE(at + 17)];
    const [text, end] = [at + 21, at + 21 + first + second];
    if (end > log.length) return;
    yield {
      type: String.fromCharCode(log[at]!),
      file: log.readUInt32LE(at + 1),
      position: Number(log.readBigUInt64LE(at + 5)),
      one: log.subarray(text, text + first),
      two: log.subarray(text + first, end),
    };
    at = end;
  }
}

const pageSize = 4096;

interface Write {
  readonly at: number;
  /** Default: the file is truncated to `at`. */
  readonly bytes?: Buffer;
}

class File {
  readonly writes: Write[] = [];
  /** Number of synced writes. */
  synced = 0;
  /** Number of the last change of one of its names. */
  named = 0;

  content(count: number): Buffer {
    const writes = this.writes.slice(0, count);
    let size = 0;
    for (const { at, bytes } of writes) size = bytes ? Math.max(size, at + bytes.length) : at;
    const content = Buffer.alloc(Math.max(0, ...writes.map(({ at, bytes }) => at + (bytes?.length ?? 0))));
    for (const { at, bytes } of writes)
      if (bytes) bytes.copy(content, at);
      else content.fill(0, at);
    return content.subarray(0, size);
  }

  /** Unsynced pages may be present or not. */
  maybe(random: Random): Buffer {
    const [synced, all] = [this.content(this.synced), this.content(this.writes.length)];
    const isCut = random(3) === 0;
    const size = isCut ? synced.length + random(Math.max(1, all.length - synced.length)) : all.length;
    const found = Buffer.alloc(Math.max(0, size));
    synced.copy(found);
    const kept = random(4);
    for (let at = 0; at < size; at += pageSize)
      if (kept === 3 || random(4) < kept) all.copy(found, at, at, Math.min(at + pageSize, size));
    // Synced data remains, even if its page was lost.
    if (all.subarray(0, synced.length).equals(synced)) synced.copy(found);
    return found;
  }
}

class Folder {
  readonly names = new Map<string, File | Folder>();
  synced: ReadonlyMap<string, File | Folder> = new Map();
  named = 0;
}

/** Change of names that can be repeated on another tree. */
type Change = (root: Folder) => void;

/** Directory of a path, and the name in it. */
function place(root: Folder, path: string): readonly [folder: Folder, name: string] {
  const parts = path.split('/');
  const name = parts.pop()!;
  return [parts.reduce((folder, part) => folder.names.get(part) as Folder, root), name];
}

export class Disk {
  private readonly root = new Folder();
  private readonly changes: Change[] = [];
  /** By file descriptor. */
  private readonly open = new Map<number, File | Folder>();
  private readonly syncs = new Map<number, () => void>();
  /** Number of name changes that are certainly on the disk, under ext4. */
  private written = 0;

  /** @param content directory whose content is on the disk at the beginning */
  constructor(content?: string) {
    if (content !== undefined) this.adopt(content, '', this.root);
    this.written = this.changes.length;
  }

  private adopt(content: string, path: string, folder: Folder): void {
    for (const entry of readdirSync(join(content, path), { withFileTypes: true })) {
      const own = path === '' ? entry.name : `${path}/${entry.name}`;
      const made = entry.isDirectory() ? new Folder() : new File();
      this.make(own, made);
      if (made instanceof Folder) this.adopt(content, own, made);
      else made.synced = made.writes.push({ at: 0, bytes: readFileSync(join(content, own)) });
    }
    folder.synced = new Map(folder.names);
  }

  apply({ type, file, position, one, two }: Operation): void {
    const [from, to] = [one.toString(), two.toString()];
    if (type === 'P') this.open.clear();
    else if (type === 'O') this.opened(from, file, position);
    else if (type === 'W') (this.open.get(file) as File).writes.push({ at: position, bytes: one });
    else if (type === 'T') (this.open.get(file) as File).writes.push({ at: position });
    else if (type === 'B') this.syncs.set(position, this.sync(this.open.get(file)!));
    else if (type === 'S') this.syncs.get(position)!();
    else if (type === 'M') this.make(from, new Folder());
    else if (type === 'U' || type === 'D') this.change(this.known(from), (root) => remove(root, from));
    else if (type === 'L' || type === 'R') {
      this.change(this.known(from), (root) => {
        const [folder, name] = place(root, to);
        const moved = existing(root, from);
        if (type === 'R') remove(root, from);
        folder.names.set(name, moved);
      });
    } else if (type !== 'A') throw new Error(`an operation ${type}`);
  }

  private at(path: string): File | Folder | undefined {
    if (path === '') return this.root;
    const [folder, name] = place(this.root, path);
    return folder.names.get(name);
  }

  /** @throws Error if the recorder missed the function that created a file */
  private known(path: string): File | Folder {
    const found = this.at(path);
    if (!found) throw new Error(`The recording does not contain the creation of ${path}.`);
    return found;
  }

  private make(path: string, made: File | Folder): void {
    this.change(made, (root) => {
      const [folder, name] = place(root, path);
      // A rebuilt tree has its own directories.
      folder.names.set(name, root === this.root || made instanceof File ? made : new Folder());
    });
  }

  private change(changed: File | Folder, change: Change): void {
    change(this.root);
    changed.named = this.changes.push(change);
  }

  private opened(path: string, number: number, flags: number): void {
    if (this.at(path) === undefined && (flags & 1) > 0) this.make(path, new File());
    const found = this.at(path)!;
    this.open.set(number, found);
    if ((flags & 2) > 0 && (found as File).writes.length > 0) (found as File).writes.push({ at: 0 });
  }

  /** Starts a sync. @returns the function that completes it */
  private sync(synced: File | Folder): () => void {
    const count = synced instanceof File ? synced.writes.length : 0;
    const names = synced instanceof Folder ? new Map(synced.names) : undefined;
    const written = names ? this.changes.length : synced.named;
    return () => {
      if (synced instanceof File) synced.synced = Math.max(synced.synced, count);
      else synced.synced = names!;
      this.written = Math.max(this.written, written);
    };
  }

  /** Writes a state that a cut at this moment may leave into an empty directory. */
  leave(folder: string, model: Model, random: Random): void {
    if (model === 'posix') {
      const content = (file: File): Buffer => file.content(file.synced);
      write(folder, this.root, ({ synced }) => synced, content);
      return;
    }
    const root = new Folder();
    const some = this.written + random(this.changes.length - this.written + 1);
    for (const change of this.changes.slice(0, some)) change(root);
    write(
      folder,
      root,
      ({ names }) => names,
      (file) => file.maybe(random),
    );
  }
}

function existing(root: Folder, path: string): File | Folder {
  const [folder, name] = place(root, path);
  return folder.names.get(name)!;
}

function remove(root: Folder, path: string): void {
  const [folder, name] = place(root, path);
  folder.names.delete(name);
}

function write(
  path: string,
  folder: Folder,
  names: (folder: Folder) => ReadonlyMap<string, File | Folder>,
  content: (file: File) => Buffer,
): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const [name, found] of names(folder))
    if (found instanceof File) writeFileSync(join(path, name), content(found), { mode: 0o600 });
    else write(join(path, name), found, names, content);
}
