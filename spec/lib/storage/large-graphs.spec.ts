/** Large graphs in the store: packed keys, parts of graphs, and graphs that are hidden while they are written or removed. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { Parser } from 'n3';
import { isWellFormed } from '../../../lib/rdf/iri.js';
import { largeGraph, sizeOfLines } from '../../../lib/storage/graphs/graph-lines.js';
import { stagedKey } from '../../../lib/storage/graphs/staged-keys.js';
import { blockDifference, difference, overlay } from '../../../lib/storage/keys/graph-changes.js';
import { allOf, blocksOf, type GraphKeys, packKeys } from '../../../lib/storage/keys/graph-keys.js';
import { sortKeys } from '../../../lib/storage/keys/key-order.js';
import { KeyRuns } from '../../../lib/storage/keys/key-runs.js';
import { encodeGraph, graphPrefix } from '../../../lib/storage/keys/quad-keys.js';
import { metaKey, newRevision, type ResourceRecord, rangeOf } from '../../../lib/storage/keys/records.js';
import { keyBlocks } from '../../../lib/storage/level/durable-level.js';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import { quadsOf } from '../../../lib/storage/transactions/quads.js';
import { StagedGraphs } from '../../../lib/storage/transactions/staged-graphs.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

const key = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '\u0000', 'é', '\uffff', '😀', '😁') }),
  fc.string({ unit: 'binary' }).filter(isWellFormed),
);
/** Number of quads that are not staged. */
async function countOf({ level }: MemoryStore): Promise<number> {
  let count = 0;
  for await (const _ of quadsOf(level).match() as unknown as AsyncIterable<unknown>) count++;
  return count;
}

const keySet = fc.uniqueArray(key, { maxLength: 60 }).map((keys) => sortKeys([...keys]));
const collected = async (blocks: AsyncIterable<readonly string[]>): Promise<string[]> => {
  const found: string[] = [];
  for await (const block of blocks) found.push(...block);
  return found;
};

describe('Keys of large graphs', () => {
  it('are unchanged by packing, and are found in packed form', () => {
    fc.assert(
      fc.property(keySet, key, fc.integer({ min: 1, max: 7 }), (keys, other, atATime) => {
        const packed = packKeys(keys, atATime);
        expect(allOf(packed)).to.deep.equal(keys);
        for (const each of [...keys, other]) expect(packed.has(each)).to.equal(keys.includes(each));
      }),
    );
  });

  it('are sorted and deduplicated in runs', () => {
    const runs = new KeyRuns();
    const keys = Array.from({ length: 100_000 }, (_, i) => `k${(i * 7919) % 50_021}`);
    for (const each of keys) runs.add(each);
    const taken: string[] = [];
    const merged = runs.merged((each) => taken.push(each));
    const expected = sortKeys([...new Set(keys)]);
    expect(merged.length).to.equal(expected.length);
    expect(allOf(merged)).to.deep.equal(expected);
    expect(taken).to.deep.equal(expected);
  });

  it('have the same difference in blocks as in whole', async () => {
    await fc.assert(
      fc.asyncProperty(keySet, keySet, fc.integer({ min: 1, max: 9 }), async (before, after, atATime) => {
        const found = await blockDifference(blocksOf(packKeys(before, atATime)), blocksOf(packKeys(after, atATime)));
        expect(found).to.deep.equal({ ...difference(before, after), before: before.length });
      }),
    );
  });

  it('are overlaid with changes, committed to disk or not', async () => {
    const step = fc.tuple(keySet, keySet).map(([removed, added]) => ({
      removed: removed.filter((each) => !added.includes(each)),
      added,
      keys: undefined,
      isPart: true,
    }));
    await fc.assert(
      fc.asyncProperty(keySet, fc.array(step, { maxLength: 4 }), fc.nat(4), async (keys, steps, stored) => {
        const changed = (from: readonly string[], changes: typeof steps): string[] => {
          const state = new Set(from);
          for (const { removed, added } of changes) {
            for (const each of removed) state.delete(each);
            for (const each of added) state.add(each);
          }
          return sortKeys([...state]);
        };
        const disk = changed(keys, steps.slice(0, stored));
        expect(await collected(overlay([disk], steps))).to.deep.equal(changed(keys, steps));
      }),
    );
  });
});

describe('Hidden graphs', () => {
  let memory: MemoryStore;
  const iri = `${root}large`;
  const load = async (store: MemoryStore['store'], keys: GraphKeys): Promise<boolean> =>
    (await store.loadGraphs(new Map([[iri, keys]]))).has(iri);
  const keysOf = (count: number): string[] => {
    let text = '';
    for (let i = 0; i < count; i++) text += `<http://e.example/${i}> <http://e.example/p> ${i} .\n`;
    return encodeGraph(iri, new Parser().parse(text) as unknown as Quad[]);
  };
  const record = (triples: number): ResourceRecord => ({
    iri,
    kind: 'rdf',
    mediaType: 'text/turtle',
    revision: newRevision(),
    size: 10,
    created: 1,
    modified: 1,
    triples,
  });
  const create = (keys: ReturnType<typeof packKeys>): Promise<void> =>
    memory.store.transact((tx) => {
      if (tx.isLoaded(iri, keys)) tx.publishGraph(iri, keys);
      else tx.putGraph(iri, [], allOf(keys));
      const parent = tx.record(root)!;
      tx.putRecord(record(keys.length));
      tx.putRecord({ ...parent, members: (parent.members ?? 0) + 1 });
    });
  const drop = (): Promise<void> =>
    memory.store.transact((tx) => {
      const parent = tx.record(root)!;
      const { triples = 0 } = tx.record(iri)!;
      tx.dropGraph(iri, triples);
      tx.deleteRecord(tx.record(iri)!);
      tx.putRecord({ ...parent, members: (parent.members ?? 1) - 1 });
    });
  beforeEach(async () => {
    memory = await memoryStore();
  });
  afterEach(async () => {
    expect((await checkStore(memory.store)).faults).to.deep.equal([]);
    await memory.dispose();
  });

  it('are visible from their transaction on, until the one that drops them', async () => {
    const { store } = memory;
    const keys = packKeys(keysOf(5_000));
    expect(await load(store, keys)).to.equal(true);
    expect(store.entry(stagedKey(iri))).to.match(/^loading /);
    expect((await checkStore(store)).faults).to.deep.equal([]);
    expect(await countOf(memory)).to.equal(0);
    await create(keys);
    expect(await countOf(memory)).to.equal(keys.length);
    expect((await store.graph(iri))!.keys).to.deep.equal(allOf(keys));
    await drop();
    expect(await store.graph(iri)).to.equal(undefined);
    expect(await countOf(memory)).to.equal(0);
    // The name is available at once. A new graph with it waits until the rest of the old one is removed.
    const next = packKeys(keysOf(3));
    await create(next);
    expect((await store.graph(iri))!.keys).to.deep.equal(allOf(next));
    expect(store.entry(stagedKey(iri))).to.equal(undefined);
  });

  it('are removed if no transaction makes them visible, by the next start too', async () => {
    const keys = packKeys(keysOf(5_000));
    await load(memory.store, keys);
    // As after a crash: their outcome was not recorded.
    await memory.store.close();
    memory = await memory.reopen();
    await create(packKeys(keysOf(2)));
    expect((await memory.store.graph(iri))!.keys).to.have.length(2);
    const other = packKeys(keysOf(4_000));
    expect(await load(memory.store, other)).to.equal(false);
    await drop();
    expect(await load(memory.store, other)).to.equal(true);
    memory.store.dropLoaded(iri, other);
    await create(packKeys(keysOf(1)));
    expect((await memory.store.graph(iri))!.keys).to.have.length(1);
  });

  it('are not written further after they were removed as abandoned', async () => {
    const { store } = memory;
    const keys = packKeys(keysOf(20_000));
    const loading = load(store, keys).then(
      () => 'loaded',
      (error: { code?: string }) => error.code,
    );
    while (!store.entry(stagedKey(iri))) await new Promise((resolve) => setImmediate(resolve));
    store.dropLoaded(iri, keys);
    expect(await loading).to.equal('too-busy');
    await create(packKeys(keysOf(2)));
    expect(await countOf(memory)).to.equal(2);
  });

  it('are removed once if another server continues the removal', async () => {
    const { store } = memory;
    const keys = packKeys(keysOf(20_000));
    await load(store, keys);
    await create(keys);
    const starting = new StagedGraphs({
      level: memory.level,
      isShared: true,
      assertSpace: async () => {},
      transact: (work, { frees }) => store.transact(work, { frees }),
    });
    await drop();
    await starting.open();
    await store.nameFree(iri);
    await starting.close();
    expect(await collected(keyBlocks(memory.level, rangeOf(graphPrefix(iri))))).to.deep.equal([]);
  });

  it('recompute sizes of an earlier version once, with another tag', async () => {
    const keys = packKeys(keysOf(largeGraph + 1));
    await load(memory.store, keys);
    await create(keys);
    const { revision, size } = memory.store.record(iri)!;
    const bytes = memory.store.bytes;
    await memory.level.put(metaKey('version'), '1');
    await memory.store.close();
    memory = await memory.reopen();
    const counted = memory.store.record(iri)!;
    expect(counted.size).to.equal(sizeOfLines(allOf(keys)));
    expect(counted.revision).not.to.equal(revision);
    expect(memory.store.bytes).to.equal(bytes + counted.size - size);
    await memory.store.close();
    memory = await memory.reopen();
    expect(memory.store.record(iri)).to.deep.equal(counted);
  });

  it('let transactions of one group commit see each other’s parts', async () => {
    const { store } = memory;
    const keys = packKeys(keysOf(3_000));
    await load(store, keys);
    const [first, second, third, fourth] = encodeGraph(
      iri,
      new Parser().parse('<http://n.example/1> <http://e.example/p> 1,2,3,4 .') as unknown as Quad[],
    ) as [string, string, string, string];
    const change = (added: readonly string[], removed: readonly string[]) =>
      store.transact(async (tx) => {
        const before = tx.record(iri)!;
        const had = await tx.before.hasKeys(before, [...added, ...removed]);
        const { triples = 0 } = before;
        tx.changeGraph(iri, { added, removed }, triples);
        tx.putRecord({ ...before, triples: triples + added.length - removed.length, revision: newRevision() });
        return had;
      });
    const answers = await Promise.all([
      create(keys),
      change([first, second], []),
      change([third], [first]),
      change([fourth, first], [second]),
      store.transact(async (tx) => collected(tx.before.graphBlocks(tx.record(iri)!, ''))),
    ]);
    expect(answers.slice(1, 4)).to.deep.equal([
      [false, false],
      [false, true],
      [false, false, true],
    ]);
    const expected = sortKeys([...allOf(keys), first, third, fourth]);
    expect(answers[4]).to.deep.equal(expected);
    expect((await store.graph(iri))!.keys).to.deep.equal(expected);
  });
});
