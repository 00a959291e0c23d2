/** Reads the dictionary of a segment: finds the ID of a term and the text of an ID, and iterates over all terms in order. */
import { isWellFormed } from '../../rdf/iri.js';
import { affordable } from '../../tools/threads/thread-limits.js';
import type { TermKey } from '../access/terms.js';
import { checksumBytes, type Pages, pageBytes } from './page-file.js';
import { inPage, maxFence, referenceBytes, restartEvery, type TermFences, termsHead } from './term-writer.js';

const encoder = new TextEncoder();
/** Slots in the cache of decoded terms. The low bits of the ID determine the slot. */
const cacheSlots = 1 << 16;
const longestCached = 256;
/** Maximum characters in the cache. Beyond it, the cache is emptied. */
const maxCached = affordable(8 << 20);

/** Cursor over all terms in order. */
export interface TermCursor {
  readonly id: number;
  /** Buffer whose first `length` bytes are the current term. */
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Moves to the next term. Returns false after the last one. */
  next(): boolean;
}

/** Header of an entry in a page. `shared`: length of the prefix that it shares with the preceding entry. */
interface Entry {
  shared: number;
  isLong: boolean;
  length: number;
  /** Offset of the bytes after the shared prefix. */
  at: number;
}

export class TermReader {
  readonly size: number;
  private readonly bytes: Uint8Array;
  private readonly pageCount: number;
  private scratch = Buffer.alloc(4096);
  private query = Buffer.alloc(1024);
  private readonly entry: Entry = { shared: 0, isLong: false, length: 0, at: 0 };
  private cachedIds: Int32Array | undefined;
  private cached: TermKey[] = [];
  private cachedLength = 0;
  /** Term in `scratch`: its ID, its page, and the offset of the next entry in the page. */
  private last = { id: -1, page: 0, at: 0 };

  /** @param readRest reads the end of a long term from an offset of the second file */
  constructor(
    private readonly pages: Pages,
    private readonly fences: TermFences,
    private readonly readRest: (offset: number, length: number) => Buffer,
  ) {
    this.bytes = pages.bytes;
    this.pageCount = fences.ids.length - 1;
    this.size = fences.ids[this.pageCount]!;
  }

  /** Returns the ID of a term. If the term is not in the dictionary, returns -1 - (count of terms that sort before it). */
  find(token: TermKey): number {
    if (token.length * 3 > this.query.length) this.query = Buffer.alloc(token.length * 3);
    const { written } = encoder.encodeInto(token, this.query);
    const found = this.findBytes(this.query, written);
    // UTF-8 has no lone surrogates: they are encoded as U+FFFD, which may be another term.
    return found >= 0 && written !== token.length && !isWellFormed(token) ? -1 - found : found;
  }

  /** Returns the ID of a term, or -1 if it is not in the dictionary. */
  idOf(token: TermKey): number {
    const id = this.find(token);
    return id < 0 ? -1 : id;
  }

  /** Returns the count of terms that sort before a text. */
  placeOf(text: string): number {
    const id = this.find(text);
    return id < 0 ? -1 - id : id;
  }

  /** Returns the text of a term, from a cache if possible. */
  termKey(id: number): TermKey {
    this.cachedIds ??= new Int32Array(cacheSlots).fill(-1);
    const slot = id & (cacheSlots - 1);
    if (this.cachedIds[slot] === id) return this.cached[slot]!;
    const token = this.read(id);
    if (token.length > longestCached) return token;
    this.cachedLength += token.length;
    if (this.cachedLength > maxCached) {
      this.cachedIds.fill(-1);
      [this.cached, this.cachedLength] = [[], token.length];
    }
    this.cachedIds[slot] = id;
    this.cached[slot] = token;
    return token;
  }

  /** Like `find`, for the first `length` bytes of a buffer. */
  findBytes(query: Buffer | Uint8Array, length: number): number {
    if (this.size === 0) return -1;
    const page = this.pageFor(query, length);
    const found = this.findIn(page, query, length);
    // If the fence is truncated, the term may still sort before the first term of the page.
    if (found !== -1 - this.fences.ids[page]! || !this.isCut(page)) return found;
    let [low, high] = [1, page];
    while (low < high) {
      const middle = (low + high) >>> 1;
      this.readEntry(this.restartAt(this.pages.get(middle) * 4, 0));
      if (this.compare(query, { length, from: 0 }) < 0) high = middle;
      else low = middle + 1;
    }
    return this.findIn(low - 1, query, length);
  }

  cursor(): TermCursor {
    const { entry, pages, bytes: source } = this;
    let [page, at, left] = [-1, 0, 0];
    const cursor = {
      id: -1,
      bytes: new Uint8Array(4096),
      length: 0,
      next: (): boolean => {
        if (++cursor.id >= this.size) return false;
        if (left === 0) {
          const base = pages.get(++page) * 4;
          left = source[base]! | (source[base + 1]! << 8);
          at = termsHead;
        }
        const base = pages.get(page) * 4;
        let next = this.readEntry(base + at);
        const rest = entry.isLong ? this.restAt(next) : undefined;
        if (rest) next += referenceBytes;
        const { shared, length } = entry;
        const total = shared + length + (rest?.length ?? 0);
        if (total > cursor.bytes.length) cursor.bytes = longer(cursor.bytes, 2 * total);
        for (let i = 0; i < length; i++) cursor.bytes[shared + i] = source[entry.at + i]!;
        if (rest) cursor.bytes.set(rest, shared + length);
        cursor.length = total;
        at = next - base;
        left--;
        return true;
      },
    };
    return cursor;
  }

  private isCut(page: number): boolean {
    const { offsets } = this.fences;
    return offsets[page + 1]! - offsets[page]! >= maxFence;
  }

  private findIn(page: number, query: Uint8Array, length: number): number {
    const base = this.pages.get(page) * 4;
    const first = this.fences.ids[page]!;
    const count = this.bytes[base]! | (this.bytes[base + 1]! << 8);
    // After the loop, `low` is the count of restart points whose term is at most the query.
    let [low, high] = [0, Math.ceil(count / restartEvery)];
    while (low < high) {
      const middle = (low + high) >>> 1;
      this.readEntry(this.restartAt(base, middle));
      const difference = this.compare(query, { length, from: 0 });
      if (difference === 0) return first + middle * restartEvery;
      if (difference < 0) high = middle;
      else low = middle + 1;
    }
    if (low === 0) return -1 - first;
    const row = (low - 1) * restartEvery;
    return this.findAfter(this.restartAt(base, low - 1), query, {
      length,
      row,
      first,
      end: Math.min(count, row + restartEvery),
    });
  }

  /** Searches the entries between two restart points. Returns the same as `find`. */
  private findAfter(
    from: number,
    query: Uint8Array,
    {
      length,
      row,
      first,
      end,
    }: { readonly length: number; readonly row: number; readonly first: number; readonly end: number },
  ): number {
    const { entry } = this;
    let [at, matching] = [from, 0];
    for (let i = row; i < end; i++) {
      at = this.readEntry(at) + (this.entry.isLong ? referenceBytes : 0);
      // The entry shares more bytes with the preceding term than the query does, so the query is greater than both.
      if (entry.shared > matching) continue;
      // For a long term, `shared` is at most `inPage`, even if more bytes are shared.
      if (entry.shared < matching && !(entry.isLong && entry.shared === inPage)) return -1 - (first + i);
      const difference = this.compare(query, { length, from: entry.shared });
      if (difference === 0) return first + i;
      if (difference < 0) return -1 - (first + i);
      matching = this.matched;
    }
    return -1 - (first + end);
  }

  /** Length of the prefix that the query shares with the last compared entry, in bytes. */
  private matched = 0;

  /** Compares the query from byte `from` on with the unshared bytes of the current entry. Positive if the query is greater. */
  private compare(query: Uint8Array, { length, from }: { readonly length: number; readonly from: number }): number {
    const { bytes, entry } = this;
    const most = Math.min(length - from, entry.length);
    let i = 0;
    while (i < most && bytes[entry.at + i] === query[from + i]) i++;
    this.matched = from + i;
    if (i < most) return query[from + i]! - bytes[entry.at + i]!;
    if (length - from < entry.length) return -1;
    if (!entry.isLong) return length - from > entry.length ? 1 : 0;
    return Buffer.compare(query.subarray(from + i, length), this.restAt(entry.at + entry.length));
  }

  private restartAt(base: number, point: number): number {
    const at = base + pageBytes - checksumBytes - 2 * (point + 1);
    return base + (this.bytes[at]! | (this.bytes[at + 1]! << 8));
  }

  /** Reads an entry. Returns the offset after its unshared bytes. */
  private readEntry(from: number): number {
    const { bytes, entry } = this;
    let at = from;
    let code = bytes[at++]!;
    if (code > 127) code = (code & 127) | (bytes[at++]! << 7);
    let length = bytes[at++]!;
    if (length > 127) length = (length & 127) | (bytes[at++]! << 7);
    entry.shared = code >>> 1;
    entry.isLong = (code & 1) === 1;
    entry.length = length;
    entry.at = at;
    return at + length;
  }

  private restAt(at: number): Buffer {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + at, referenceBytes);
    return this.readRest(view.getUint32(0, true) + view.getUint16(4, true) * 2 ** 32, view.getUint32(6, true));
  }

  /** Returns the last page whose fence is at most the query. */
  private pageFor(query: Uint8Array, length: number): number {
    const { text, offsets } = this.fences;
    let [low, high, ofLow, ofHigh] = [1, this.pageCount, 0, 0];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const from = offsets[middle]!;
      const size = offsets[middle + 1]! - from;
      const most = Math.min(length, size);
      let i = Math.min(ofLow, ofHigh);
      while (i < most && text[from + i] === query[i]) i++;
      if (i < most ? text[from + i]! < query[i]! : size <= length) [low, ofLow] = [middle + 1, i];
      else [high, ofHigh] = [middle, i];
    }
    return low - 1;
  }

  private pageOf(id: number): number {
    const { ids } = this.fences;
    let [low, high] = [0, this.pageCount];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ids[middle]! <= id) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private read(id: number): TermKey {
    const { last, entry } = this;
    const { ids } = this.fences;
    // A scan reads successive terms: continue after the last term if the requested term follows closely.
    const isNear = id > last.id && id - last.id < restartEvery && last.id >= 0 && id < ids[last.page + 1]!;
    const page = isNear ? last.page : this.pageOf(id);
    const base = this.pages.get(page) * 4;
    const row = id - ids[page]!;
    const restart = row - (row % restartEvery);
    let i = isNear ? last.id - ids[page]! + 1 : 0;
    let at = base + last.at;
    if (!isNear || i <= restart) {
      i = restart;
      at = this.restartAt(base, Math.floor(row / restartEvery));
    }
    const { bytes, scratch } = this;
    for (; ; i++) {
      at = this.readEntry(at);
      for (let k = 0; k < entry.length; k++) scratch[entry.shared + k] = bytes[entry.at + k]!;
      if (i === row) break;
      if (entry.isLong) at += referenceBytes;
    }
    const length = entry.shared + entry.length;
    [last.id, last.page, last.at] = [id, page, at - base + (entry.isLong ? referenceBytes : 0)];
    if (!entry.isLong) return scratch.toString('utf8', 0, length);
    return Buffer.concat([scratch.subarray(0, inPage), this.restAt(at)]).toString();
  }
}

function longer(from: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const to = new Uint8Array(length);
  to.set(from);
  return to;
}
