/**
 * Writes the dictionary of a segment: terms sorted by their UTF-8 bytes. The index of a term is its ID. Pages contain
 * front-coded terms with a restart point every 16 terms. This module must not depend on the meaning of terms.
 */
import { checksumBytes, type PageWriter, pageBytes } from './page-file.js';

/** Distance of restart points, in terms. A term at a restart point is stored without front coding. */
export const restartEvery = 16;
/** Length of the page header in bytes: count of terms, and end of the data. */
export const termsHead = 4;
/** Maximum length of a term that is not split, and length of the part in the page, in bytes. A second file has the rest. */
export const [longest, inPage] = [1024, 256];
/** Length of a reference to the rest of a long term, in bytes: offset (6) and length (4). */
export const referenceBytes = 10;
/** Maximum length of a fence, in bytes. If a fence is truncated, the first term of the page must be compared. */
export const maxFence = 512;

/** The parts of a dictionary that stay in memory. */
export interface TermFences {
  /** Fences, concatenated: for each page the shortest text that separates it from the page before, at most `maxFence` bytes. */
  readonly text: Uint8Array;
  /** Start of each fence, and end of the last one. */
  readonly offsets: Uint32Array;
  /** ID of the first term of each page, and the count of all terms. */
  readonly ids: Uint32Array;
}

/** Writes terms in order. */
export class TermWriter {
  private readonly page = new Uint8Array(pageBytes);
  private at = termsHead;
  private count = 0;
  private last = new Uint8Array(4096);
  private lastLength = -1;
  private fences = new Uint8Array(1 << 12);
  private readonly offsets = [0];
  private readonly ids: number[] = [];
  private size = 0;

  /** @param writeRest writes the end of a long term and returns its offset */
  constructor(
    private readonly writer: PageWriter,
    private readonly writeRest: (bytes: Uint8Array) => number,
  ) {}

  /** Adds a term: the bytes `from` up to `to`. Terms must be added in order. */
  add(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    const common = this.commonWith(bytes, from, length);
    const isLong = length > longest;
    const inline = isLong ? inPage : length;
    let shared = Math.min(common, inline, this.lastLength > longest ? inPage : common);
    if (this.count % restartEvery === 0) shared = 0;
    const restarts = Math.floor(this.count / restartEvery) + 1;
    const need = 5 + inline - shared + (isLong ? referenceBytes : 0) + 2 * restarts + checksumBytes;
    if (this.count === 0 || this.at + need > pageBytes) {
      if (this.count > 0) this.write();
      shared = 0;
      this.fence(bytes.subarray(from, from + (this.lastLength < 0 ? 0 : Math.min(length, common + 1, maxFence))));
    }
    if (this.count % restartEvery === 0) this.restart();
    this.varint(shared * 2 + (isLong ? 1 : 0));
    this.varint(inline - shared);
    this.page.set(bytes.subarray(from + shared, from + inline), this.at);
    this.at += inline - shared;
    if (isLong) this.reference(this.writeRest(bytes.subarray(from + inPage, to)), length - inPage);
    this.count++;
    this.size++;
    if (length > this.last.length) this.last = new Uint8Array(length * 2);
    this.last.set(bytes.subarray(from, to));
    this.lastLength = length;
  }

  end(): TermFences & { readonly pages: number } {
    if (this.count > 0) this.write();
    return {
      text: this.fences.subarray(0, this.offsets.at(-1)),
      offsets: Uint32Array.from(this.offsets),
      ids: Uint32Array.from([...this.ids, this.size]),
      pages: this.ids.length,
    };
  }

  private commonWith(bytes: Uint8Array, from: number, length: number): number {
    const { last } = this;
    const most = Math.min(length, this.lastLength);
    let common = 0;
    while (common < most && bytes[from + common] === last[common]) common++;
    return common;
  }

  private fence(text: Uint8Array): void {
    const end = this.offsets.at(-1)!;
    if (end + text.length > this.fences.length) {
      const fences = new Uint8Array(2 * this.fences.length + text.length);
      fences.set(this.fences);
      this.fences = fences;
    }
    this.fences.set(text, end);
    this.offsets.push(end + text.length);
    this.ids.push(this.size);
  }

  /** Adds a restart point. The offsets of restart points are at the end of the page, in reverse order. */
  private restart(): void {
    const at = pageBytes - checksumBytes - 2 * (this.count / restartEvery + 1);
    this.page[at] = this.at & 255;
    this.page[at + 1] = this.at >>> 8;
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.page[this.at++] = (rest & 127) | 128;
    this.page[this.at++] = rest;
  }

  private reference(offset: number, length: number): void {
    const view = new DataView(this.page.buffer);
    view.setUint32(this.at, offset % 2 ** 32, true);
    view.setUint16(this.at + 4, Math.floor(offset / 2 ** 32), true);
    view.setUint32(this.at + 6, length, true);
    this.at += referenceBytes;
  }

  private write(): void {
    const { page } = this;
    page[0] = this.count & 255;
    page[1] = this.count >>> 8;
    page[2] = this.at & 255;
    page[3] = this.at >>> 8;
    this.writer.page(page);
    page.fill(0);
    [this.at, this.count] = [termsHead, 0];
  }
}
