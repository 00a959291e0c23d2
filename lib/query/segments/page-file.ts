/**
 * Pages of 8 KiB with a CRC-32. The checksum also covers the identity of the file and the index of the page, so that a page in
 * a wrong position or file is detected. Pages are read from a copy in shared memory, or through a cache that belongs to one
 * thread. This module must not depend on the content of pages.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

export const pageBytes = 8192;
export const pageWords = pageBytes / 4;
/** Length of the checksum at the end of a page, in bytes. */
export const checksumBytes = 4;

/** Thrown if the file is truncated or a checksum does not match. The index has to be built again. */
export class DamagedSegmentError extends Error {}

const place = new Uint32Array(2);
const placeBytes = new Uint8Array(place.buffer);

/** Returns a checksum of bytes that covers the identity of the file and the position: an offset, or the index of a page. */
export function checksumAt(id: string, at: number, bytes: Uint8Array): number {
  place[0] = at % 2 ** 32;
  place[1] = Math.floor(at / 2 ** 32);
  // Two positions below 2^32 always give different checksums of the same bytes: a CRC-32 detects every change within 32 bits.
  return crc32(bytes, crc32(placeBytes, crc32(id)));
}

/** Returns the checksum of a page. @param at index of the page in the file */
const checksumOf = (id: string, at: number, page: Uint8Array): number =>
  checksumAt(id, at, page.subarray(0, pageBytes - checksumBytes));

/** Buffered sequential writer of a file with mode 0600. */
export class PageWriter {
  /** Bytes written so far. */
  bytes = 0;
  private readonly handle: number;
  private readonly buffer = Buffer.alloc(1 << 18);
  private used = 0;
  private isOpen = true;

  /** Creates the file. @param id identity of the file @throws the file system's error, here and in all methods */
  constructor(
    name: string,
    readonly id: string,
  ) {
    this.handle = openSync(name, 'w', 0o600);
  }

  /** Appends a page. Pages must come first in the file. @param page `pageBytes` bytes; the last four are set to the checksum */
  page(page: Uint8Array): void {
    const checksum = checksumOf(this.id, this.bytes / pageBytes, page);
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

  /** Writes the buffer, and syncs and closes the file. */
  end(): void {
    this.flush();
    fsyncSync(this.handle);
    this.close();
  }

  /** Closes the file without writing the buffer. Later calls do nothing, because another file may have the descriptor. */
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

  /** Opens the file. @throws the file system's error */
  constructor(name: string) {
    this.handle = openSync(name, 'r');
    this.length = fstatSync(this.handle).size;
  }

  /** Reads bytes from an offset of the file. @throws DamagedSegmentError at the end of the file */
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

  /** Fills `target` from an offset of the file. @throws DamagedSegmentError at the end of the file, or if it cannot be read */
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

/** Access to the pages of a section, which are in memory or cached. */
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

/** Range of successive pages in a file. */
export interface Section {
  /** Offset of the first page in the file. */
  readonly from: number;
  readonly pages: number;
}

/** Verifies the checksums of a section. @param shared pages of it @param id identity of the file @throws DamagedSegmentError */
export function verifyPages(shared: SharedArrayBuffer, id: string, { from, pages }: Section): void {
  const [words, bytes] = [new Uint32Array(shared), new Uint8Array(shared)];
  for (let page = 0; page < pages; page++) verify(bytes, words, { id, slot: page, number: from / pageBytes + page });
}

interface PageIdentity {
  /** Identity of the file. */
  readonly id: string;
  /** Index of the page in the file. */
  readonly number: number;
  /** Index of the page in memory. */
  readonly slot: number;
}

/** Verifies the checksum of one page. @throws DamagedSegmentError */
function verify(bytes: Uint8Array, words: Uint32Array, { id, number, slot }: PageIdentity): void {
  const page = bytes.subarray(slot * pageBytes, (slot + 1) * pageBytes);
  if (checksumOf(id, number, page) !== words[(slot + 1) * pageWords - 1])
    throw new DamagedSegmentError(`The checksum of page ${number} does not match.`);
}

/** Page cache of one thread, for all segments that it reads. Evicts pages by the CLOCK algorithm. */
export class PageCache {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  private next = 0;
  private readonly owners: (CachedPages | undefined)[];
  private readonly numbers: Uint32Array;
  /** Reference bits of CLOCK: 1 if the page was read since the hand last passed the slot. */
  readonly used: Uint8Array;

  /** Creates an empty cache. @param size maximum size in bytes */
  constructor(size: number) {
    const slots = Math.max(64, Math.floor(size / pageBytes));
    const memory = new ArrayBuffer(slots * pageBytes);
    this.words = new Uint32Array(memory);
    this.bytes = new Uint8Array(memory);
    this.owners = new Array<undefined>(slots).fill(undefined);
    this.numbers = new Uint32Array(slots);
    this.used = new Uint8Array(slots);
  }

  /** Returns a slot for a page. If necessary, evicts another page. */
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

  /** Empties the slots of a section that is no longer used. */
  remove(owner: CachedPages): void {
    for (let slot = 0; slot < this.owners.length; slot++) if (this.owners[slot] === owner) this.free(slot);
  }
}

/** Pages of a section, read from the file through the cache of this thread. Every read verifies the checksum. */
export class CachedPages implements Pages {
  readonly words: Uint32Array;
  readonly bytes: Uint8Array;
  /** Cache slot of each page of the section, plus one; 0 if the page is not cached. */
  private readonly slots: Uint32Array;

  /** @param section range of pages, and the identity of the file */
  constructor(
    private readonly file: PageFile,
    private readonly section: Section & { readonly id: string },
    private readonly cache: PageCache,
  ) {
    this.slots = new Uint32Array(section.pages);
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
    const { id, from } = section;
    const slot = cache.take(this, page);
    try {
      const bytes = cache.bytes.subarray(slot * pageBytes, (slot + 1) * pageBytes);
      this.file.readInto(bytes, from + page * pageBytes);
      verify(cache.bytes, cache.words, { id, slot, number: from / pageBytes + page });
    } catch (error) {
      cache.free(slot);
      throw error;
    }
    this.slots[page] = slot + 1;
    return slot;
  }
}
