/** Fixes for bugs of LevelDB and quadstore: iterators, read errors, short blocks. On a real LevelDB. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { ensureRoot } from '../../../../lib/resources/storage-root.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import {
  entryBlocks,
  keyBlocks,
  type Level,
  openLevel,
  writeBatch,
} from '../../../../lib/storage/level/durable-level.js';
import { Store } from '../../../../lib/storage/transactions/store.js';
import { root } from '../../../support/memory-store.js';

const f = new DataFactory<Quad>();

/** Counts the open iterators of a level. */
function countIterators(level: Level): { open(): number; made(): number } {
  let [made, closed] = [0, 0];
  for (const method of ['keys', 'iterator'] as const) {
    const original = level[method].bind(level) as (options: object) => { close(): Promise<void> };
    level[method] = ((options: object) => {
      const iterator = original(options);
      made++;
      const close = iterator.close.bind(iterator);
      iterator.close = () => {
        closed++;
        return close();
      };
      return iterator;
    }) as never;
  }
  return { open: () => made - closed, made: () => made };
}

describe('storage/durable-level', () => {
  let folder: string;
  let level: Level;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-level-'));
    level = await openLevel(join(folder, 'level'));
  });
  afterEach(async () => {
    await level.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('stores no empty value, which classic-level would never free, and returns the original value', async () => {
    const keys = ['E\u0000a', 'E\u0000b'];
    await writeBatch(
      level,
      (batch) => {
        for (const key of keys) batch.put(key, '');
      },
      () => ['E\u0000c', 'last'],
    );
    expect(await level.get(keys[0]!)).to.equal('\u0000');
    const found = [];
    for await (const entries of entryBlocks(level, { gte: 'E\u0000', lt: 'E\u0001' })) found.push(...entries);
    expect(found).to.deep.equal([
      [keys[0], ''],
      [keys[1], ''],
      ['E\u0000c', 'last'],
    ]);
    const store = await Store.open(level, folder, root);
    expect(store.entry(keys[1]!)).to.equal('');
    await store.close();
  });

  it('changes no file if CURRENT is missing: LevelDB would create a database and remove the tables', async () => {
    const other = join(folder, 'other');
    for (const value of ['1', '2']) {
      const made = await openLevel(other);
      await writeBatch(
        made,
        () => {},
        () => ['key', value],
      );
      await made.close();
    }
    const files = (): string[] => readdirSync(other).sort();
    const current = readFileSync(join(other, 'CURRENT'));
    rmSync(join(other, 'CURRENT'));
    const before = files();
    expect(before.some((name) => name.endsWith('.ldb'))).to.equal(true);
    const error = await openLevel(other).catch((thrown: unknown) => thrown);
    expect(String(error)).to.match(/its file CURRENT is missing\. Nothing was changed/);
    // What it began in the thread pool ends before this.
    await (await openLevel(join(folder, 'third'))).close();
    expect(files()).to.deep.equal(before);
    writeFileSync(join(other, 'CURRENT'), current);
    const again = await openLevel(other);
    expect(await again.get('key')).to.equal('2');
    await again.close();
  });

  it('leaves no iterator open after 20 000 reads of a graph (quadstore leaves 20 000)', async function () {
    this.timeout(60_000);
    const store = await Store.open(level, folder, root);
    await ensureRoot(store, root, 1);
    const iri = `${root}a`;
    const keys = encodeGraph(iri, [f.quad(f.namedNode(iri), f.namedNode('http://v/p'), f.literal('x'))]);
    const counter = countIterators(level);
    await writeBatch(
      level,
      (batch) => {
        for (const key of keys) batch.put(key, '');
      },
      () => [
        `R\u0000${root}\u0000a`,
        JSON.stringify({ kind: 'rdf', revision: 'r', size: 1, triples: 1, modified: 1, created: 1 }),
      ],
    );
    for (let i = 0; i < 20_000; i++) {
      // Larger than the cache, which would avoid the read.
      (store as unknown as { graphs: { cache: { clear(): void } } }).graphs.cache.clear();
      expect((await store.graph(iri))!.keys).to.have.length(1);
    }
    expect(counter.made()).to.be.at.least(20_000);
    expect(counter.open()).to.equal(0);
  });

  it('closes the iterator if the consumer stops early or throws', async () => {
    await level.batch(Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: `k${i}`, value: '' })));
    const counter = countIterators(level);
    for await (const _ of keyBlocks(level, { gte: 'k', lt: 'l' })) break;
    const failing = async (): Promise<void> => {
      for await (const _ of entryBlocks(level, { gte: 'k', lt: 'l' })) throw new Error('stop');
    };
    await failing().catch(() => {});
    expect(counter.made()).to.be.at.least(2);
    expect(counter.open()).to.equal(0);
  });

  it('throws a read error instead of ending the iteration (quadstore returns a truncated array)', async () => {
    const store = await Store.open(level, folder, root);
    await level.put(`R\u0000${root}\u0000a`, JSON.stringify({ kind: 'rdf', revision: 'r' }));
    const keys = level.keys.bind(level) as (options: object) => { nextv(size: number): Promise<string[]> };
    level.keys = ((options: object) => {
      const iterator = keys(options);
      iterator.nextv = () => Promise.reject(new Error('Corruption: block checksum mismatch'));
      return iterator;
    }) as never;
    let message = '';
    await store.graph(`${root}a`).catch((error: Error) => {
      message = error.message;
    });
    expect(message).to.contain('Corruption');
  });

  it('continues after a short block: only an empty one is the end', async () => {
    const long = 'x'.repeat(400);
    await level.batch(Array.from({ length: 5000 }, (_, i) => ({ type: 'put', key: `k${i}${long}`, value: '' })));
    const blocks: number[] = [];
    for await (const keys of keyBlocks(level, { gte: 'k', lt: 'l' })) blocks.push(keys.length);
    expect(blocks.reduce((sum, length) => sum + length)).to.equal(5000);
    expect(Math.min(...blocks)).to.be.below(1000);
  });
});
