/** Graphs read through one iterator: in any order of requests, each returns its own keys, and the next one needs no seek. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { GraphCursor } from '../../../../lib/storage/graphs/graph-cursor.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { type Level, openLevel, writeBatch } from '../../../../lib/storage/level/durable-level.js';

const f = new DataFactory<Quad>();
const root = 'http://spec.example/';
const graphs = new Map<string, string[]>();
const names = ['a', 'a-b', 'a/', 'a/b', 'a/c', 'ab', 'b', 'ü', '\ufffd', '🜁', '🜁/x'];
for (const [index, name] of names.entries()) {
  const iri = root + name;
  const length = [1, 40, 3_000][index % 3]!;
  const quads = Array.from({ length }, (_, i) => f.quad(f.namedNode(iri), f.namedNode(`${root}p`), f.literal(`${i}`)));
  graphs.set(iri, encodeGraph(iri, quads));
}

describe('Cursor over graphs', () => {
  let folder: string;
  let level: Level;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-level-'));
    level = await openLevel(join(folder, 'level'));
    await writeBatch(
      level,
      (batch) => {
        for (const keys of graphs.values()) for (const key of keys) batch.put(key, '');
      },
      () => ['R\u0000', 'last'],
    );
  });
  after(async () => {
    await level.close();
    rmSync(folder, { recursive: true });
  });

  async function opened<T>(use: (cursor: GraphCursor, leaps: () => number) => Promise<T>): Promise<T> {
    const snapshot = level.snapshot();
    let leaps = 0;
    const keys = level.keys.bind(level) as (options: object) => ReturnType<Level['keys']>;
    level.keys = ((options: object) => {
      const iterator = keys(options);
      const seek = iterator.seek.bind(iterator) as (target: string) => void;
      iterator.seek = ((target: string) => {
        leaps++;
        seek(target);
      }) as never;
      return iterator;
    }) as never;
    const cursor = new GraphCursor(level, snapshot);
    try {
      return await use(cursor, () => leaps);
    } finally {
      level.keys = keys as never;
      await cursor.close();
      await snapshot.close();
    }
  }

  const read = async (cursor: GraphCursor, graph: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const keys of cursor.keys(graph)) found.push(...keys);
    return found;
  };

  it('returns the keys of each graph in the order of the store, with one seek', async () => {
    await opened(async (cursor, leaps) => {
      const inOrder = [...graphs.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      for (const graph of inOrder) expect(await read(cursor, graph), graph).to.deep.equal(graphs.get(graph));
      expect(leaps()).to.equal(1);
    });
  });

  it('returns the keys of each in any order, some twice, and none for nonexistent graphs', async () => {
    await opened(async (cursor) => {
      const asked = [
        ...names,
        ...names.toReversed(),
        'a/b',
        'a/b',
        '',
        '0',
        'a/bb',
        'zz',
        '\u{10ffff}',
        'a',
        'ab',
        '🜁',
      ];
      for (let step = 1; step < 8; step++)
        for (let at = 0; at < asked.length; at++) {
          const graph = root + asked[(at * step) % asked.length]!;
          expect(await read(cursor, graph), graph).to.deep.equal(graphs.get(graph) ?? []);
        }
    });
  });

  it('continues after a graph that was not read to its end', async () => {
    await opened(async (cursor) => {
      for await (const keys of cursor.keys(`${root}a/`)) {
        expect(keys.length).to.be.above(0);
        break;
      }
      for (const name of ['a/b', 'a/', 'ab'])
        expect(await read(cursor, root + name)).to.deep.equal(graphs.get(root + name));
    });
  });
});
