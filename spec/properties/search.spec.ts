/**
 * Search index against a model in memory and against SPARQL: after random writes, callers find exactly the resources that they
 * may read. Independent of the format of entries.
 */

import { expect } from 'chai';
import fc from 'fast-check';
import { PostingLists } from '../../components/search/postings/posting-lists.js';
import { indexTexts, textIndex } from '../../components/search/text-search/indexer.js';
import { indexChanges, typeIndex } from '../../components/search/type-index/indexer.js';
import { postings } from '../../components/search/type-index/postings.js';
import { typesOf } from '../../components/search/type-index/readable-types.js';
import { searchTypes } from '../../components/search/type-index/search.js';
import { type Authorizer, createAuthorizer, type PermissionSource } from '../../lib/authorization/authorizer.js';
import { ownerModel } from '../../lib/authorization/owner-mode.js';
import type { Platform } from '../../lib/component/contract.js';
import { Documents } from '../../lib/documents/documents.js';
import { linksetFaults } from '../../lib/resources/metadata.js';
import { only, subtree, unionOfRanges } from '../../lib/storage/keys/iri-ranges.js';
import { entryRange } from '../../lib/storage/keys/records.js';
import { EntryCursor, ListStream, type SortedStream } from '../../lib/storage/level/entry-cursor.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { root, storeOnDisk } from '../support/memory-store.js';
import { searchBySparql } from '../support/search-oracle.js';
import { enough, runs } from '../support/speed.js';
import { type SpecStorage, specStorage } from '../support/storage.js';
import { until } from '../support/until.js';
import { type Filter, isGranted, ldp, lws, Model, rdfType, storageOwner, type Viewer } from './search-model.js';
import { modelOf } from './search-readback.js';
import { beginning, perform, predicates, principals, step, targets } from './search-steps.js';

const relations = ['type', 'type', 'describedby', 'license', ...predicates];
const unindexed = [
  'up',
  'linkset',
  'acl',
  'self',
  'nothing',
  rdfType,
  `${lws}storage`,
  `${lws}other`,
  `${ldp}contains`,
];
const value = fc.constantFrom(...targets, `${lws}DataResource`, root, `${root}a.meta#me`, `${root}x`, 'urn:none');
const group = fc.record({
  relation: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...relations) }, fc.constantFrom(...unindexed)),
  values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
});
const filter: fc.Arbitrary<Filter> = fc.array(group, { maxLength: 3 });

interface Question {
  readonly filter: Filter;
  readonly viewer: Viewer;
  /** True if the authorizer decides one resource at a time. */
  readonly decides: boolean;
  readonly pageSize: number;
}
const question: fc.Arbitrary<Question> = fc.record({
  filter,
  viewer: fc.record({
    principal: fc.constantFrom(...principals, 'https://id.example/stranger'),
    publicRead: fc.integer({ min: 0, max: 3 }).map((dice) => dice === 0),
    granted: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      fc.uniqueArray(
        fc.constantFrom(...['a', 'c/', 'c/a', 'c/d/', 'c/d/a', 'none/'].map((name) => root + name), root),
        {
          maxLength: 3,
        },
      ),
    ),
  }),
  decides: fc.boolean(),
  pageSize: fc.integer({ min: 1, max: 4 }),
});

const accessOf = ({ principal }: Viewer) => (principal === undefined ? {} : { principal: { subject: principal } });

function platformOf(store: Store, { viewer, decides }: Question): Platform {
  const base = ownerModel({ owners: [storageOwner], publicRead: viewer.publicRead, open: false });
  const rule = { allowed: true, rule: 'granted' };
  const source: PermissionSource = {
    widen: ({ mode, iri }) => (mode === 'read' && isGranted(viewer, iri) ? rule : undefined),
    names: () => true,
    readRanges: () => unionOfRanges(viewer.granted.map((iri) => (iri.endsWith('/') ? subtree(iri) : only(iri)))),
  };
  const known = createAuthorizer(base, root, () => (viewer.granted.length > 0 ? [source] : []));
  const authorizer: Authorizer = decides ? { ...known, readScope: () => 'decide' } : known;
  return { store, authorizer } as unknown as Platform;
}

interface Asked {
  readonly platform: Platform;
  readonly lists: PostingLists;
}

/** Returns the items of all pages. Asserts that all pages have the same total. */
async function allPages({ platform, lists }: Asked, { filter: asked, viewer, pageSize }: Question): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; ; from += pageSize) {
    const { items, total } = await searchTypes({ platform, lists, access: accessOf(viewer) }, asked, {
      from,
      count: pageSize,
    });
    found.push(...items.map(({ iri }) => iri));
    for (const { types = [], ...item } of items) {
      // Types from its own RDF are added to the declared ones.
      const { types: declared = [], ...record } = platform.store.record(item.iri)!;
      expect(item).to.deep.equal(record);
      expect(types).to.include.members([...declared]);
    }
    expect(found.length, 'number of items so far').to.equal(Math.min(total, from + pageSize));
    if (from > total) return found;
  }
}

async function allEntries(store: Store): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const space of ['index', 'owned'])
    for await (const entries of store.entries(entryRange(space)))
      for (const [key, text] of entries) found.set(key, text);
  return found;
}

async function expectInOrder(store: Store): Promise<void> {
  const faults = [...(await checkStore(store)).faults];
  for await (const { text } of linksetFaults(store)) faults.push(text);
  for (const found of [typeIndex.faultsOf(store), textIndex.faultsOf(store)])
    for await (const fault of found) faults.push(fault);
  expect(faults).to.deep.equal([]);
  const kept = await allEntries(store);
  await typeIndex.rebuild(store, () => {});
  expect(await allEntries(store)).to.deep.equal(kept);
}

describe('Search index against a model', function () {
  this.timeout(60_000);
  /** Shared, because its workers take a second to load SPARQL. */
  let documents: Documents;
  before(() => {
    documents = new Documents({ updateTimeoutMs: 10_000 });
  });
  after(() => documents.close());

  async function withStorage(work: (spec: SpecStorage) => Promise<void>): Promise<void> {
    const spec = await specStorage({ memory: await storeOnDisk() });
    await spec.storage.documents.close();
    await typeIndex.rebuild(spec.storage.store, () => {});
    await textIndex.rebuild(spec.storage.store, () => {});
    spec.storage.store.onTransaction(indexChanges);
    spec.storage.store.onTransaction((tx) => indexTexts(spec.storage.store, tx));
    try {
      await work({ ...spec, storage: { ...spec.storage, documents } });
    } finally {
      await spec.memory.dispose();
    }
  }

  async function expectAnswers(store: Store, lists: PostingLists, model: Model, asked: Question): Promise<number> {
    const platform = platformOf(store, asked);
    const [why, wanted] = [JSON.stringify(asked), model.search(asked.filter, asked.viewer)];
    expect(await allPages({ platform, lists }, asked), why).to.deep.equal(wanted);
    expect(await typesOf(platform, accessOf(asked.viewer)), why).to.deep.equal(model.types(asked.viewer));
    return wanted.length;
  }

  const questions = fc.array(question, { minLength: 4, maxLength: 4 });
  /** A write, or the index of a query, so that queries are repeated. */
  const event = fc.oneof({ weight: 2, arbitrary: step }, { weight: 1, arbitrary: fc.nat(3) });
  const events = fc.array(event, { minLength: 5, maxLength: 40 });
  /** Bytes for lists in memory: none, a few, all. */
  const cacheBytes = fc.constantFrom(0, 500, 1 << 20, 1 << 20);

  it('finds the same resources as the model for every caller, after random writes', async () => {
    let [done, found] = [0, 0];
    await fc.assert(
      fc.asyncProperty(beginning, events, cacheBytes, questions, (first, then, bytes, asked) =>
        withStorage(async ({ storage }) => {
          const { store } = storage;
          const [model, lists] = [new Model(root), new PostingLists(store, postings, bytes)];
          for (const each of [...first, ...then, ...asked.keys()])
            if (typeof each === 'number') found += await expectAnswers(store, lists, model, asked[each]!);
            else if (await perform(storage, model, each)) done++;
          for (const relation of unindexed) {
            const nothing: Question = { ...asked[0]!, filter: [{ relation, values: targets }] };
            expect(await allPages({ platform: platformOf(store, nothing), lists }, nothing), relation).to.deep.equal(
              [],
            );
          }
          await expectInOrder(store);
        }),
      ),
      { numRuns: runs(60) },
    );
    expect(
      [done, found].every((count) => count > enough(300)),
      `${done} writes succeeded, ${found} resources found`,
    ).to.equal(true);
  });

  it('finds the same resources as SPARQL', async () => {
    await fc.assert(
      fc.asyncProperty(beginning, fc.array(step, { maxLength: 15 }), questions, (first, then, asked) =>
        withStorage(async ({ storage }) => {
          const [model, lists] = [new Model(root), new PostingLists(storage.store, postings, 0)];
          for (const each of [...first, ...then]) await perform(storage, model, each);
          // The SPARQL form uses rdf:type for types, not as a relation. Tested in search-states.spec.ts.
          for (const each of asked.filter(({ filter }) => filter.every(({ relation }) => relation !== rdfType))) {
            const platform = platformOf(storage.store, each);
            const bySparql = await searchBySparql(platform, accessOf(each.viewer), each.filter);
            expect(await allPages({ platform, lists }, each), JSON.stringify(each)).to.deep.equal(bySparql);
          }
        }),
      ),
      { numRuns: runs(10) },
    );
  });

  it('finds the stored resources after concurrent writes and searches', async () => {
    const batches = fc.array(fc.array(event, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(beginning, batches, questions, (first, then, last) =>
        withStorage(async ({ storage }) => {
          const { store } = storage;
          const [rough, lists] = [new Model(root), new PostingLists(store, postings, 1 << 20)];
          for (const each of first) await perform(storage, rough, each);
          for (const batch of then)
            await Promise.all(
              batch.map((each) =>
                typeof each === 'number'
                  ? searchTypes(
                      { platform: platformOf(store, last[each]!), lists, access: accessOf(last[each]!.viewer) },
                      last[each]!.filter,
                      { from: 0, count: 3 },
                    )
                  : perform(storage, rough, each),
              ),
            );
          const model = await modelOf(storage);
          for (const each of last) await expectAnswers(store, lists, model, each);
          await expectInOrder(store);
        }),
      ),
      { numRuns: runs(30) },
    );
  });

  it('returns pages of thousands of resources to every caller', async () => {
    await withStorage(async ({ storage: { store } }) => {
      const model = new Model(root);
      await store.transact((tx) => {
        for (let number = 0; number < 2500; number++) {
          const owner = principals[number % 2];
          const iri = `${root}${number}`;
          const after = { ...store.record(root)!, iri, kind: 'json' as const, revision: 'r', owner: owner! };
          tx.putRecord(after);
          tx.changed({ after });
          model.put(iri, { owner });
        }
      });
      const filter = [{ relation: 'type', values: [`${lws}DataResource`, 'urn:none'] }];
      for (const viewer of [
        { principal: principals[0], publicRead: false, granted: [] },
        { principal: principals[1], publicRead: false, granted: [] },
        { principal: undefined, publicRead: false, granted: [`${root}17`] },
        { principal: undefined, publicRead: true, granted: [] },
      ])
        for (const decides of [false, true])
          for (const pageSize of [299, 1000, 1001, 2400])
            await expectAnswers(store, new PostingLists(store, postings, 1 << 20), model, {
              filter,
              viewer,
              decides,
              pageSize,
            });
    });
  });

  it('does not walk the postings of a repeated filter, also with many resources, until they change', async () => {
    await withStorage(async ({ storage: { store } }) => {
      const count = 25_000;
      const add = (names: readonly string[]): Promise<void> =>
        store.transact((tx) => {
          for (const name of names) {
            const after = { ...store.record(root)!, iri: root + name, kind: 'json' as const, revision: 'r' };
            tx.putRecord(after);
            tx.changed({ after });
          }
        });
      await add(Array.from({ length: count }, (_, number) => String(number).padStart(6, '0')));
      const lists = new PostingLists(store, postings, 4 << 20);
      const viewer = { principal: undefined, publicRead: false, granted: [root] };
      const type = { relation: 'type', values: [`${lws}DataResource`] };
      const find = async (filter: Question['filter'], from: number) => {
        const platform = platformOf(store, { filter, viewer, decides: false, pageSize: 10 });
        const walked = [ListStream, EntryCursor].map(({ prototype }) => {
          const { seek } = prototype;
          const work = { seeks: 0, restore: () => Object.assign(prototype, { seek }) };
          Object.assign(prototype, {
            seek(this: SortedStream, target: string) {
              work.seeks++;
              return seek.call(this as never, target);
            },
          });
          return work;
        });
        const { items, total } = await searchTypes({ platform, lists, access: {} }, filter, { from, count: 10 });
        for (const { restore } of walked) restore();
        return { seeks: walked.reduce((sum, { seeks }) => sum + seeks, 0), total, first: items[0]?.iri };
      };
      const filters = [[], [type], [type, { ...type, values: [...type.values, 'urn:none'] }]];
      for (const filter of filters) {
        await find(filter, 0);
        // The lists are read after the response.
        await until(async () => (await find(filter, 0)).seeks === 0);
        const others = filter.length === 0 ? 1 : 0;
        const first = `${root}${String(20_000 - others).padStart(6, '0')}`;
        expect(await find(filter, 20_000)).to.deep.equal({ seeks: 0, total: count + others, first });
      }
      await add(['000000a']);
      for (const filter of filters) {
        const others = filter.length === 0 ? 1 : 0;
        expect((await find(filter, 0)).total).to.equal(count + 1 + others);
        const first = `${root}${String(19_999 - others).padStart(6, '0')}`;
        expect(await find(filter, 20_000)).to.deep.equal({ seeks: 0, total: count + 1 + others, first });
      }
    });
  }).timeout(60_000);
});
