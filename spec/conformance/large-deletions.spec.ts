/** DELETE of more resources than one transaction removes (rule 2.3). */
import { expect } from 'chai';
import { textIndex } from '../../components/search/text-search/indexer.js';
import { typeIndex } from '../../components/search/type-index/indexer.js';
import { aclFaults } from '../../lib/authorization/acl-faults.js';
import { linksetFaults } from '../../lib/resources/metadata.js';
import { GraphComparison } from '../../lib/storage/graphs/graph-comparison.js';
import { subtree } from '../../lib/storage/keys/iri-ranges.js';
import { allQuads } from '../../lib/storage/keys/quad-keys.js';
import { readRecord, removedKey } from '../../lib/storage/keys/records.js';
import { keyBlocks } from '../../lib/storage/level/durable-level.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { StorageUnderTest } from '../support/conformance.js';
import { imported } from '../support/imports.js';
import { pageOf, searchFor } from '../support/search.js';
import { rows } from '../support/sparql.js';
import { until } from '../support/until.js';

const [members, large] = [1_200, 30_000];
const recursive = { Depth: 'infinity' };

describe('DELETE of a large subtree', function () {
  this.timeout(120_000);
  const s = new StorageUnderTest();
  /** True while the removal of what belongs to the resources fails, so that it is tried again. */
  let isPaused = false;
  /** Deletions that listeners of transactions were told of. */
  const told: string[] = [];
  let store: Store;

  beforeEach(async () => {
    await s.open({ settings: { 'text-search.enabled': 'true' } });
    store = s.server!.server.store;
    told.length = 0;
    isPaused = true;
    store.onTransaction(({ changes }) => {
      const deleted = changes.filter(({ after }) => !after).map(({ before }) => before!.iri);
      if (isPaused && deleted.length > 100) throw new Error('paused');
      told.push(...deleted);
    });
  });
  afterEach(async () => {
    isPaused = false;
    if (!s.server) return;
    await until(async () => store.removedSubtrees.length === 0, 'all is removed');
    expect((await checkStore(store, { content: true })).faults).to.deep.equal([]);
    for (const index of [typeIndex, textIndex]) for await (const fault of index.faultsOf(store)) expect.fail(fault);
    await s.close();
  });

  /** Creates a container with members, one large graph and one binary resource. */
  async function filled(): Promise<string> {
    const container = await s.container();
    const lines: string[] = [];
    for (let at = 0; at < members; at++) {
      const graph = `<${container}sub/n${at}>`;
      lines.push(`${graph} <http://data.example/p> "word ${at}" ${graph} .\n`);
      lines.push(`${graph} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://data.example/C> ${graph} .\n`);
    }
    const graph = `<${container}large>`;
    for (let at = 0; at < large; at++) lines.push(`${graph} <http://data.example/p> "large ${at}" ${graph} .\n`);
    await imported(s, lines.join(''));
    await s.stored('text/plain', 'some words', `${container}sub/text`);
    const link = { Link: '<https://example.org/more>; rel="describedby"', Prefer: 'set-linkset' };
    expect((await s.put(`${container}sub/linked`, 'text/turtle', '<> <#p> 1 .', link)).status).to.equal(201);
    return container;
  }
  const quads = async (): Promise<string> =>
    (await rows(s, 'SELECT (COUNT(*) AS ?n) { ?s <http://data.example/p> ?o }'))[0]!;
  const typed = async (): Promise<number> =>
    pageOf(await s.get(searchFor(s, [['type', 'http://data.example/C']]))).totalItems;
  const words = async (): Promise<number> => {
    const answer = await s.get(`${s.root}.lws/text-search?q=word*`);
    expect(answer.status, answer.text).to.equal(200);
    return (JSON.parse(answer.text) as { items: unknown[] }).items.length;
  };

  it('shows nothing of it from the response on, whatever remains to be removed', async () => {
    const container = await filled();
    expect([await quads(), await typed()]).to.deep.equal([String(members + large), members]);
    expect(await words()).to.be.above(0);
    expect((await s.send('DELETE', container, recursive)).status).to.equal(204);
    expect(store.removedSubtrees).to.deep.equal([container]);
    for (const iri of [
      container,
      `${container}sub/`,
      `${container}sub/n7`,
      `${container}large`,
      `${container}sub/text`,
    ])
      expect((await s.get(iri)).status, iri).to.equal(404);
    expect([await quads(), await typed(), await words()]).to.deep.equal(['0', 0, 0]);
    const listing = await s.get(container.slice(0, container.lastIndexOf('/', container.length - 2) + 1));
    expect(listing.text).to.not.include(container);
    // A consistent state, of which a backup or an index may be made.
    expect((await checkStore(store, { content: true })).faults).to.deep.equal([]);
    expect([...(await all(aclFaults(store))), ...(await all(linksetFaults(store)))]).to.deep.equal([]);
    const snapshot = store.level.snapshot();
    const comparison = new GraphComparison(store.level, snapshot);
    await all(comparison.watched(keyBlocks(store.level, allQuads, { snapshot })));
    await snapshot.close();
    expect(comparison.differing).to.deep.equal([]);
    await store.returned.removeFrom([`${container}sub/n7`]);
    expect((await checkStore(store, { content: true })).faults).to.deep.equal([]);
  });

  it('gives no name in it to others before all is removed', async () => {
    const container = await filled();
    expect((await s.send('DELETE', container, recursive)).status).to.equal(204);
    const put = s.send('PUT', container);
    const other = await s.put(s.fresh(), 'text/turtle', '<> <http://data.example/q> 1 .');
    expect(other.status).to.equal(201);
    expect(store.record(container)).to.equal(undefined);
    isPaused = false;
    expect((await put).status).to.equal(201);
    expect([await quads(), await s.members(container)]).to.deep.equal(['0', []]);
  });

  it('tells of each deletion once, members before their containers', async () => {
    const container = await filled();
    expect((await s.send('DELETE', container, recursive)).status).to.equal(204);
    isPaused = false;
    await until(async () => store.removedSubtrees.length === 0, 'all is removed');
    // Two containers, the large graph, the binary and the linked resource.
    expect([told.length, new Set(told).size]).to.deep.equal([members + 5, members + 5]);
    expect(told.at(-1)).to.equal(container);
  });

  it('continues after a restart', async () => {
    const container = await filled();
    const { bytes } = store;
    expect((await s.send('DELETE', container, recursive)).status).to.equal(204);
    expect(store.bytes).to.be.below(bytes);
    await s.restart({ settings: { 'text-search.enabled': 'true' } });
    isPaused = false;
    store = s.server!.server.store;
    await until(async () => store.removedSubtrees.length === 0, 'all is removed');
    expect((await s.get(container)).status).to.equal(404);
    expect([await quads(), await typed(), await words()]).to.deep.equal(['0', 0, 0]);
    expect(await all(store.blobs.all())).to.deep.equal([]);
  });

  it('removes subtrees of subtrees', async () => {
    const container = await filled();
    for (const iri of [`${container}sub/`, container])
      expect((await s.send('DELETE', iri, recursive)).status, iri).to.equal(204);
    const { from, to } = subtree(container);
    const left: string[] = [];
    for await (const entries of store.entries({ gte: removedKey(from), lt: removedKey(to) }))
      for (const [key, value] of entries) left.push(readRecord(key, value).kind);
    expect(left.filter((kind) => kind === 'rdf')).to.have.lengthOf(members + 2);
  });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
