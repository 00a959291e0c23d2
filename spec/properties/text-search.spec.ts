/** Text search against a scan of what the caller can read, for random data, rights and changes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { PostingLists } from '../../components/search/postings/posting-lists.js';
import { documentPostings, textPostings } from '../../components/search/text-search/entries.js';
import { indexTexts, textIndex } from '../../components/search/text-search/indexer.js';
import { search } from '../../components/search/text-search/search.js';
import type { TextIndex } from '../../components/search/text-search/searched.js';
import { parseTerms } from '../../components/search/text-search/terms.js';
import type { Access } from '../../lib/authorization/principal.js';
import { Documents } from '../../lib/documents/documents.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { enough, runs } from '../support/speed.js';
import { type OracleResource, type OracleSearch, type OracleText, scan } from '../support/text-oracle.js';
import { allows, type Client, root, type World } from './authorization-model.js';
import { build } from './authorization-storage.js';
import { client, world } from './authorization-worlds.js';

const factory = new DataFactory();
const vocabulary = 'network networks networking neural neuron cat cats run running x d'.split(' ');
const word = fc.constantFrom(...vocabulary);
const text = fc.record({
  text: fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' ')),
  language: fc.constantFrom('', 'en', 'en-GB', 'de', 'zh'),
  subject: fc.constantFrom('', '#it', '#a-fragment-that-is-long', '-other', 'urn:x'),
});
type Text = typeof text extends fc.Arbitrary<infer T> ? T : never;
/** Texts of the resources after each step, by number of the resource. */
const steps = fc.array(fc.array(fc.array(text, { maxLength: 4 }), { minLength: 6, maxLength: 6 }), {
  minLength: 1,
  maxLength: 3,
});
const term = fc.oneof(
  { weight: 3, arbitrary: word as fc.Arbitrary<string | string[]> },
  fc.constantFrom('ne*', 'net*', 'ca*'),
  fc.array(word, { minLength: 1, maxLength: 2 }),
);
const asked: fc.Arbitrary<OracleSearch> = fc.record({
  terms: fc.uniqueArray(term, { minLength: 1, maxLength: 3, selector: (each) => JSON.stringify(each) }),
  lang: fc.constantFrom(undefined, undefined, 'en', 'en-gb', 'de', 'fr'),
  within: fc.constantFrom(undefined, undefined, `${root}d/`),
});

const accessOf = ({ subject, client: app, origin, purpose }: Client): Access => ({
  ...(subject === undefined ? {} : { principal: { subject, ...(app === undefined ? {} : { client: app }) } }),
  ...(origin === undefined ? {} : { origin }),
  ...(purpose === undefined ? {} : { purpose }),
});

const queryOf = ({ terms }: OracleSearch): string =>
  terms.map((each) => (typeof each === 'string' ? each : `"${each.join(' ')}"`)).join(' ');

const keysOf = (iri: string, texts: readonly Text[]): string[] =>
  encodeGraph(
    iri,
    texts.map(({ text: value, language, subject }) =>
      factory.quad(
        factory.namedNode(subject.includes(':') ? subject : iri + subject),
        factory.namedNode('urn:p'),
        factory.literal(value, language === '' ? undefined : language) as never,
      ),
    ) as never,
  );

/** Adds texts to the graphs of some resources, which keep their other statements. */
async function write(store: Store, texts: ReadonlyMap<string, readonly Text[]>): Promise<void> {
  for (const [iri, given] of texts) {
    const { record, keys } = (await store.graph(iri))!;
    const others = keys.filter((key) => !key.includes('\u0000urn:p\u0000'));
    const after = [...new Set([...others, ...keysOf(iri, given)])].sort();
    await store.transact((tx) => {
      tx.putGraph(iri, keys, after);
      const next = { ...record, triples: after.length, revision: `r${Math.random()}` };
      tx.putRecord(next);
      tx.changed({ before: record, after: next });
    });
  }
}

/** Texts of the readable resources: name and literals. */
const readableTexts = (like: World, who: Client, texts: ReadonlyMap<string, readonly Text[]>): OracleResource[] =>
  [...like.resources.keys()]
    .filter((iri) => allows(like, who, 'read', iri))
    .map((iri) => {
      const name: OracleText = { text: iri === root ? '' : iri.replace(/\/$/, '').replace(/.*\//, ''), language: '' };
      const own = (texts.get(iri) ?? []).map(({ text: value, language, subject }) => ({
        ...{ text: value, language: language.toLowerCase() },
        key: JSON.stringify([value, language.toLowerCase(), subject]),
      }));
      return { iri, texts: [name, ...new Map(own.map((each) => [each.key, each])).values()] };
    });

describe('Text search against a scan', function () {
  this.timeout(120_000);
  let documents: Documents;
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-text-'));
  before(() => {
    documents = new Documents({ updateTimeoutMs: 10_000 });
  });
  after(async () => {
    await documents.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds, counts and ranks exactly what the caller can read, as each caller, after each change', async () => {
    let found = 0;
    const clean = (who: Client): Client => (who.subject === undefined ? { ...who, client: undefined } : who);
    await fc.assert(
      fc.asyncProperty(
        world,
        fc.array(client.map(clean), { minLength: 3, maxLength: 3 }),
        steps,
        fc.array(asked, { minLength: 4, maxLength: 4 }),
        async (like, clients, changes, searches) => {
          const { platform, dispose } = await build(like, documents, folder);
          const { store } = platform;
          try {
            await textIndex.rebuild(store, () => {});
            store.onTransaction((tx) => indexTexts(store, tx));
            const index = {
              storage: platform,
              texts: new PostingLists(store, textPostings, 1 << 20),
              documents: new PostingLists(store, documentPostings, 1 << 20),
            };
            const graphs = [...like.resources].filter(([, { kind }]) => kind === 'rdf').map(([iri]) => iri);
            for (const change of changes) {
              const texts = new Map(graphs.map((iri, at) => [iri, change[at] ?? []]));
              await write(store, texts);
              for (const who of clients)
                for (const each of searches)
                  found += await expectSame({ ...index, access: accessOf(who) }, each, readableTexts(like, who, texts));
              for await (const fault of textIndex.faultsOf(store)) expect.fail(fault);
            }
          } finally {
            await dispose();
          }
        },
      ),
      { numRuns: runs(200) },
    );
    expect(found).to.be.above(enough(300));
  });
});

/** @returns the number of results */
async function expectSame(
  index: TextIndex,
  { terms, lang, within }: OracleSearch,
  resources: readonly OracleResource[],
): Promise<number> {
  const wanted = scan(resources, { terms, lang, within });
  const parsed = { terms: parseTerms(queryOf({ terms })), lang, within };
  const { items, total } = await search(index, { ...parsed, from: 0, count: 100 }, async (ranking) => ranking);
  const why = `${queryOf({ terms })} ${lang} ${within}`;
  expect(total, why).to.equal(wanted.length);
  const rounded = (found: readonly { iri: string; score: number }[]): [string, string][] =>
    found.map(({ iri, score }) => [iri, score.toFixed(9)] as [string, string]).sort();
  expect(rounded(items), why).to.deep.equal(rounded(wanted));
  for (const [at, { score }] of items.entries()) if (at > 0) expect(items[at - 1]!.score).to.be.at.least(score);
  return total;
}
