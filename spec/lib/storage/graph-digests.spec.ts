/** Digests of graphs: deleted triples that are put back by hand, as LevelDB does (decision 168), never reach a reader. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { comparedBlocks, digestIn } from '../../../lib/storage/graphs/graph-digests.js';
import { largeGraph } from '../../../lib/storage/graphs/graph-lines.js';
import { allOf, packKeys } from '../../../lib/storage/keys/graph-keys.js';
import { KeyDigest, textsOf } from '../../../lib/storage/keys/key-digest.js';
import { encodeGraph, graphPrefix } from '../../../lib/storage/keys/quad-keys.js';
import {
  newRevision,
  type ResourceRecord,
  rangeOf,
  recordKey,
  writeRecord,
} from '../../../lib/storage/keys/records.js';
import { keyBlocks } from '../../../lib/storage/level/durable-level.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

const iri = `${root}graph`;
const keysOf = (from: number, to: number): string[] => {
  let text = '';
  for (let i = from; i < to; i++) text += `<http://e.example/${i}> <http://e.example/p> "é${i}" .\n`;
  return encodeGraph(iri, new Parser().parse(text) as unknown as Quad[]);
};

/** Reads the keys in LevelDB. */
async function stored({ level }: MemoryStore): Promise<string[]> {
  const found: string[] = [];
  for await (const block of keyBlocks(level, rangeOf(graphPrefix(iri)))) found.push(...block);
  return found;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof LwsError) return error.code;
    throw error;
  }
  return 'none';
}

describe('Digests of keys', () => {
  it('has the value that storages already contain', () => {
    expect(KeyDigest.of(['hello']).toString()).to.equal('WoTuZ-hGX8FAY7RYo2OivA');
  });

  it('does not depend on the order, and long texts and those of several bytes count', () => {
    const texts = ['a', 'b', 'é', '😀', 'x'.repeat(20_000), `${'x'.repeat(20_000)}y`, ''];
    const all = KeyDigest.of(texts).toString();
    expect(KeyDigest.of(texts.toReversed()).toString()).to.equal(all);
    expect(new Set(texts.map((text) => KeyDigest.of([text]).toString()))).to.have.property('size', texts.length);
    expect(KeyDigest.read(all).toggle(texts).isZero).to.equal(true);
  });

  for (const count of [1, 2, 3])
    it(`names ${count} texts that only one of two sets has, and no text of a set that lacks them`, () => {
      const texts = Array.from({ length: 300 }, (_, at) => `text ${at}`);
      const wanted = [texts[7]!, texts[100]!, texts[299]!].slice(0, count);
      expect(textsOf(KeyDigest.of(wanted), texts, count)).to.have.members(wanted);
      expect(textsOf(KeyDigest.of(['other']), texts, count)).to.equal(undefined);
    });
});

describe('Graphs with digests', () => {
  let memory: MemoryStore;
  const put = (after: readonly string[]): Promise<void> =>
    memory.store.transact(async (tx) => {
      const before = tx.record(iri);
      tx.putGraph(iri, before ? await tx.before.graph(before) : [], after);
      const facts = { mediaType: 'text/turtle', size: 10, created: 1, modified: 1, triples: after.length };
      tx.putRecord({ iri, kind: 'rdf', revision: newRevision(), ...facts });
      if (!before) tx.putRecord({ ...tx.record(root)!, members: (tx.record(root)!.members ?? 0) + 1 });
    });
  const putLarge = async (after: readonly string[]): Promise<void> => {
    const keys = packKeys(after);
    await memory.store.loadGraphs(new Map([[iri, keys]]));
    await memory.store.transact((tx) => {
      tx.publishGraph(iri, keys);
      const facts = { mediaType: 'text/turtle', size: 10, created: 1, modified: 1, triples: after.length };
      tx.putRecord({ iri, kind: 'rdf', revision: newRevision(), ...facts });
      tx.putRecord({ ...tx.record(root)!, members: (tx.record(root)!.members ?? 0) + 1 });
    });
  };
  const change = (added: readonly string[], removed: readonly string[]): Promise<void> =>
    memory.store.transact((tx) => {
      const before = tx.record(iri)!;
      const { triples = 0 } = before;
      tx.changeGraph(iri, { added, removed }, triples);
      tx.putRecord({ ...before, triples: triples + added.length - removed.length, revision: newRevision() });
    });
  const restart = async (): Promise<void> => {
    await memory.store.close();
    memory = await memory.reopen();
  };
  beforeEach(async () => {
    memory = await memoryStore();
  });
  afterEach(() => memory.dispose());

  for (const count of [1, 2, 3])
    it(`drops ${count} returned triples from the answer and removes them (rule 10.11)`, async () => {
      const { store } = memory;
      await put(keysOf(0, 20));
      const { quads } = store.commits.counts;
      await restart();
      for (const key of keysOf(50, 50 + count)) await memory.level.put(key, '');
      expect((await memory.store.graph(iri))!.keys).to.deep.equal(keysOf(0, 20));
      await memory.store.transact(() => {});
      expect(await stored(memory)).to.deep.equal(keysOf(0, 20));
      expect(memory.store.returned.counts.quads).to.equal(count);
      expect(memory.store.commits.counts.quads).to.equal(quads);
      await restart();
      expect((await memory.store.graph(iri))!.keys).to.deep.equal(keysOf(0, 20));
      expect(memory.store.returned.counts.quads).to.equal(0);
    });

  it('keeps the digest through replacements, patches and changes of the record alone', async () => {
    const digest = (): string => digestIn(memory.store.record(iri)!)!.toString();
    const of = (keys: readonly string[]): string => KeyDigest.of(keys).toString();
    await put(keysOf(0, 20));
    expect(digest()).to.equal(of(keysOf(0, 20)));
    await put(keysOf(5, 30));
    expect(digest()).to.equal(of(keysOf(5, 30)));
    await put(keysOf(5, 29));
    expect(digest()).to.equal(of(keysOf(5, 29)));
    await change(keysOf(40, 42), keysOf(5, 6));
    expect(digest()).to.equal(of([...keysOf(6, 29), ...keysOf(40, 42)]));
    await memory.store.transact((tx) => tx.putRecord({ ...tx.record(iri)!, revision: newRevision(), modified: 2 }));
    expect(digest()).to.equal(of([...keysOf(6, 29), ...keysOf(40, 42)]));
  });

  it('does not return a graph that lacks a triple, but replaces it (rule 10.11)', async () => {
    await put(keysOf(0, 20));
    await restart();
    await memory.level.del(keysOf(3, 4)[0]!);
    expect(await codeOf(memory.store.graph(iri))).to.equal('damaged-content');
    expect(await codeOf(memory.store.transact(async (tx) => tx.before.graph(tx.record(iri)!)))).to.equal(
      'damaged-content',
    );
  });

  it('does not compare graphs of earlier versions, which get a digest when they are replaced (rule 10.11)', async () => {
    await put(keysOf(0, 20));
    const earlier: ResourceRecord = { ...memory.store.record(iri)!, digest: undefined };
    await memory.level.put(recordKey(iri), writeRecord(earlier));
    await restart();
    await change(keysOf(30, 31), []);
    expect(memory.store.record(iri)!.digest).to.equal(undefined);
    // An earlier version keeps the digest with another revision.
    await put(keysOf(0, 20));
    await memory.level.put(recordKey(iri), writeRecord({ ...memory.store.record(iri)!, revision: newRevision() }));
    await restart();
    await memory.level.put(keysOf(40, 41)[0]!, '');
    expect((await memory.store.graph(iri))!.keys).to.have.length(21);
  });

  it('never ends the blocks of a large graph with a returned triple, and removes it (rule 10.11)', async () => {
    const keys = keysOf(0, largeGraph + 10);
    await putLarge(keys);
    await restart();
    await change(keysOf(largeGraph + 20, largeGraph + 21), keysOf(0, 1));
    const { store, level } = memory;
    const record = store.record(iri)!;
    const read = async (): Promise<string[]> => {
      const found: string[] = [];
      const blocks = comparedBlocks(
        record,
        () => keyBlocks(level, rangeOf(graphPrefix(iri))),
        (returned) => store.returned.remove(returned),
      );
      for await (const block of blocks) found.push(...block);
      return found;
    };
    const whole = await read();
    expect(new Set(whole)).to.deep.equal(
      new Set([...keys, ...keysOf(largeGraph + 20, largeGraph + 21)].filter((key) => key !== keysOf(0, 1)[0])),
    );
    await level.put(keysOf(0, 1)[0]!, '');
    expect(await codeOf(read())).to.equal('too-busy');
    await store.transact(() => {});
    expect(await read()).to.deep.equal(whole);
    await level.del(allOf(keys)[5]!);
    expect(await codeOf(read())).to.equal('damaged-content');
  });
});
