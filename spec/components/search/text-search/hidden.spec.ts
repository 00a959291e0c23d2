/** Keys that searches read for hidden and for absent words: their number is the same, so that time reveals no hidden text (rule 13.10). */
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { PostingLists } from '../../../../components/search/postings/posting-lists.js';
import { documentPostings, textPostings, wordsSpace } from '../../../../components/search/text-search/entries.js';
import { indexTexts, textIndex } from '../../../../components/search/text-search/indexer.js';
import { labelsOf, labelsWith } from '../../../../components/search/text-search/labels.js';
import { literalsOf } from '../../../../components/search/text-search/literals.js';
import { search } from '../../../../components/search/text-search/search.js';
import type { TextIndex } from '../../../../components/search/text-search/searched.js';
import { parseTerms } from '../../../../components/search/text-search/terms.js';
import type { Question, ReadScope } from '../../../../lib/authorization/authorizer.js';
import { only, subtree, unionOfRanges } from '../../../../lib/storage/keys/iri-ranges.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { entryKey, type ResourceRecord } from '../../../../lib/storage/keys/records.js';
import type { Level } from '../../../../lib/storage/level/durable-level.js';
import { ownedSpace } from '../../../../lib/storage/level/owned-entries.js';
import type { Store } from '../../../../lib/storage/transactions/store.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';

const factory = new DataFactory();
const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const [open, secret] = [`${root}open/`, `${root}secret/`];
const scopes: Readonly<Record<string, ReadScope>> = {
  nothing: 'nothing',
  'a container': { ranges: [subtree(open)] },
  'two containers around a hidden one': { ranges: [subtree(open), subtree(`${root}tail/`)] },
  'resources that it owns': { owner: 'urn:alice', ranges: [] },
};

async function put(store: Store, iri: string, texts: readonly string[], owner?: string): Promise<void> {
  const keys = encodeGraph(
    iri,
    texts.map((text, at) =>
      factory.quad(factory.namedNode(`urn:s${at % 20}`), factory.namedNode(label), factory.literal(text)),
    ) as never,
  ).sort();
  const base = { iri, kind: 'rdf', mediaType: 'text/turtle', size: 0, revision: 'r', created: 1, modified: 1 } as const;
  const record: ResourceRecord = { ...base, triples: keys.length, ...(owner === undefined ? {} : { owner }) };
  await store.transact((tx) => {
    tx.putGraph(iri, [], keys);
    tx.putRecord(record);
    tx.changed({ after: record });
    if (owner !== undefined) tx.putEntry(entryKey(ownedSpace, owner, iri), '[]');
  });
}

/** Counts the keys and entries that are read. */
function counted(level: Level): () => number {
  let count = 0;
  const counting = (name: 'keys' | 'iterator'): void => {
    const make = (level[name] as (...given: unknown[]) => { nextv(size: number): Promise<unknown[]> }).bind(level);
    (level as unknown as Record<string, unknown>)[name] = (...given: unknown[]) => {
      const iterator = make(...given);
      const nextv = iterator.nextv.bind(iterator);
      iterator.nextv = async (size) => {
        const found = await nextv(size);
        count += found.length;
        return found;
      };
      return iterator;
    };
  };
  counting('keys');
  counting('iterator');
  const getMany = level.getMany.bind(level) as (...given: unknown[]) => Promise<unknown[]>;
  (level as unknown as Record<string, unknown>)['getMany'] = (...given: [unknown[]]) => {
    count += given[0].length;
    return getMany(...given);
  };
  return () => count;
}

describe('Searches for hidden and for absent words', function () {
  this.timeout(60_000);
  let memory: MemoryStore;
  let read: () => number;
  let [texts, documents]: PostingLists[] = [];

  before(async () => {
    memory = await memoryStore();
    const { store } = memory;
    await textIndex.rebuild(store, () => {});
    store.onTransaction((tx) => indexTexts(store, tx));
    for (let i = 0; i < 30; i++)
      await put(
        store,
        `${secret}n${i}`,
        Array.from({ length: 100 }, (_, j) => `hidden of hid${i}x${j}`),
      );
    for (let i = 0; i < 20; i++) {
      await put(store, `${open}${i}`, [`seen word ${i}`], 'urn:alice');
      await put(store, `${root}tail/${i}`, [`seen word ${i}`]);
    }
    read = counted(store.level);
  });
  beforeEach(async () => {
    texts = new PostingLists(memory.store, textPostings, 1 << 24);
    documents = new PostingLists(memory.store, documentPostings, 1 << 24);
    // Reads the list of all resources into the cache.
    await total('everything', 'other');
  });
  after(() => memory.dispose());

  const indexOf = (scope: ReadScope): TextIndex => ({
    storage: {
      store: memory.store,
      authorizer: {
        readScope: () => scope,
        callerClass: async () => 'known',
        finds: ({ iri }: Question) => iri.startsWith(open),
      } as never,
    },
    access: {} as never,
    ...{ texts: texts!, documents: documents! },
  });
  const total = (scope: ReadScope, query: string): Promise<number> =>
    search(indexOf(scope), { terms: parseTerms(query), from: 0, count: 10 }, async (found) => found.total);
  async function keysOf(work: () => Promise<unknown>): Promise<number> {
    // Reads into the cache end first.
    const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    await settled();
    const before = read();
    await work();
    await settled();
    return read() - before;
  }

  const queries: Readonly<Record<string, readonly [hidden: string, absent: string]>> = {
    'a word': ['hidden', 'absent'],
    'a word, and another one': ['word hidden', 'word absent'],
    'a phrase': ['"hidden of"', '"absent of"'],
    'a beginning': ['hid*', 'abs*'],
    'beginnings of each other': ['hi* hid* hid1* hid1x*', 'ab* abs* abs1* abs1x*'],
  };
  for (const [caller, scope] of Object.entries(scopes))
    for (const [what, [hidden, absent]] of Object.entries(queries))
      it(`read the same keys for ${what}, for a caller that can read ${caller}`, async () => {
        for (const when of ['first', 'again', 'after a search of a caller that can read everything']) {
          if (when.startsWith('after'))
            for (const query of [hidden, absent]) await total('everything', query.replaceAll('*', ''));
          const counts: number[] = [];
          for (const query of [hidden, absent])
            counts.push(await keysOf(async () => expect(await total(scope, query)).to.equal(0)));
          expect(counts[0], when).to.equal(counts[1]);
        }
        expect(await total('everything', hidden.replace('word ', '').replace(/hi.*\*/, 'hid12x*'))).to.be.above(0);
      });

  for (const [caller, scope] of Object.entries(scopes))
    it(`read the same keys for text:query and labels, for a caller that can read ${caller} (rule 13.12)`, async () => {
      const index = indexOf(scope);
      const literals = (query: string) => () => literalsOf(index, { terms: parseTerms(query), limit: 10 });
      expect(await keysOf(literals('hidden'))).to.equal(await keysOf(literals('absent')));
      // Of 30 hidden graphs with 100 labels of 20 subjects.
      const labels =
        (...iris: readonly string[]) =>
        async () =>
          expect((await labelsOf(index, iris, [])).flatMap((found) => found.labels)).to.deep.equal([]);
      expect(await keysOf(labels('urn:s7'))).to.equal(await keysOf(labels('urn:s7x')));
      // Others are between them in the order of the keys.
      const [subjects, others] = ['', 'x'].map((end) => Array.from({ length: 8 }, (_, i) => `urn:s${i + 1}${end}`));
      expect(await keysOf(labels(...subjects!))).to.equal(await keysOf(labels(...others!)));
      const completions = (start: string) => async () =>
        expect(await labelsWith(index, start, undefined)).to.deep.equal([]);
      expect(await keysOf(completions('hidden of'))).to.equal(await keysOf(completions('absent of')));
    });

  it('read the same keys for words, beginnings and completions, for a caller with more than 2 000 ranges (rule 13.12)', async () => {
    const others = Array.from({ length: 2_500 }, (_, at) => only(`${root}z${at}`));
    const scope: ReadScope = { ranges: unionOfRanges([subtree(open), ...others]) };
    const completions = (start: string) => labelsWith(indexOf(scope), start, undefined);
    const reads = async (word: string): Promise<readonly number[]> => [
      await keysOf(async () => expect(await total(scope, word)).to.equal(0)),
      await keysOf(async () => expect(await total(scope, `${word.slice(0, 3)}*`)).to.equal(0)),
      await keysOf(async () => expect(await completions(`${word} of`)).to.deep.equal([])),
    ];
    expect(await reads('hidden')).to.deep.equal(await reads('absent'));
    expect(await total(scope, 'seen')).to.equal(20);
    expect(await completions('seen')).to.have.length(20);
  });

  it('find the same in many containers as in one, and skip containers without the word (rule 13.10)', async () => {
    const containers = Array.from({ length: 300 }, (_, at) => `${root}many/${String(at).padStart(3, '0')}`);
    for (const [at, container] of containers.entries()) {
      if (at % 3 === 0) await put(memory.store, `${container}/r`, [`common rare${at} of them`]);
      // Between two readable containers.
      if (at % 5 === 0) await put(memory.store, `${container}-hidden/r`, [`common secret rare${at} of them`]);
    }
    const scope: ReadScope = { ranges: unionOfRanges(containers.map((container) => subtree(`${container}/`))) };
    const items = (query: string): Promise<readonly string[]> =>
      search(indexOf(scope), { terms: parseTerms(query), from: 0, count: 1_000 }, async (found) =>
        found.items.map(({ iri }) => iri).sort(),
      );
    const expected = containers.filter((_, at) => at % 3 === 0).map((container) => `${container}/r`);
    for (const when of ['first', 'again']) {
      expect(await items('common'), when).to.deep.equal(expected);
      expect(await items('"of them"'), when).to.deep.equal(expected);
      expect(await items('rare*'), when).to.deep.equal(expected);
      expect(await items('common rare45'), when).to.deep.equal([`${root}many/045/r`]);
      expect([await items('secret'), await items('secret*')], when).to.deep.equal([[], []]);
      expect((await labelsWith(indexOf(scope), 'common rare', undefined)).length, when).to.equal(50);
    }
    // Not an iterator for each of the 300 containers.
    const level = memory.store.level as unknown as { keys(...given: readonly unknown[]): unknown };
    const { keys } = level;
    let iterators = 0;
    level.keys = (...given) => {
      iterators++;
      return keys(...given);
    };
    expect(await items('absent')).to.deep.equal([]);
    level.keys = keys;
    expect(iterators).to.be.within(1, 20);
  });

  it('find readable labels by IRI and by beginning, in order (rule 13.12)', async () => {
    for (const [name, scope] of [...Object.entries(scopes).slice(1), ['everything', 'everything'] as const]) {
      const index = indexOf(scope);
      const own = (await labelsOf(index, ['urn:s0'], [])).flatMap(({ labels }) => labels.map(({ value }) => value));
      if (name !== 'everything')
        expect(
          own.every((value) => value.startsWith('seen word')),
          name,
        ).to.equal(true);
      expect(own, name).to.have.length(20);
      const values = (await labelsWith(index, 'SEEN  word 1', undefined)).map(({ value }) => value);
      const expected = Array.from({ length: 20 }, (_, i) => `seen word ${i}`).filter((value) => value.includes('d 1'));
      expect(values, name).to.deep.equal(expected.sort());
      expect(await labelsWith(index, 'seen word 1', 'en'), name).to.deep.equal([]);
    }
  });

  it('find words with a beginning in resources with more words than their entry contains', async () => {
    const words = Array.from({ length: 6_000 }, (_, i) => `big${i}`);
    const iri = `${open}many`;
    await put(memory.store, iri, [words.slice(0, 3_000).join(' '), words.slice(3_000).join(' ')], 'urn:alice');
    expect(memory.store.entry(entryKey(wordsSpace, iri))!.length).to.be.below(100);
    for (const scope of Object.values(scopes).slice(1))
      expect([await total(scope, 'big599*'), await total(scope, 'big42')]).to.deep.equal([1, 1]);
  });

  it('decide once for each resource if access is decided one by one, whatever number of its words match', async () => {
    const absent = await keysOf(() => total('decide', 'absent'));
    expect(await total('decide', 'seen')).to.equal(20);
    expect(await keysOf(() => total('decide', 'hidden'))).to.be.at.most(absent + 3_000 + 100);
    const other = await keysOf(() => total('decide', 'abs*'));
    expect(await keysOf(() => total('decide', 'hid*'))).to.equal(other);
    expect(await total('decide', 'see*')).to.equal(20);
  });

  it('are rebuilt from an index of an earlier format, with progress (rule 13.8)', async () => {
    const { store } = memory;
    const old = entryKey('text', 'straße', `${open}0`, 'n', '0');
    await store.transact((tx) => {
      tx.putEntry(entryKey('text-state'), `2 ${process.versions['unicode']}`);
      tx.putEntry(old, '');
    });
    expect(textIndex.isComplete(store)).to.equal(false);
    const told: (readonly [number, number])[] = [];
    const count = await textIndex.rebuild(store, (done, total) => void told.push([done, total]));
    expect(told.at(-1)).to.deep.equal([count, count]);
    expect([textIndex.isComplete(store), store.entry(old)]).to.deep.equal([true, undefined]);
    for await (const fault of textIndex.faultsOf(store)) expect.fail(fault);
  });
});
