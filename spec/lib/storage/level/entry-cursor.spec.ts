/** Cursor over entries of both databases: blocks, leaps, neighbors and snapshots. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MemoryLevel } from 'memory-level';
import { StoreSnapshot } from '../../../../lib/storage/graphs/snapshot.js';
import { entryKey, entryRange } from '../../../../lib/storage/keys/records.js';
import { type Level, openLevel } from '../../../../lib/storage/level/durable-level.js';
import type { EntryCursor } from '../../../../lib/storage/level/entry-cursor.js';
import { ListStream } from '../../../../lib/storage/level/entry-cursor.js';

const numbered = (number: number): string => `http://e.example/${String(number).padStart(5, '0')}`;
const many = Array.from({ length: 2500 }, (_, number) => numbered(number));

const databases: Readonly<Record<string, (folder: string) => Promise<Level>>> = {
  'in memory': async () => new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level,
  'on the disk': (folder) => openLevel(folder),
};

for (const [where, open] of Object.entries(databases))
  describe(`Entry cursor, ${where}`, () => {
    let folder: string;
    let level: Level;
    let snapshot: StoreSnapshot;
    const put = (...entries: (readonly string[])[]): Promise<void> =>
      level.batch(entries.map((parts) => ({ type: 'put', key: entryKey('s', ...parts), value: parts.at(-1)! })));
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'quadpod-cursor-'));
      level = await open(folder);
      await put(...many.map((text) => ['many', text]), ['few', 'a'], ['few', 'c'], ['few', 'e']);
      // Neighbors in sort order: names with the same prefix, and its own parts without descendants.
      await put(['fe', 'z'], ['few!', 'a'], ['few\u0001', 'a'], ['fewer', 'a'], ['many0', 'x'], ['maní', 'x']);
      await put(['deep', 'x', 'a'], ['deep', 'xy', 'b'], ['deep', 'x', 'é'], ['deep', 'y', 'c']);
      snapshot = new StoreSnapshot(level);
      await put(['few', 'b'], ['empty', 'a'], ['deep', 'later', 'a']);
    });
    after(async () => {
      await snapshot.close();
      await level.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function walk(cursor: EntryCursor): Promise<string[]> {
      const found: string[] = [];
      for (let text = await cursor.seek(''); text !== undefined; text = await cursor.seek(`${text}\u0000`)) {
        expect(cursor.head).to.equal(text);
        found.push(text);
      }
      return found;
    }

    it('iterates over exactly a range, in the state of its snapshot', async () => {
      expect(await walk(snapshot.cursor('s', 'few'))).to.deep.equal(['a', 'c', 'e']);
      expect(await walk(snapshot.cursor('s', 'deep', 'x'))).to.deep.equal(['a', 'é']);
      expect(await walk(snapshot.cursor('s', 'many'))).to.deep.equal(many);
    });

    it('is empty for an empty range, for any number and kind of calls', async () => {
      for (const parts of [['empty'], ['nothing'], ['few', 'a'], ['']]) {
        const cursor = snapshot.cursor('s', ...parts);
        for (const target of ['', 'a', '\uffff', 'b']) expect(await cursor.seek(target)).to.equal(undefined);
        expect(cursor.head).to.equal(undefined);
      }
    });

    it('stays at its end, even after a leap far beyond it', async () => {
      for (const target of ['f', 'zzz', '\u{10ffff}', '\u0000\u0000z'.repeat(100)]) {
        const cursor = snapshot.cursor('s', 'few');
        expect(await cursor.seek('')).to.equal('a');
        expect(await cursor.seek('e')).to.equal('e');
        expect(await cursor.seek(target > 'e' ? target : `e${target}`)).to.equal(undefined);
        expect(await cursor.seek('zzzz')).to.equal(undefined);
      }
      const cursor = snapshot.cursor('s', 'many');
      expect(await cursor.seek('i')).to.equal(undefined);
      expect(await cursor.seek('j')).to.equal(undefined);
    });

    it('does not move for a target at or before its position', async () => {
      const cursor = snapshot.cursor('s', 'few');
      expect(await cursor.seek('b')).to.equal('c');
      for (const target of ['', 'a', 'b', 'c']) expect(await cursor.seek(target), target).to.equal('c');
    });

    it('finds every text around the limits of its blocks, by next, short and long leaps', async () => {
      // The first blocks have 64, 128, 256, 512 and then 1000 texts. After a leap they start with 32.
      const borders = [0, 31, 32, 63, 64, 65, 95, 96, 191, 192, 193, 447, 448, 959, 960, 1959, 1960, 2498, 2499];
      for (const start of [0, 1, 63, 64, 65, 1000])
        for (const border of borders.filter((number) => number >= start)) {
          const cursor = snapshot.cursor('s', 'many');
          expect(await cursor.seek(numbered(start))).to.equal(many[start]);
          expect(await cursor.seek(numbered(border)), `${start}, ${border}`).to.equal(many[border]);
          expect(await cursor.seek(`${numbered(border)}\u0000`)).to.equal(many[border + 1]);
          expect(await cursor.seek(`${numbered(border + 40)}-`)).to.equal(many[border + 41]);
        }
    });

    it('returns values of its block without a promise', async () => {
      const cursor = snapshot.cursor('s', 'many');
      await cursor.seek('');
      const answers = [numbered(1), numbered(20), numbered(21)].map((target) => cursor.seek(target));
      expect(answers).to.deep.equal([many[1], many[20], many[21]]);
    });

    it('returns the distinct next parts, each once', async () => {
      const found: string[] = [];
      for await (const part of snapshot.distinct('s', 'deep')) found.push(part);
      expect(found).to.deep.equal(['x', 'xy', 'y']);
      const spaces: string[] = [];
      for await (const part of snapshot.distinct('s')) spaces.push(part);
      expect(spaces).to.deep.equal(['deep', 'fe', 'few', 'few\u0001', 'few!', 'fewer', 'many', 'many0', 'maní']);
      for await (const part of snapshot.distinct('s', 'empty')) expect.fail(part);
    });

    it('reads records and entries of the same state', async () => {
      const found: [string, string][] = [];
      for await (const entries of snapshot.entries(entryRange('s', 'few'))) found.push(...entries);
      expect(found.map(([, value]) => value)).to.deep.equal(['a', 'c', 'e']);
      expect(await snapshot.records(['http://spec.example/'])).to.deep.equal([undefined]);
    });
  });

describe('Entry cursor over a list', () => {
  it('behaves like the cursor over a database', () => {
    const list = new ListStream(['a', 'c', 'e']);
    expect(['', 'a', 'b', 'b', 'e', 'f', 'z'].map((target) => list.seek(target))).to.deep.equal([
      'a',
      'a',
      'c',
      'c',
      'e',
      undefined,
      undefined,
    ]);
    expect(new ListStream([]).seek('')).to.equal(undefined);
    expect(['', 'a', 'b', 'f'].map((text) => new ListStream(['a', 'c', 'e']).indexOf(text))).to.deep.equal([
      0, 0, 1, 3,
    ]);
  });
});
