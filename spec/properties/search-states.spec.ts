/** Search index on a database on disk, with slow writes: each result is of one state of the storage. Independent of the caches. */
import { expect } from 'chai';
import { PostingLists } from '../../components/search/postings/posting-lists.js';
import { indexChanges, typeIndex } from '../../components/search/type-index/indexer.js';
import { postings } from '../../components/search/type-index/postings.js';
import { searchTypes } from '../../components/search/type-index/search.js';
import type { Platform } from '../../lib/component/contract.js';
import { remove } from '../../lib/resources/delete.js';
import { writeLinkset } from '../../lib/resources/linkset-write.js';
import { replace } from '../../lib/resources/replace.js';
import { root, storeOnDisk } from '../support/memory-store.js';
import { searchBySparql } from '../support/search-oracle.js';
import { body, type SpecStorage, specStorage } from '../support/storage.js';
import type { Filter } from './search-model.js';

const v = 'https://v.example/';
const iana = 'http://www.iana.org/assignments/relation/';
const common = { access: {}, preconditions: {}, model: undefined };

describe('Search index on disk', function () {
  this.timeout(60_000);
  let spec: SpecStorage;
  let platform: Platform;
  before(async () => {
    spec = await specStorage({ memory: await storeOnDisk() });
    const { store, authorizer } = spec.storage;
    await typeIndex.rebuild(store, () => {});
    store.onTransaction(indexChanges);
    platform = { store, authorizer } as unknown as Platform;
  });
  after(() => spec.dispose());

  const put = (name: string, turtle: string) =>
    replace({ ...spec.storage, requireConditionalWrites: false }, { ...common, iri: root + name, body: body(turtle) });
  const putLinks = (name: string, links: object) =>
    writeLinkset(
      spec.storage,
      {
        ...common,
        iri: root + name,
        preconditions: { ifMatch: '*' },
        body: body(JSON.stringify({ linkset: [links] }), 'application/linkset+json'),
      },
      true,
    );
  const find = async (lists: PostingLists, filter: Filter) => {
    const { items, total } = await searchTypes({ platform, lists, access: {} }, filter, { from: 0, count: 10_000 });
    return { total, iris: items.map(({ iri }) => iri) };
  };

  /** Searches in two tasks while the writes run. */
  async function whileWriting(writes: (turn: number) => Promise<unknown>, look: () => Promise<void>): Promise<void> {
    let done = false;
    const watch = async (): Promise<void> => {
      while (!done) {
        await look();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const watchers = [watch(), watch()];
    try {
      for (let turn = 0; turn < 300; turn++) await writes(turn);
    } finally {
      done = true;
      await Promise.all(watchers);
    }
  }

  for (const [what, bytes] of Object.entries({ 'no lists': 0, lists: 1 << 20 })) {
    it(`never finds a partial change, with ${what} in memory`, async () => {
      const lists = new PostingLists(spec.storage.store, postings, bytes);
      const states = [1, 2].map((n) => ({ type: [{ href: `${v}T${n}` }], [`${v}p`]: [{ href: `${v}${n}` }] }));
      await put('changing', '');
      await putLinks('changing', states[0]!);
      const values = (relation: string, ...names: string[]) => ({ relation, values: names.map((name) => v + name) });
      const wrong = { halves: 0, misses: 0 };
      const look = async (): Promise<void> => {
        const half = await find(lists, [values('type', 'T1'), values(`${v}p`, '2')]);
        wrong.halves += half.total;
        const whole = await find(lists, [values('type', 'T1', 'T2'), values(`${v}p`, '1', '2')]);
        wrong.misses += 1 - whole.total;
      };
      await whileWriting((turn) => putLinks('changing', states[turn % 2]!), look);
      expect(wrong).to.deep.equal({ halves: 0, misses: 0 });
    });

    it(`returns as many resources as the total, with ${what} in memory`, async () => {
      const lists = new PostingLists(spec.storage.store, postings, bytes);
      await put('staying', `<> a <${v}S> .`);
      let different = 0;
      const look = async (): Promise<void> => {
        const { total, iris } = await find(lists, [{ relation: 'type', values: [`${v}S`] }]);
        if (total !== iris.length || !iris.includes(`${root}staying`)) different++;
      };
      const writes = async (turn: number): Promise<unknown> =>
        turn % 2 === 0
          ? put('fleeting', `<> a <${v}S> .`)
          : remove(spec.storage, { ...common, iri: `${root}fleeting`, recursive: false });
      await whileWriting(writes, look);
      expect(different).to.equal(0);
    });
  }

  it('finds resources written while its lists were loaded', async () => {
    await put('written', '');
    const filter = [{ relation: 'type', values: [`${v}W`] }];
    for (let turn = 0; turn < 200; turn++) {
      const lists = new PostingLists(spec.storage.store, postings, 1 << 20);
      const links = turn % 2 === 0 ? { type: [{ href: `${v}W` }] } : {};
      const writing = putLinks('written', links);
      for (let wait = 0; wait < turn % 7; wait++) await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([writing, find(lists, filter)]);
      expect((await find(lists, filter)).total, `turn ${turn}`).to.equal(1 - (turn % 2));
    }
  });

  it('is consistent after a linkset with relation names that are not valid Unicode', async () => {
    await put('r', '');
    // They may be rejected. Accepted names must stay distinct.
    await putLinks('r', { 'a\ud800': [{ href: `${v}d` }], 'a\ud801': [{ href: `${v}d` }] }).catch(() => {});
    const faults: string[] = [];
    for await (const fault of typeIndex.faultsOf(spec.storage.store)) faults.push(fault);
    expect(faults).to.deep.equal([]);
  });

  it('agrees with its SPARQL form for the relation names of that form', async () => {
    const lists = new PostingLists(spec.storage.store, postings, 0);
    await put('triples', `<> a <${v}N> ; <${iana}license> <${v}d> ; <${iana}type> <${v}d> .`);
    await put('links', '');
    await putLinks('links', { license: [{ href: `${v}d` }], [`${iana}author`]: [{ href: `${v}d` }] });
    const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
    const asked = ['license', 'author', 'type'].flatMap((name) => [name, iana + name]);
    // The IRI for unindexed relations is not available to clients.
    await put('sly', `<> <urn:x-quadpod:not-indexed> <${v}d> ; <http://e/not-indexed> <${v}d> .`);
    for (const relation of [...asked, rdfType])
      for (const value of ['d', 'N']) {
        const filter: Filter = [{ relation, values: [v + value] }];
        const { iris } = await find(lists, filter);
        expect(iris, `${relation} ${value}`).to.deep.equal(await searchBySparql(platform, {}, filter));
      }
  });
});
