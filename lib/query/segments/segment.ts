/**
 * Segment: an immutable file with a dictionary, quads in four orders, fences and a footer. Long terms are in a second file.
 * Threads that open a segment share its fences and resident sections.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import {
  CachedPages,
  checksumAt,
  checksumBytes,
  DamagedSegmentError,
  type PageCache,
  PageFile,
  type Pages,
  PageWriter,
  pageBytes,
  ResidentPages,
  type Section,
  verifyPages,
} from './page-file.js';
import { type OrderFences, OrderReader, OrderWriter } from './quad-pages.js';
import { TermReader } from './term-reader.js';
import { type TermFences, TermWriter } from './term-writer.js';

const magic = 'QPSEG004';
/** Bytes at the end of the file: offset of the footer (8), its length (4), and the magic number (8). */
const tailBytes = 20;
export const longName = (name: string): string => `${name}.long`;

/** Array in the file: offset, length in bytes, and checksum. */
type ArrayPlace = readonly [from: number, length: number, checksum: number];

interface OrderMeta extends Section {
  readonly quads: number;
  readonly fences: ArrayPlace;
  readonly firsts: ArrayPlace;
}

/** Facts about the content of a segment. */
export interface SegmentFacts {
  /** Graphs whose quads in older segments are outdated. */
  readonly graphs: readonly string[];
}

interface Footer {
  /** Random identity of the file, which the checksums of pages and long terms cover. */
  readonly id: string;
  readonly terms: Section & { readonly text: ArrayPlace; readonly offsets: ArrayPlace; readonly ids: ArrayPlace };
  readonly orders: readonly OrderMeta[];
  /** True if no triple is in two graphs. */
  readonly isUnique: boolean;
  readonly facts: SegmentFacts;
  /** Size of the file of long terms. */
  readonly longBytes: number;
}

/** A segment in the file system. */
export interface SegmentName {
  /** Path of the file. */
  readonly name: string;
  /** Digest of the footer, which contains the identity of the file and the checksums of its arrays. */
  readonly digest: string;
}

const digestOf = (footer: Uint8Array): string => createHash('sha256').update(footer).digest('base64');

const bytesOf = (array: Uint8Array | Uint32Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Writes a segment: call `writeTerms`, `writeOrder` for each of the four orders, and `end`. */
export class SegmentWriter {
  private readonly id = randomBytes(16).toString('hex');
  private readonly writer: PageWriter;
  private readonly long!: PageWriter;
  private readonly orders: OrderMeta[] = [];
  private terms!: Footer['terms'];
  /** Arrays that `end` writes after the pages. `end` also sets their `place`. */
  private readonly arrays: { readonly bytes: Uint8Array; readonly place: [number, number, number] }[] = [];

  /** Creates the files. @throws the file system's error, here and in all methods */
  constructor(private readonly name: string) {
    this.writer = new PageWriter(`${name}.new`, this.id);
    try {
      this.long = new PageWriter(longName(name), this.id);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** Writes the dictionary. @param write adds the terms in order */
  writeTerms(write: (to: TermWriter) => void): void {
    const { long, writer } = this;
    const to = new TermWriter(writer, (bytes) => {
      const at = long.bytes;
      long.append(bytes);
      const checksum = Buffer.alloc(checksumBytes);
      checksum.writeUInt32LE(checksumAt(this.id, at, bytes));
      long.append(checksum);
      return at;
    });
    write(to);
    const { text, offsets, ids, pages } = to.end();
    const places = { text: this.array(text), offsets: this.array(offsets), ids: this.array(ids) };
    this.terms = { from: 0, pages, ...places };
  }

  /** Writes the quads in one order. @param write adds the quads in this order */
  writeOrder(order: number, write: (to: OrderWriter) => void): void {
    const from = this.writer.bytes;
    const to = new OrderWriter(this.writer, order);
    write(to);
    const { fences, firsts, quads, pages } = to.end();
    this.orders[order] = { from, pages, quads, fences: this.array(fences), firsts: this.array(firsts) };
  }

  /** Writes arrays and footer, syncs and renames the file. The new name is only durable after a sync of the directory. */
  end({ isUnique, facts }: Pick<Footer, 'isUnique' | 'facts'>): SegmentName {
    const { writer, long, terms, orders } = this;
    for (const { bytes, place } of this.arrays) {
      place[0] = writer.bytes;
      writer.append(bytes);
    }
    const footer: Footer = { id: this.id, terms, orders, isUnique, facts, longBytes: long.bytes };
    const text = Buffer.from(JSON.stringify(footer));
    const tail = Buffer.alloc(tailBytes);
    tail.writeBigUInt64LE(BigInt(writer.bytes), 0);
    tail.writeUInt32LE(text.length, 8);
    tail.write(magic, 12, 'latin1');
    writer.append(text);
    writer.append(tail);
    writer.end();
    long.end();
    if (long.bytes === 0) rmSync(longName(this.name));
    renameSync(`${this.name}.new`, this.name);
    return { name: this.name, digest: digestOf(text) };
  }

  /** Closes and removes the files. */
  abandon(): void {
    this.writer.close();
    this.long?.close();
    for (const name of [`${this.name}.new`, longName(this.name)]) rmSync(name, { force: true });
  }

  private array(array: Uint8Array | Uint32Array): ArrayPlace {
    const bytes = Uint8Array.from(bytesOf(array));
    const place: [number, number, number] = [0, bytes.length, crc32(bytes)];
    this.arrays.push({ bytes, place });
    return place;
  }
}

/** Sections in the order in which they are loaded into memory. */
const sections = ['terms', 0, 1, 2, 3] as const;

/** Memory of a quad in the decoded columns of all orders, in bytes. */
const decodedBytes = 64;
/**
 * Share of the memory limit up to which the orders are decoded. Undecoded pages take less than half of the space, and all
 * storages of a process share the limit.
 */
const decodedShare = 0.5;

/** An opened segment, as sent between threads. */
export interface SegmentData extends SegmentName {
  /** Identity of the file. */
  readonly id: string;
  readonly quads: number;
  readonly isUnique: boolean;
  readonly facts: SegmentFacts;
  readonly terms: Section & {
    readonly text: SharedArrayBuffer;
    readonly offsets: SharedArrayBuffer;
    readonly ids: SharedArrayBuffer;
  };
  readonly orders: readonly OrderData[];
  /** Content of the sections in memory, in the order of `sections`. */
  readonly resident: readonly SharedArrayBuffer[];
  /** Columns S, P, O and G of each order. Absent if the columns exceed the memory limit: queries then read pages. */
  readonly columns?: readonly (readonly SharedArrayBuffer[])[] | undefined;
}

interface OrderData extends Section {
  readonly quads: number;
  readonly fences: SharedArrayBuffer;
  readonly firsts: SharedArrayBuffer;
}

/**
 * Opens a segment. If its decoded orders fit into a share of `most` bytes, they are loaded: a lookup in pages takes 1.2 times
 * as long. Otherwise as many sections as fit are loaded.
 * @throws DamagedSegmentError, also if the file has another digest, or the file system's error
 */
export function openSegment({ name, digest }: SegmentName, most: number): SegmentData {
  const file = new PageFile(name);
  try {
    const { terms, orders, longBytes, ...footer } = footerOf(file, digest);
    if (longBytes > 0 && statSync(longName(name), { throwIfNoEntry: false })?.size !== longBytes)
      throw new DamagedSegmentError('The file of long terms is missing or truncated.');
    const arrayOf = ([from, length, checksum]: ArrayPlace): SharedArrayBuffer => {
      const array = file.shared(from, length);
      if (crc32(new Uint8Array(array)) !== checksum)
        throw new DamagedSegmentError('The checksum of fences does not match.');
      return array;
    };
    const orderOf = (order: OrderMeta): OrderData => ({
      ...{ from: order.from, pages: order.pages, quads: order.quads },
      ...{ fences: arrayOf(order.fences), firsts: arrayOf(order.firsts) },
    });
    const pagesOf = (section: Section): SharedArrayBuffer => {
      const shared = file.shared(section.from, section.pages * pageBytes);
      verifyPages(shared, footer.id, section);
      return shared;
    };
    const isDecoded = terms.pages * pageBytes + orders[0]!.quads * decodedBytes <= most * decodedShare;
    const resident: SharedArrayBuffer[] = [];
    let left = most;
    for (const section of isDecoded ? sections.slice(0, 1) : sections) {
      const place = section === 'terms' ? terms : orders[section]!;
      left -= place.pages * pageBytes;
      if (left < 0) break;
      resident.push(pagesOf(place));
    }
    const orderData = orders.map(orderOf);
    const { text, offsets, ids } = terms;
    return {
      ...{ name, digest, ...footer, quads: orders[0]!.quads, resident },
      columns: isDecoded ? orderData.map((order, at) => decoded(pagesOf(order), at, order)) : undefined,
      terms: {
        from: terms.from,
        pages: terms.pages,
        text: arrayOf(text),
        offsets: arrayOf(offsets),
        ids: arrayOf(ids),
      },
      orders: orderData,
    };
  } finally {
    file.close();
  }
}

const decoded = (pages: SharedArrayBuffer, order: number, data: OrderData): SharedArrayBuffer[] =>
  new OrderReader(new ResidentPages(pages), order, orderFences(data)).decoded();

function footerOf(file: PageFile, digest: string): Footer {
  const tail = file.read(file.length - tailBytes, tailBytes);
  if (tail.toString('latin1', 12) !== magic)
    throw new DamagedSegmentError('The file is not a segment of this version.');
  const text = file.read(Number(tail.readBigUInt64LE(0)), tail.readUInt32LE(8));
  if (digestOf(text) !== digest) throw new DamagedSegmentError('The digest of the footer does not match.');
  return JSON.parse(text.toString()) as Footer;
}

/** Returns the memory of an opened segment, in bytes. */
export const segmentBytes = ({ resident, columns = [], terms, orders }: SegmentData): number =>
  [
    ...[...resident, ...columns.flat(), terms.text, terms.offsets, terms.ids],
    ...orders.flatMap(({ fences, firsts }) => [fences, firsts]),
  ].reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Returns true if everything except long terms is in memory. */
export const isResident = ({ resident, columns }: SegmentData): boolean =>
  columns !== undefined || resident.length === sections.length;

/** A segment as opened in one thread, which reads its files. */
export class Segment {
  readonly terms: TermReader;
  readonly orders: readonly OrderReader[];
  private readonly file: PageFile;
  private long: PageFile | undefined;
  private readonly cached: CachedPages[] = [];

  /** Opens the files. @param cacheOf returns the cache for pages that are not in memory @throws the file system's error */
  constructor(
    readonly data: SegmentData,
    private readonly cacheOf: () => PageCache,
  ) {
    const { id, terms, orders, name } = data;
    this.file = new PageFile(name);
    // Open the file now, because it may be replaced later.
    if (existsSync(longName(name))) this.long = new PageFile(longName(name));
    const readRest = (offset: number, length: number): Buffer => {
      if (!this.long) throw new DamagedSegmentError('The file of long terms is missing.');
      const bytes = this.long.read(offset, length + checksumBytes);
      const rest = bytes.subarray(0, length);
      if (checksumAt(id, offset, rest) !== bytes.readUInt32LE(length))
        throw new DamagedSegmentError('The checksum of a long term does not match.');
      return rest;
    };
    this.terms = new TermReader(this.pagesOf(0, terms), termFences(terms), readRest);
    this.orders = orders.map((order, at) => new OrderReader(this.pagesOf(at + 1, order), at, orderFences(order)));
  }

  /** Closes the files and removes their pages from the cache. */
  close(): void {
    this.closer();
  }

  /** Returns `close` as a function without a reference to the segment, so that the segment can be garbage-collected. */
  get closer(): () => void {
    const { cached, cacheOf, file, long } = this;
    return () => {
      for (const pages of cached) cacheOf().remove(pages);
      file.close();
      long?.close();
    };
  }

  private pagesOf(section: number, place: Section): Pages {
    const shared = place.pages === 0 ? new SharedArrayBuffer(0) : this.data.resident[section];
    if (shared) return new ResidentPages(shared);
    const pages = new CachedPages(this.file, { ...place, id: this.data.id }, this.cacheOf());
    this.cached.push(pages);
    return pages;
  }
}

const termFences = ({ text, offsets, ids }: SegmentData['terms']): TermFences => ({
  text: new Uint8Array(text),
  offsets: new Uint32Array(offsets),
  ids: new Uint32Array(ids),
});

const orderFences = ({ fences, firsts, quads }: OrderData): OrderFences => ({
  fences: new Uint32Array(fences),
  firsts: new Uint32Array(firsts),
  quads,
});
