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
import { SegmentRun } from '../../lib/query/memory/segment-run.js';
import { mergeInputs, mergeSegments, windowsOf } from '../../lib/query/segments/merge.js';
import { DamagedSegmentError, PageCache, pageBytes } from '../../lib/query/segments/page-file.js';
import { orderPlaces } from '../../lib/query/segments/quad-pages.js';
import { isResident, openSegment, Segment, segmentBytes } from '../../lib/query/segments/segment.js';
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
  open(name: string): Segment {
    return new Segment(openSegment(name, this.random.pick([0, 20 * pageBytes, 1 << 30])), () => this.cache);
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
    const name = this.name();
    mergeSegments(mergeInputs(group), { name });
    this.segments = [this.open(name), ...this.segments.slice(count)];
    for (const segment of group) segment.close();
  }

  /** All quads in one segment. */
  whole(): Segment {
    const name = this.name();
    mergeSegments(mergeInputs(this.segments), { name });
    return this.open(name);
  }

  get keys(): string[] {
    return [...this.graphs.values()].flatMap((keys) => [...keys]);
  }

  private flush(run: SegmentRun, graphs: readonly string[]): void {
    const name = this.name();
    run.write(name, { graphs });
    this.segments.push(this.open(name));
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
  for (const [id, term] of terms.entries()) {
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

  function written(count: number): string {
    const run = new SegmentRun();
    for (const key of randomKeys(new Random(7), 'http://example.org/g', count)) run.add(key);
    const name = join(folder, 'written.seg');
    run.write(name, { graphs: [] });
    return name;
  }

  it('detects every damaged byte before it is used', () => {
    const name = written(3000);
    const readAll = (most: number): string => {
      const segment = new Segment(openSegment(name, most), () => new PageCache(0));
      try {
        const found: unknown[] = [];
        for (const order of segment.orders)
          for (const { columns } of windowsOf(order)) found.push(...columns.map(String));
        for (let id = 0; id < segment.terms.size; id++) found.push(segment.terms.termKey(id));
        return JSON.stringify([found, segment.data.quads, segment.data.isUnique]);
      } finally {
        segment.close();
      }
    };
    const [sound, long] = [readAll(0), readFileSync(`${name}.long`)];
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
            expect(readAll(most), `byte ${at}`).to.equal(sound);
          } catch (error) {
            expect(error, `byte ${at}`).to.be.an.instanceOf(DamagedSegmentError);
          }
        flip(file, at);
      }
    rmSync(`${name}.long`);
    expect(() => openSegment(name, 0)).to.throw(DamagedSegmentError);
    writeFileSync(`${name}.long`, long);
    expect(readAll(0)).to.equal(sound);
  });

  it('leave no file after an error of a merge', () => {
    const name = written(3000);
    const segment = new Segment(openSegment(name, 0), () => new PageCache(0));
    const check = (): void => {
      throw new Error('stopped');
    };
    const merge = (): void => mergeSegments(mergeInputs([segment]), { name: join(folder, 'merged.seg'), check });
    expect(merge).to.throw('stopped');
    segment.close();
    expect(readdirSync(folder).filter((file) => file.startsWith('merged'))).to.deep.equal([]);
    expect(existsSync(name)).to.equal(true);
  });

  it('are readable by the owner of the process only, and known by their memory', () => {
    const name = written(3000);
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).to.equal(0o600);
    const [none, all] = [openSegment(name, 0), openSegment(name, 1 << 30)];
    expect([isResident(none), isResident(all)]).to.deep.equal([false, true]);
    expect(segmentBytes(none)).to.be.below(segmentBytes(all) / 10);
  });
});
