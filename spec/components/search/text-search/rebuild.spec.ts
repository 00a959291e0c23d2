/** Rebuild of the text index while resources change: the index then has exactly the entries of the final state (rule 13.13). */
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { BackgroundRebuild } from '../../../../components/search/postings/background-rebuild.js';
import { PostingLists } from '../../../../components/search/postings/posting-lists.js';
import { documentPostings, textPostings } from '../../../../components/search/text-search/entries.js';
import { indexTexts, textIndex } from '../../../../components/search/text-search/indexer.js';
import { search } from '../../../../components/search/text-search/search.js';
import { parseTerms } from '../../../../components/search/text-search/terms.js';
import { packKeys } from '../../../../lib/storage/keys/graph-keys.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { entryKey, newRevision, type ResourceRecord } from '../../../../lib/storage/keys/records.js';
import type { Store } from '../../../../lib/storage/transactions/store.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';
import { enough } from '../../../support/speed.js';
import { scan } from '../../../support/text-oracle.js';

const factory = new DataFactory();
const words = 'network networks neural neuron cat cats run running'.split(' ');
const never = new AbortController().signal;
const rebuildOf = (store: Store): BackgroundRebuild => {
  const rebuild = new BackgroundRebuild(textIndex, store);
  store.onTransaction(rebuild.listener((tx) => indexTexts(store, tx)));
  return rebuild;
};

const keysOf = (iri: string, texts: readonly string[]): string[] =>
  encodeGraph(
    iri,
    texts.map((text, at) =>
      factory.quad(factory.namedNode(`urn:s${at}`), factory.namedNode('urn:p'), factory.literal(text, 'en')),
    ) as never,
  ).sort();

/** A storage with an index of an earlier format, and the texts that its resources have. */
class Texts {
  readonly known = new Map<string, readonly string[]>();

  constructor(private readonly store: Store) {}

  async put(iri: string, texts: readonly string[]): Promise<void> {
    const [before, after] = [this.known.get(iri), keysOf(iri, texts)];
    await this.store.transact((tx) => {
      const record = tx.record(iri);
      const next = recordOf(iri, after.length);
      tx.putGraph(iri, before ? keysOf(iri, before) : [], after);
      tx.putRecord(next);
      tx.changed(record ? { before: record, after: next } : { after: next });
    });
    this.known.set(iri, texts);
  }

  /** Deletes a resource, or gives it another name. */
  async remove(iri: string, name?: string): Promise<void> {
    const texts = this.known.get(iri)!;
    await this.store.transact((tx) => {
      const before = tx.record(iri)!;
      tx.putGraph(iri, keysOf(iri, texts), []);
      tx.deleteRecord(before);
      tx.changed({ before });
      if (name === undefined) return;
      const after = recordOf(name, texts.length);
      tx.putGraph(name, [], keysOf(name, texts));
      tx.putRecord(after);
      tx.changed({ after });
    });
    this.known.delete(iri);
    if (name !== undefined) this.known.set(name, texts);
  }
}

const recordOf = (iri: string, triples: number): ResourceRecord => ({
  ...{ iri, kind: 'rdf', mediaType: 'text/turtle', size: 0, revision: newRevision(), created: 1, modified: 1, triples },
});
const some = (): string => words[Math.floor(Math.random() * words.length)]!;
const textsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `${some()} ${some()} w${at}`);

describe('Rebuild of the text index beside changes', function () {
  this.timeout(120_000);
  let memory: MemoryStore;
  let store: Store;
  let texts: Texts;

  beforeEach(async () => {
    memory = await memoryStore();
    store = memory.store;
    texts = new Texts(store);
    for (let i = 0; i < 150; i++) await texts.put(`${root}r${100 + i}`, textsOf(20));
    await store.transact((tx) => {
      tx.putEntry(entryKey('text-state'), `2 ${process.versions['unicode']}`);
      // Not of the form of this format.
      tx.putEntry(entryKey('text-words', `${root}r100`), 'earlier');
      tx.putEntry(entryKey('text', 'straße', `${root}r100`, 'n', '0'), '');
    });
  });
  afterEach(() => memory.dispose());

  /** Resolves after the first resources are indexed. */
  async function filled(): Promise<void> {
    while (!store.entry(entryKey('text-words', `${root}r120`))) await new Promise((resolve) => setImmediate(resolve));
  }
  async function expectIndexed(): Promise<void> {
    expect(textIndex.isComplete(store)).to.equal(true);
    for await (const fault of textIndex.faultsOf(store)) expect.fail(fault);
    const authorizer = { readScope: () => 'everything', callerClass: async () => 'known' };
    const index = {
      ...{ storage: { store, authorizer } as never, access: {} as never },
      texts: new PostingLists(store, textPostings, 1 << 20),
      documents: new PostingLists(store, documentPostings, 1 << 20),
    };
    const nameOf = (iri: string): string => iri.slice(root.length);
    const all = [[root, []] as const, ...texts.known].map(([iri, own]) => ({
      iri,
      texts: [...own.map((text) => ({ text, language: 'en' })), { text: nameOf(iri), language: '' }],
    }));
    for (const word of words) {
      const { items, total } = await search(
        index,
        { terms: parseTerms(word), from: 0, count: 1_000 },
        async (found) => found,
      );
      const wanted = scan(all, { terms: [word] });
      expect(total, word).to.equal(wanted.length);
      expect(items.map(({ iri }) => iri)).to.have.members(wanted.map(({ iri }) => iri));
    }
  }

  it('indexes writes, deletions and moves before and after the resource that it reads', async () => {
    const large = `${root}r175`;
    await texts.put(large, textsOf(4_000));
    const rebuild = rebuildOf(store);
    let isRunning = true;
    const run = rebuild
      .run(() => {}, never)
      .finally(() => {
        isRunning = false;
      });
    let changes = 0;
    for (let step = 0; isRunning; step++) {
      expect(rebuild.secondsLeft).to.be.within(1, 60);
      const existing = [...texts.known.keys()].filter((iri) => iri !== large);
      const one = existing[Math.floor(Math.random() * existing.length)]!;
      // Its entries take several transactions, between which it changes.
      if (step % 4 === 0) await texts.put(large, [...texts.known.get(large)!.slice(1), `${some()} at ${step}`]);
      else if (step % 4 === 1) await texts.put(one, textsOf(1 + (step % 30)));
      else if (step % 4 === 2) await texts.put(`${root}${Math.random() < 0.5 ? 'a' : 'z'}${step}`, textsOf(5));
      else await texts.remove(one, step % 8 === 3 ? `${root}${step % 16 === 3 ? 'b' : 'y'}${step}` : undefined);
      changes++;
    }
    await run;
    expect(changes).to.be.above(enough(10));
    expect(rebuild.isComplete).to.equal(true);
    await expectIndexed();
  });

  it('indexes a graph whose first slices were written before', async () => {
    const rebuild = rebuildOf(store);
    const iri = `${root}loaded`;
    const own = Array.from({ length: 25_000 }, (_, at) => `cat w${at}`);
    const keys = packKeys(keysOf(iri, own));
    expect((await store.loadGraphs(new Map([[iri, keys]]))).has(iri)).to.equal(true);
    const run = rebuild.run(() => {}, never);
    await filled();
    await store.transact((tx) => {
      const after = recordOf(iri, own.length);
      tx.publishGraph(iri, keys);
      tx.putRecord(after);
      tx.changed({ after });
    });
    texts.known.set(iri, own);
    await run;
    await expectIndexed();
  });

  it('begins again after an interruption, and not if the index is complete', async () => {
    const stop = new AbortController();
    const stopped = rebuildOf(store)
      .run(() => {}, stop.signal)
      .catch((error: Error) => error.message);
    await filled();
    stop.abort(new Error('stopped'));
    expect(await stopped).to.equal('stopped');
    expect(textIndex.isComplete(store)).to.equal(false);
    memory = await memory.reopen();
    store = memory.store;
    texts = Object.assign(new Texts(store), { known: texts.known });
    const rebuild = rebuildOf(store);
    expect(rebuild.isComplete).to.equal(false);
    // Not indexed: the entries of the interrupted rebuild go first.
    await texts.put(`${root}r110`, textsOf(3));
    expect(await rebuild.run(() => {}, never)).to.equal(texts.known.size + 1);
    await expectIndexed();
    expect(new BackgroundRebuild(textIndex, store).isComplete).to.equal(true);
  });
});
