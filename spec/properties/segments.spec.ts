/** Segments of numbered quads, compared with a set of keys under random changes and merges. */
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { KeyReader } from '../../lib/query/access/key-reader.js';
import { bytesOf } from '../../lib/query/memory/index-data.js';
import { SegmentRun } from '../../lib/query/memory/segment-run.js';
import { mergeInputs, mergeSegments, windowsOf } from '../../lib/query/segments/merge.js';
import { DamagedSegmentError, PageCache, pageBytes } from '../../lib/query/segments/page-file.js';
import { orderPlaces } from '../../lib/query/segments/quad-pages.js';
import {
  isResident,
  longName,
  openSegment,
  Segment,
  type SegmentName,
  segmentBytes,
} from '../../lib/query/segments/segment.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { runs } from '../support/speed.js';
import { Random } from './sparql-random.js';

const factory = new DataFactory<Quad>();
const reader = new KeyReader();

/** Subject, predicate, object and graph of a key. */
function termsOf(key: string): readonly string[] {
  reader.read(key);
  return [0, 1, 2, 3].map((place) => reader.token(place));
}

/** Texts whose order and length are at the limits of pages, fences and front coding. */
function text(random: Random): string {
  const ends = ['', 'a', 'é', '\uffee', '\u{1f600}', '\u0000', ' z'];
  const length = random.pick([0, 1, 3, 250, 255, 256, 257, 511, 520, 600, 1015, 1024, 1030, 2000, 5000]);
  return (
    random.pick(['x', 'y', 'ab', 'é']).repeat(length) +
    random.pick(ends) +
    (random.chance(0.7) ? random.below(500) : '')
  );
}

function randomKeys(random: Random, graph: string, count: number): string[] {
  const iri = () =>
    factory.namedNode(
      `http://example.org/${random.below(300)}${random.chance(0.1) ? text(random).replaceAll(/[ \0]/g, '') : ''}`,
    );
  const object = () =>
    random.chance(0.5) ? iri() : factory.literal(text(random), random.chance(0.3) ? 'en' : undefined);
  const quads = Array.from({ length: count }, () =>
    factory.quad(iri(), factory.namedNode(`http://example.org/p${random.below(12)}`), object() as never),
  );
  return encodeGraph(graph, quads);
}

/** Segments beside the set of keys that they stand for. */
class Model {
  readonly graphs = new Map<string, Set<string>>();
  segments: Segment[] = [];
  private next = 0;
  private readonly cache = new PageCache(0);

  constructor(
    readonly folder: string,
    private readonly random: Random,
  ) {}

  name(): string {
    return join(this.folder, `${this.next++}.seg`);
  }

  /** Opens a segment with some of its sections in memory. */
  open(segment: SegmentName): Segment {
    return new Segment(openSegment(segment, this.random.pick([0, 20 * pageBytes, 1 << 30])), () => this.cache);
  }

  /** Replaces whole graphs. */
  replace(count: number): void {
    const run = new SegmentRun();
    const graphs = new Set(Array.from({ length: count }, () => `http://example.org/g${this.random.below(20)}`));
    for (const graph of graphs) {
      const size = this.random.pick([0, 1, 20, 150]);
      const keys = new Set(randomKeys(this.random, graph, size));
      this.graphs.set(graph, keys);
      for (const key of keys) run.add(key);
    }
    this.flush(run, [...graphs]);
  }

  /** Merges the oldest segments. */
  merge(count: number): void {
    const group = this.segments.slice(0, count);
    const merged = mergeSegments(mergeInputs(group), { name: this.name() });
    this.segments = [this.open(merged), ...this.segments.slice(count)];
    for (const segment of group) segment.close();
  }

  /** All quads in one segment. */
  whole(): Segment {
    return this.open(mergeSegments(mergeInputs(this.segments), { name: this.name() }));
  }

  get keys(): string[] {
    return [...this.graphs.values()].flatMap((keys) => [...keys]);
  }

  private flush(run: SegmentRun, graphs: readonly string[]): void {
    this.segments.push(this.open(run.write(this.name(), { graphs })));
  }
}

function expectSame(segment: Segment, keys: readonly string[], random: Random): void {
  const quads = keys.map(termsOf);
  const encoded = [...new Set(quads.flat())].map((term) => ({ term, bytes: Buffer.from(term) }));
  encoded.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  const terms = encoded.map(({ term }) => term);
  expect(segment.terms.size).to.equal(terms.length);
  const ids = new Map(terms.map((term, id) => [term, id]));
  const placeOf = (text: string): number => {
    const bytes = Buffer.from(text);
    const place = encoded.findIndex((each) => Buffer.compare(each.bytes, bytes) >= 0);
    return place < 0 ? terms.length : place;
  };
  // Steps of one and two, as in a scan, then the others backwards.
  const steps = terms.map((_, id) => id).filter((id) => id % 5 !== 2 && id % 5 !== 4);
  const others = terms.map((_, id) => id).filter((id) => id % 5 === 2 || id % 5 === 4);
  for (const id of [...steps, ...others.reverse()]) {
    const term = terms[id]!;
    expect(segment.terms.find(term) === id, term.slice(0, 60)).to.equal(true);
    expect(segment.terms.termKey(id) === term).to.equal(true);
    if (id % 7 !== 0) continue;
    for (const other of [`${term}0`, term.slice(0, -1), `${term.slice(0, 300)}\u{1f600}`])
      if (!ids.has(other)) expect(segment.terms.placeOf(other), other.slice(0, 60)).to.equal(placeOf(other));
  }
  const cursor = segment.terms.cursor();
  for (const term of terms) {
    expect(cursor.next() && Buffer.from(cursor.bytes.subarray(0, cursor.length)).toString() === term).to.equal(true);
  }
  expect(cursor.next()).to.equal(false);
  const numbered = quads.map((quad) => quad.map((term) => ids.get(term)!));
  const triples = new Set(numbered.map(([s, p, o]) => `${s} ${p} ${o}`));
  expect(segment.data.isUnique).to.equal(triples.size === numbered.length);
  segment.orders.forEach((order, at) => {
    const places = orderPlaces[at]!;
    const sorted = numbered
      .map((quad) => places.map((place) => quad[place]!))
      .sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]! || a[3]! - b[3]!);
    const read: number[][] = [];
    for (const { columns, length } of windowsOf(order))
      for (let i = 0; i < length; i++) read.push(places.map((place) => columns[place][i]!));
    expect(read.map(String).join('|') === sorted.map(String).join('|'), `order ${at}`).to.equal(true);
    for (let tries = 0; tries < 30 && sorted.length > 0; tries++) {
      const length = 1 + random.below(4);
      const prefix = [...random.pick(sorted)];
      // A term between two others, as one that is not in the dictionary.
      if (random.chance(0.3)) prefix[random.below(length)]! -= 0.5;
      const isLess = (row: number[]): number => {
        for (let i = 0; i < length; i++) if (row[i] !== prefix[i]) return row[i]! - prefix[i]!;
        return 0;
      };
      const from = sorted.filter((row) => isLess(row) < 0).length;
      const to = from + sorted.filter((row) => isLess(row) === 0).length;
      expect(order.range(prefix, length)).to.deep.equal([from, to]);
      if (from === to) continue;
      const index = from + random.below(to - from);
      const window = order.window(index, to);
      const { first, end } = window;
      expect([first, window.column(places[0])[0]]).to.deep.equal([index, sorted[index]![0]]);
      expect(end).to.be.within(index + 1, to);
      for (let place = 0; place < 4; place++) expect(order.term(index, places[place]!)).to.equal(sorted[index]![place]);
    }
  });
}

describe('Segments of numbered quads', function () {
  this.timeout(120_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-segments-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (let seed = 1; seed <= runs(4); seed++)
    it(`equal a set of quads under random changes and merges (seed ${seed})`, () => {
      const random = new Random(seed);
      const model = new Model(folder, random);
      for (let step = 0; step < 8; step++) {
        if (step === 0 || random.chance(0.7)) model.replace(1 + random.below(6));
        else model.merge(1 + random.below(model.segments.length));
        if (step % 4 !== 3) continue;
        const whole = model.whole();
        expectSame(whole, model.keys, random);
        whole.close();
      }
      for (const segment of model.segments) segment.close();
    });

  function written(count: number, seed = 7): SegmentName {
    const run = new SegmentRun();
    for (const key of randomKeys(new Random(seed), 'http://example.org/g', count)) run.add(key);
    return run.write(join(folder, `${readdirSync(folder).length}.seg`), { graphs: [] });
  }

  function readAll(written: SegmentName, most: number): string {
    const segment = new Segment(openSegment(written, most), () => new PageCache(0));
    try {
      const found: unknown[] = [];
      for (const order of segment.orders)
        for (const { columns } of windowsOf(order)) found.push(...columns.map(String));
      for (let id = 0; id < segment.terms.size; id++) found.push(segment.terms.termKey(id));
      return JSON.stringify([found, segment.data.quads, segment.data.isUnique]);
    } finally {
      segment.close();
    }
  }

  /** Asserts that pages are detected as damaged, whether all or none are in memory. */
  function expectDamaged(segment: SegmentName, what: string): void {
    for (const most of [0, 1 << 30]) expect(() => readAll(segment, most), what).to.throw(DamagedSegmentError);
  }

  /** Number of pages of a segment, which are the beginning of its file. */
  function pagesOf(segment: SegmentName): number {
    const { terms, orders } = openSegment(segment, 0);
    return [terms, ...orders].reduce((sum, { pages }) => sum + pages, 0);
  }

  const pageOf = (bytes: Buffer, page: number): Buffer => bytes.subarray(page * pageBytes, (page + 1) * pageBytes);

  it('detects every page in the place of another one', () => {
    const segment = written(3000);
    const [{ name }, pages, random] = [segment, pagesOf(segment), new Random(3)];
    const sound = readFileSync(name);
    const pairs = Array.from({ length: pages - 1 }, (_, page) => [page, page + 1] as const);
    for (let i = 0; i < 40; i++) pairs.push([random.below(pages), random.below(pages)]);
    for (const [one, other] of pairs) {
      if (one === other) continue;
      // Exchanged, as by a disk that writes both in the wrong place, and repeated, as by a write that is lost.
      for (const isExchange of [true, false]) {
        const bytes = Buffer.from(sound);
        pageOf(sound, one).copy(pageOf(bytes, other));
        if (isExchange) pageOf(sound, other).copy(pageOf(bytes, one));
        writeFileSync(name, bytes);
        expectDamaged(segment, `pages ${one} and ${other}`);
      }
    }
    writeFileSync(name, sound);
    expect(readAll(segment, 0)).to.equal(readAll(segment, 1 << 30));
  });

  it('detects every page of another segment, also of one with the same quads', () => {
    const segment = written(3000);
    const sound = readFileSync(segment.name);
    for (const seed of [7, 8]) {
      const other = written(3000, seed);
      const others = readFileSync(other.name);
      for (let page = 0; page < Math.min(pagesOf(segment), pagesOf(other)); page++) {
        const bytes = Buffer.from(sound);
        pageOf(others, page).copy(pageOf(bytes, page));
        writeFileSync(segment.name, bytes);
        expectDamaged(segment, `page ${page}`);
      }
      writeFileSync(segment.name, others);
      expectDamaged(segment, 'the whole file');
      writeFileSync(segment.name, sound);
      // The long terms of both have the same length if the quads are the same.
      const long = readFileSync(longName(segment.name));
      writeFileSync(longName(segment.name), readFileSync(longName(other.name)));
      expectDamaged(segment, 'the file of long terms');
      writeFileSync(longName(segment.name), long);
      expect(readAll(segment, 0)).to.equal(readAll(segment, 1 << 30));
    }
  });

  it('detects a long term in the place of another one', () => {
    const run = new SegmentRun();
    const literals = ['a', 'b'].map((text) => factory.literal(text.repeat(3000)));
    const iri = factory.namedNode('http://example.org/s');
    for (const key of encodeGraph(
      'http://example.org/g',
      literals.map((literal) => factory.quad(iri, iri, literal)),
    ))
      run.add(key);
    const segment = run.write(join(folder, 'long.seg'), { graphs: [] });
    const long = readFileSync(longName(segment.name));
    const [first, second] = [long.subarray(0, long.length / 2), long.subarray(long.length / 2)];
    writeFileSync(longName(segment.name), Buffer.concat([second, first]));
    expectDamaged(segment, 'exchanged');
    writeFileSync(longName(segment.name), long);
    expect(readAll(segment, 0)).to.contain('a'.repeat(3000));
  });

  it('detects a page that changes after it was read', () => {
    const segment = written(12_000);
    const cache = new PageCache(0);
    const opened = new Segment(openSegment(segment, 0), () => cache);
    /** Reads more pages than the cache holds. */
    const read = (): void => {
      for (const order of opened.orders) expect([...windowsOf(order)]).not.to.have.length(0);
      for (let id = 0; id < opened.terms.size; id++) opened.terms.termKey(id);
    };
    read();
    const bytes = readFileSync(segment.name);
    const { from } = openSegment(segment, 0).orders[2]!;
    const handle = openSync(segment.name, 'r+');
    writeSync(handle, pageOf(bytes, from / pageBytes), 0, pageBytes, from + pageBytes);
    closeSync(handle);
    expect(read).to.throw(DamagedSegmentError);
    opened.close();
  });

  it('detects every damaged byte before it is used', () => {
    const segment = written(3000);
    const { name } = segment;
    const [sound, long] = [readAll(segment, 0), readFileSync(`${name}.long`)];
    const flip = (file: string, at: number): void => {
      const handle = openSync(file, 'r+');
      const byte = Buffer.alloc(1);
      readSync(handle, byte, 0, 1, at);
      byte[0]! ^= 1 << (at % 8);
      writeSync(handle, byte, 0, 1, at);
      closeSync(handle);
    };
    for (const [file, step] of [
      [name, 2011],
      [`${name}.long`, 40_009],
    ] as const)
      for (let at = 0; at < statSync(file).size; at += step) {
        flip(file, at);
        for (const most of [0, 1 << 30])
          try {
            expect(readAll(segment, most), `byte ${at}`).to.equal(sound);
          } catch (error) {
            expect(error, `byte ${at}`).to.be.an.instanceOf(DamagedSegmentError);
          }
        flip(file, at);
      }
    rmSync(`${name}.long`);
    expect(() => openSegment(segment, 0)).to.throw(DamagedSegmentError);
    writeFileSync(`${name}.long`, long);
    expect(readAll(segment, 0)).to.equal(sound);
  });

  it('leave no file after an error of a merge', () => {
    const made = written(3000);
    const segment = new Segment(openSegment(made, 0), () => new PageCache(0));
    const check = (): void => {
      throw new Error('stopped');
    };
    const merge = (): unknown => mergeSegments(mergeInputs([segment]), { name: join(folder, 'merged.seg'), check });
    expect(merge).to.throw('stopped');
    segment.close();
    expect(readdirSync(folder).filter((file) => file.startsWith('merged'))).to.deep.equal([]);
    expect(existsSync(made.name)).to.equal(true);
  });

  it('are readable by the owner of the process only, and known by their memory', () => {
    const segment = written(3000);
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).to.equal(0o600);
    const [none, all] = [openSegment(segment, 0), openSegment(segment, 1 << 30)];
    expect([isResident(none), isResident(all)]).to.deep.equal([false, true]);
    expect(segmentBytes(none)).to.be.below(segmentBytes(all) / 10);
  });

  it('have decoded orders if these fit into half of the memory, and else pages with the same quads', () => {
    const segment = written(3000);
    const { terms, quads } = openSegment(segment, 0);
    const decodedBytes = terms.pages * pageBytes + 64 * quads;
    const [decoded, paged] = [openSegment(segment, 2 * decodedBytes), openSegment(segment, 2 * decodedBytes - 1)];
    expect([isResident(decoded), isResident(paged)]).to.deep.equal([true, true]);
    expect(segmentBytes(decoded) - segmentBytes(openSegment(segment, 0))).to.equal(decodedBytes);
    expect(bytesOf(decoded)).to.equal(segmentBytes(decoded));
    expect(paged.columns).to.equal(undefined);
    const opened = new Segment(paged, () => new PageCache(0));
    for (const [order, reader] of opened.orders.entries()) {
      const pages = [[], [], [], []] as number[][];
      for (const { columns } of windowsOf(reader))
        for (const [place, column] of columns.entries()) pages[place]!.push(...column);
      const columns = decoded.columns![order]!.map((column) => [...new Uint32Array(column)]);
      expect(columns, String(order)).to.deep.equal(pages);
    }
    opened.close();
  });
});
