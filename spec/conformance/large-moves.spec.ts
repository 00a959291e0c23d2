/** MOVE and COPY of more triples than one transaction writes (rule 6.23), in large and small graphs. */
import { expect } from 'chai';
import { textIndex } from '../../components/search/text-search/indexer.js';
import { typeIndex } from '../../components/search/type-index/indexer.js';
import { hiddenRange } from '../../lib/storage/graphs/staged-keys.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { failNextBatch } from '../crash/failing-level.js';
import { StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { imported } from '../support/imports.js';
import { rows } from '../support/sparql.js';
import { until } from '../support/until.js';
import { agent, alice, as, owner, ownerRule, rule, setAcl, wacSettings } from '../support/wac.js';

const [large, small, smallGraphs] = [40_000, 1_000, 80];
const nTriples = 'application/n-triples';

describe('MOVE and COPY of many triples', function () {
  this.timeout(120_000);
  const s = new StorageUnderTest();
  let container = '';
  /** Number of triples of each member. */
  const sizes = new Map<string, number>([
    ...['a', 'b'].map((name) => [name, large] as const),
    ...Array.from({ length: smallGraphs }, (_, at) => [`n${at}`, small] as const),
  ]);
  const total = [...sizes.values()].reduce((sum, size) => sum + size);

  before(async () => {
    await s.open({ settings: { 'text-search.enabled': 'true' } });
    container = await s.container();
    const lines: string[] = [];
    for (const [name, size] of sizes)
      for (let at = 0; at < size; at++)
        lines.push(`<${container}${name}#${at}> <http://data.example/p> "word ${at % 100}" <${container}${name}> .\n`);
    expect((await imported(s, lines.join(''))).quads).to.equal(total);
  });
  after(() => s.close());
  afterEach(async () => {
    if (!s.server) return;
    const { store } = s.server.server;
    await until(async () => !(await hasStaged()), 'all are removed');
    expect((await checkStore(store, { content: true })).faults).to.deep.equal([]);
    for (const index of [typeIndex, textIndex]) for await (const fault of index.faultsOf(store)) expect.fail(fault);
  });

  /** True while a graph is being written or removed. */
  const hasStaged = async (): Promise<boolean> =>
    (await s.server!.server.store.level.keys({ ...hiddenRange, limit: 1 }).all()).length > 0;
  const send = (method: 'MOVE' | 'COPY', from: string, to: string, fields: Record<string, string> = {}) =>
    s.send(method, from, { Destination: to, ...fields });
  /** Number of triples and of graphs below a name, by a query. */
  async function counted(below: string): Promise<readonly number[]> {
    const query = `SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?g) AS ?m) { GRAPH ?g { ?s <http://data.example/p> ?o } FILTER(STRSTARTS(STR(?g), "${below}")) }`;
    return (await rows(s, query))[0]!.split(' ').map(Number);
  }
  const everything = [total, sizes.size];

  it('MOVE shows everything at the old name or at the new one, never a part (rule 6.23)', async () => {
    const to = s.fresh('/');
    const moving = send('MOVE', container, to);
    let isOver = false;
    void moving.then(() => {
      isOver = true;
    });
    let before = 0;
    while (!isOver) {
      const [old, fresh] = [await counted(container), await counted(to)];
      // The move may be between the two queries.
      expect([everything, [0, 0]]).to.deep.include(old);
      expect([everything, [0, 0]]).to.deep.include(fresh);
      if (fresh[0] === 0) before++;
    }
    expect((await moving).status).to.equal(201);
    expect(before, 'queries before the commit').to.be.above(0);
    expect([await counted(container), await counted(to)]).to.deep.equal([[0, 0], everything]);
    await s.expectAbsent(`${container}a`);
    for (const [name, size] of [...sizes].slice(0, 4)) {
      const { text } = await s.get(to + name, { Accept: nTriples });
      expect(text.trimEnd().split('\n'), name).to.have.length(size);
      // The triples are about the old name.
      expect(text).to.contain(`<${container}${name}#7>`);
    }
    container = to;
  });

  it('COPY with rewritten links is what its text would be with the other name (rule 6.27)', async () => {
    const to = `${s.scratch}0-copy/`;
    await s.container(`${s.scratch}source/`);
    const texts = new Map<string, string>();
    for (const name of ['a', 'n0']) {
      const lines = Array.from(
        { length: sizes.get(name)! },
        (_, at) =>
          // After the rewriting some are the same.
          `<${s.scratch}${at % 9 === 0 ? '0-copy' : 'source'}/${name}#${at % 30_000}> <http://data.example/q> <${s.scratch}source/> .\n`,
      );
      texts.set(name, lines.join(''));
      await s.stored(nTriples, texts.get(name)!, `${s.scratch}source/${name}`);
    }
    expect((await send('COPY', `${s.scratch}source/`, to, { Prefer: 'rewrite-links' })).status).to.equal(201);
    for (const [name, text] of texts) {
      const expected = new Set(text.replaceAll(`${s.scratch}source/`, to).trimEnd().split('\n'));
      const answer = await s.get(to + name, { Accept: nTriples });
      expect(answer.text.trimEnd().split('\n').sort().join('\n') === [...expected].sort().join('\n'), name).to.equal(
        true,
      );
      // The old IRI, and another copy: nothing of the source has changed.
      const kept = await s.get(`${s.scratch}source/${name}`, { Accept: nTriples });
      expect(new Set(kept.text.trimEnd().split('\n')).size).to.equal(new Set(text.trimEnd().split('\n')).size);
    }
  });

  it('replacing too many triples is 422, and leaves nothing behind (rule 6.23)', async () => {
    const [to, kept] = [s.fresh('/'), await s.container()];
    expect((await send('COPY', container, to)).status).to.equal(201);
    await s.stored(nTriples, '<a:s> <a:p> <a:o> .', `${kept}new`);
    for (const method of ['MOVE', 'COPY'] as const)
      expectProblem(await send(method, kept, to, { Overwrite: 'T' }), 422, s);
    expect(await counted(to)).to.deep.equal(everything);
    expect((await s.delete(to, { Depth: 'infinity' })).status).to.equal(204);
    await s.expectAbsent(`${to}a`);
    expect((await send('MOVE', kept, to)).status).to.equal(201);
  });

  it('of a COPY that is refused nothing stays, and its names are free (rule 6.24)', async () => {
    const to = s.fresh('/');
    const copying = send('COPY', container, to, { Overwrite: 'F' });
    await until(hasStaged, 'graphs are written');
    await s.container(to);
    expectProblem(await copying, 412, s);
    await s.stored(nTriples, '<a:s> <a:p> <a:o> .', `${to}a`);
    expect(await s.members(to)).to.deep.equal([`${to}a`]);
    expect(await counted(container)).to.deep.equal(everything);
  });

  it('a large graph that is changed meanwhile is moved with the change (rule 6.23)', async () => {
    const to = s.fresh('/');
    const moving = send('MOVE', container, to);
    await until(hasStaged, 'graphs are written');
    const change = await s.patch(`${container}a`, 'application/sparql-update', 'INSERT DATA { <a:s> <a:p> "late" }');
    expect((await moving).status).to.equal(201);
    expect(change.status).to.be.oneOf([204, 404]);
    const { text } = await s.get(`${to}a`, { Accept: nTriples });
    expect(text.includes('"late"')).to.equal(change.status === 204);
    container = to;
  });

  for (const afterWriting of [true, false])
    it(`of a COPY nothing stays if writing ahead fails, ${afterWriting ? 'stored' : 'not stored'} (rule 6.22)`, async () => {
      const [source, to, { store }] = [await s.container(), s.fresh('/'), s.server!.server];
      await s.stored('text/plain', 'words', `${source}text`);
      const lines = Array.from({ length: large }, (_, at) => `<a:${at}> <http://data.example/q> "x" .`);
      await s.stored(nTriples, lines.join('\n'), `${source}graph`);
      const { quads } = store.commits.counts;
      void failNextBatch(store.level, { afterWriting });
      expectProblem(await send('COPY', source, to), 507, s);
      await until(async () => !store.commits.hasFailed, 'the store has recovered');
      await until(async () => store.commits.counts.quads === quads, 'the quads are removed');
      expect((await send('COPY', source, to)).status).to.equal(201);
    });

  it('a MOVE to the names of many deleted graphs waits for their removal once (rules 6.19, 6.23)', async () => {
    const [old, source, { store }] = [s.fresh('/'), await s.container(), s.server!.server];
    expect((await send('COPY', container, old)).status).to.equal(201);
    const names = [...sizes.keys()].slice(2);
    await Promise.all(names.map((name) => s.stored(nTriples, '<a:s> <a:p> <a:o> .', source + name)));
    const { transact } = store;
    let runs = 0;
    store.transact = (work, options) =>
      transact.call(
        store,
        async (tx, prepared) => {
          const result = await work(tx, prepared as never);
          if (tx.moves.length > 0) runs++;
          return result;
        },
        options,
      ) as never;
    try {
      expect((await s.delete(old, { Depth: 'infinity' })).status).to.equal(204);
      expect((await send('MOVE', source, old)).status).to.equal(201);
    } finally {
      store.transact = transact;
    }
    // None if another server of the storage has run it.
    expect(runs).to.be.below(2);
    expect(await s.members(old)).to.have.length(names.length);
  });
});

describe('MOVE and COPY of many triples with access control lists', function () {
  this.timeout(120_000);
  const s = new StorageUnderTest();
  before(() => s.open({ settings: wacSettings, owner }));
  after(() => s.close());

  it('a graph that the caller cannot read at the Destination does not change the response (rules 4.2, 6.24)', async () => {
    const [mine, target] = [await s.container(), await s.container()];
    for (const each of [mine, target]) await setAcl(s, each, ownerRule, rule('Read Write', agent(alice)));
    await s.stored('text/turtle', '<a:s> <a:p> <a:o> .', `${target}secret`);
    await setAcl(s, `${target}secret`, ownerRule);
    const lines = Array.from({ length: 100_500 }, (_, at) => `<a:s> <a:p> <a:${at}> .`).join('\n');
    for (const name of ['absent', 'secret']) {
      const from = `${mine}${name}/`;
      await s.send('PUT', from, {}, undefined, as(s, alice));
      const put = await s.send('PUT', from + name, { 'Content-Type': nTriples }, lines, as(s, alice));
      expect(put.status, put.text).to.equal(201);
      for (const method of ['COPY', 'MOVE']) {
        const answer = await s.send(method, from, { Destination: target, Overwrite: 'T' }, undefined, as(s, alice));
        expect(answer.status, `${method} ${name}: ${answer.text}`).to.equal(403);
      }
    }
  });
});
