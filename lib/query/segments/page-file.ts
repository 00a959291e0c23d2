/**
 * Pages of 8 KiB with a CRC-32. A page is read from a copy in shared memory, or from the file through a cache that belongs to one
 * thread. Must not depend on the content of pages.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

export const pageBytes = 8192;
export const pageWords = pageBytes / 4;
/** Bytes of the checksum, at the end of the page. */
export const checksumBytes = 4;

/** The file is truncated, or a checksum does not match. The index has to be rebuilt. */
export class DamagedSegmentError extends Error {}

const checksumOf = (page: Uint8Array): number => crc32(page.subarray(0, pageBytes - checksumBytes));

/** Buffered sequential writer of a file of mode 0600. */
export class PageWriter {
  /** Bytes written so far. */
  bytes = 0;
  private readonly handle: number;
  private readonly buffer = Buffer.alloc(1 << 18);
  private used = 0;
  private isOpen = true;

  /** @throws the file system's error, here and in all methods */
  constructor(name: string) {
    this.handle = openSync(name, 'w', 0o600);
  }

  /** @param page `pageBytes` bytes, of which the last four are overwritten with the checksum */
  page(page: Uint8Array): void {
    const checksum = checksumOf(page);
    for (let at = 0; at < checksumBytes; at++) page[pageBytes - checksumBytes + at] = (checksum >>> (8 * at)) & 255;
    this.append(page);
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(bytes.length - at, this.buffer.length - this.used);
      this.buffer.set(bytes.subarray(at, at + count), this.used);
      at += count;
      this.used += count;
      if (this.used === this.buffer.length) this.flush();
    }
    this.bytes += bytes.length;
  }

  /** Writes and syncs everything, and closes the file. */
  end(): void {
    this.flush();
    fsyncSync(this.handle);
    this.close();
  }

  /** Closes the file without the rest. Does nothing if it is closed: another file may have its descriptor. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.handle);
  }

  private flush(): void {
    for (let at = 0; at < this.used; ) at += writeSync(this.handle, this.buffer, at, this.used - at);
    this.used = 0;
  }
}

export class PageFile {
  readonly length: number;
  private readonly handle: number;

  /** @throws the file system's error */
  constructor(name: string) {
    this.handle = openSync(name, 'r');
    this.length = fstatSync(this.handle).size;
  }

  /** @throws DamagedSegmentError at the end of the file */
  read(from: number, length: number): Buffer {
    // A damaged offset must not allocate more memory than the file has bytes.
    if (!(from >= 0 && length >= 0 && from + length <= this.length))
      throw new DamagedSegmentError('The file is truncated.');
    const bytes = Buffer.alloc(length);
    this.readInto(bytes, from);
    return bytes;
  }

  /** Reads into shared memory. @throws DamagedSegmentError at the end of the file */
  shared(from: number, length: number): SharedArrayBuffer {
    if (!(from >= 0 && length >= 0 && from + length <= this.length))
      throw new DamagedSegmentError('The file is truncated.');
    const shared = new SharedArrayBuffer(length);
    this.readInto(new Uint8Array(shared), from);
    return shared;
  }

  /** Fills `target` from a position of the file. @throws DamagedSegmentError at the end of the file, or if it cannot be read */
  readInto(target: Uint8Array, from: number): void {
    for (let at = 0; at < target.length; ) {
      let count: number;
      try {
        count = readSync(this.handle, target, at, Math.min(target.length - at, 1 << 26), from + at);
      } catch (cause) {
        throw new DamagedSegmentError(`The file cannot be read: ${(cause as Error).message}`, { cause });
      }
      if (count === 0) throw new DamagedSegmentError('The file is truncated.');
      at += count;
    }
  }

  close(): void {
    closeSync(this.handle);
  }
}

/** Pages of a section of a segment. */
export interface Pages {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  /** Returns the offset of a page in `words`, valid until the next call for any section. @throws DamagedSegmentError */
  get(page: number): number;
}

/** All pages of a section in shared memory, with verified checksums. */
export class ResidentPages implements Pages {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;

  constructor(shared: SharedArrayBuffer) {
    this.words = new Uint32Array(shared);
    this.bytes = new Uint8Array(shared);
  }

  get(page: number): number {
    return page * pageWords;
  }
}

/** @throws DamagedSegmentError */
export function verifyPages(shared: SharedArrayBuffer): void {
  const [words, bytes] = [new Uint32Array(shared), new Uint8Array(shared)];
  for (let at = 0; at < words.length; at += pageWords)
    if (checksumOf(bytes.subarray(at * 4, at * 4 + pageBytes)) !== words[at + pageWords - 1])
      throw new DamagedSegmentError(`The checksum of page ${at / pageWords} does not match.`);
}

/** Page cache of one thread, for all segments that it reads. Evicts by CLOCK. */
export class PageCache {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  private next = 0;
  private readonly owners: (CachedPages | undefined)[];
  private readonly numbers: Uint32Array;
  /** 1: read since the hand passed. */
  readonly used: Uint8Array;

  /** @param size in bytes */
  constructor(size: number) {
    const slots = Math.max(64, Math.floor(size / pageBytes));
    const memory = new ArrayBuffer(slots * pageBytes);
    this.words = new Uint32Array(memory);
    this.bytes = new Uint8Array(memory);
    this.owners = new Array<undefined>(slots).fill(undefined);
    this.numbers = new Uint32Array(slots);
    this.used = new Uint8Array(slots);
  }

  /** Returns a slot, from which another page is removed if necessary. */
  take(owner: CachedPages, page: number): number {
    for (;;) {
      const slot = this.next;
      this.next = slot + 1 === this.owners.length ? 0 : slot + 1;
      if (this.used[slot] === 1) {
        this.used[slot] = 0;
        continue;
      }
      this.owners[slot]?.lose(this.numbers[slot]!);
      this.owners[slot] = owner;
      this.numbers[slot] = page;
      this.used[slot] = 1;
      return slot;
    }
  }

  /** Empties a slot whose page could not be read. */
  free(slot: number): void {
    this.owners[slot] = undefined;
    this.used[slot] = 0;
  }

  /** Empties the slots of a section that is no longer read. */
  remove(owner: CachedPages): void {
    for (let slot = 0; slot < this.owners.length; slot++) if (this.owners[slot] === owner) this.free(slot);
  }
}

/** Pages of a section, read from the file through the cache of this thread. The checksum is verified at the first read. */
export class CachedPages implements Pages {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  /** Slot plus one by page number; 0: not cached. */
  private readonly slots: Uint32Array;
  private readonly verified: Uint8Array;

  constructor(
    private readonly file: PageFile,
    private readonly section: { readonly from: number; readonly pages: number },
    private readonly cache: PageCache,
  ) {
    this.slots = new Uint32Array(section.pages);
    this.verified = new Uint8Array(section.pages);
    [this.words, this.bytes] = [cache.words, cache.bytes];
  }

  get(page: number): number {
    const slot = this.slots[page]! - 1;
    if (slot < 0) return this.read(page) * pageWords;
    this.cache.used[slot] = 1;
    return slot * pageWords;
  }

  lose(page: number): void {
    this.slots[page] = 0;
  }

  private read(page: number): number {
    const { cache, section } = this;
    const slot = cache.take(this, page);
    try {
      const bytes = cache.bytes.subarray(slot * pageBytes, (slot + 1) * pageBytes);
      this.file.readInto(bytes, section.from + page * pageBytes);
      if (this.verified[page] === 0 && checksumOf(bytes) !== cache.words[(slot + 1) * pageWords - 1])
        throw new DamagedSegmentError(`The checksum of page ${page} does not match.`);
    } catch (error) {
      cache.free(slot);
      throw error;
    }
    this.verified[page] = 1;
    this.slots[page] = slot + 1;
    return slot;
  }
}
