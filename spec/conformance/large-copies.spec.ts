/** COPY and MOVE of many resources, of which most is staged while other transactions run (rules 6.23 to 6.25). */
import { expect } from 'chai';
import { textIndex } from '../../components/search/text-search/indexer.js';
import { typeIndex } from '../../components/search/type-index/indexer.js';
import { aclFaults } from '../../lib/authorization/acl-faults.js';
import { linksetFaults } from '../../lib/resources/metadata.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { failNextBatch } from '../crash/failing-level.js';
import { StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { imported } from '../support/imports.js';
import { pageOf, searchFor } from '../support/search.js';
import { rows } from '../support/sparql.js';
import { until } from '../support/until.js';
import { agent, alice, as, owner, ownerRule, rule, setAcl, wacSettings } from '../support/wac.js';

const members = 1_100;
const recursive = { Depth: 'infinity' };
const methods = ['COPY', 'MOVE'] as const;
type Method = (typeof methods)[number];

/** Stops a transaction that stages many resources below a name, until it is released. */
class Stopping {
  private readonly releases: (() => void)[] = [];
  private below = 'none';

  constructor(store: Store) {
    store.onTransaction(
      async ({ changes }) => {
        const isStopped = changes.length > 1_000 && changes.some(({ after }) => after?.iri.startsWith(this.below));
        if (isStopped) await new Promise<void>((resolve) => this.releases.push(resolve));
      },
      () => true,
    );
  }

  /** Sends a request and waits until its transaction is stopped. */
  async reached(below: string, send: () => Promise<Answer>): Promise<Promise<Answer>[]> {
    this.below = below;
    const answer = send();
    await until(async () => this.releases.length > 0, 'the transaction is stopped');
    return [answer];
  }

  release(): void {
    this.below = 'none';
    for (const release of this.releases.splice(0)) release();
  }
}

/** Fills a container with resources, one of which is binary and one has links. */
async function fill(s: StorageUnderTest, container: string): Promise<void> {
  const lines: string[] = [];
  for (let at = 0; at < members; at++) {
    const graph = `<${container}sub/n${at}>`;
    lines.push(`${graph} <http://data.example/p> "word ${at}" ${graph} .\n`);
    lines.push(`${graph} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://data.example/C> ${graph} .\n`);
  }
  await imported(s, lines.join(''));
  await s.stored('text/plain', 'some words', `${container}sub/text`);
  const link = { Link: '<https://example.org/more>; rel="describedby"', Prefer: 'set-linkset' };
  expect((await s.put(`${container}sub/linked`, 'text/turtle', '<> <#p> 1 .', link)).status).to.equal(201);
}
/** Two containers, the binary and the linked resource. */
const resources = members + 4;

/** @param isCopying true while blobs are copied that no resource has yet */
async function expectInOrder(store: Store, isCopying = false): Promise<void> {
  const { faults } = await checkStore(store, { content: true });
  expect(faults.filter((text) => !isCopying || !text.startsWith('The blob file'))).to.deep.equal([]);
  for (const found of [typeIndex.faultsOf(store), textIndex.faultsOf(store), aclFaults(store), linksetFaults(store)])
    for await (const fault of found) expect.fail(String(fault));
}

describe('COPY and MOVE of many resources', function () {
  this.timeout(120_000);
  const s = new StorageUnderTest();
  let store: Store;
  let stopping: Stopping;
  let source = '';

  before(async () => {
    await s.open({ settings: { 'text-search.enabled': 'true' } });
    store = s.server!.server.store;
    stopping = new Stopping(store);
    source = await s.container();
    await fill(s, source);
  });
  after(() => s.close());
  afterEach(async () => {
    stopping.release();
    if (!s.server) return;
    await until(async () => store.removedSubtrees.length === 0, 'all is removed');
    await expectInOrder(store);
  });

  const send = (method: Method, to: string, fields: Record<string, string> = {}, from = source) =>
    s.send(method, from, { Destination: to, Overwrite: 'F', Prefer: 'rewrite-links', ...fields });
  /** Sends a request whose transaction stops. */
  const stopped = (method: Method, to: string, fields?: Record<string, string>) =>
    stopping.reached(to, () => send(method, to, fields));
  const released = async ([answer]: Promise<Answer>[]): Promise<Answer> => {
    stopping.release();
    return answer!;
  };
  /** Numbers of triples below a name by a query, and of resources of a type in the storage by the type search. */
  async function found(below: string): Promise<readonly number[]> {
    const query = `SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <http://data.example/p> ?o } FILTER(STRSTARTS(STR(?g), "${below}")) }`;
    return [
      Number((await rows(s, query))[0]),
      pageOf(await s.get(searchFor(s, [['type', 'http://data.example/C']]))).totalItems,
    ];
  }
  /** Number of resources with a word. A text search waits for the turn of its client, who is moving. */
  const withWord = async (): Promise<number> =>
    (JSON.parse((await s.get(`${s.root}.lws/text-search?q=some`)).text) as { items: unknown[] }).items.length;
  const expectAll = async (container: string): Promise<void> => {
    expect(await s.members(container)).to.deep.equal([`${container}sub/`]);
    expect((await s.get(`${container}sub/text`)).text).to.equal('some words');
    expect((await s.get(`${container}sub/linked.meta`)).text).to.include('https://example.org/more');
    expect((await found(container))[0]).to.equal(members);
  };

  for (const method of methods) {
    const to = () => s.fresh('/');

    it(`${method} shows nothing of it before it is complete, while others write (rule 6.23)`, async () => {
      const name = to();
      const { resources: count } = store.commits.counts;
      const before = await found(source);
      const words = await withWord();
      const moving = await stopped(method, name);
      const other = await s.put(s.fresh(), 'text/turtle', '<> <http://data.example/q> 1 .');
      expect(other.status).to.equal(201);
      for (const iri of [name, `${name}sub/`, `${name}sub/n7`, `${name}sub/text`]) await s.expectAbsent(iri);
      expect(await s.members(s.scratch)).to.not.include(name);
      expect([await found(source), (await found(name))[0]]).to.deep.equal([before, 0]);
      await expectAll(source);
      await expectInOrder(store, method === 'COPY');
      expect((await released(moving)).status).to.equal(201);
      await expectAll(name);
      const kept = method === 'COPY' ? 1 : 0;
      expect(store.commits.counts.resources).to.equal(count + 1 + kept * resources);
      expect((await s.get(source)).status).to.equal(kept ? 200 : 404);
      expect(await found(name)).to.deep.equal([members, before[1]! + kept * members]);
      expect(await withWord()).to.equal(words + kept);
      if (kept) await s.delete(name, recursive);
      else source = name;
    });

    it(`others that write in the source of a ${method} wait for it (rule 6.24)`, async () => {
      const name = to();
      const moving = await stopped(method, name);
      let ended = 0;
      const waiting = [
        s.put(`${source}sub/late`, 'text/plain', 'late'),
        s.delete(`${source}sub/n3`),
        s.patch(`${source}sub/n4`, 'application/sparql-update', 'INSERT DATA { <a:s> <a:p> "late" }'),
      ].map((each) => each.finally(() => ended++));
      // Its parent does not exist yet.
      expect((await s.put(`${name}sub/late`, 'text/plain', 'late')).status).to.be.oneOf([404, 409]);
      // Another one, for which they would not wait.
      expect((await s.put(s.fresh(), 'text/plain', 'x')).status).to.equal(201);
      expect(ended).to.equal(0);
      expect((await released(moving)).status).to.equal(201);
      const statuses = (await Promise.all(waiting)).map(({ status }) => status);
      if (method === 'COPY') expect(statuses).to.deep.equal([201, 204, 204]);
      // There is nothing at the old names, where a patch may create a resource.
      else expect(statuses.slice(0, 2)).to.deep.equal([404, 404]);
      await expectAll(name);
      expect((await s.get(`${name}sub/n3`)).status).to.equal(200);
      expect((await s.get(`${name}sub/n4`)).text).to.not.include('late');
      if (method === 'COPY') await s.delete(source, recursive);
      source = name;
    });

    it(`nothing of a ${method} stays if its batch fails, and it can be sent again (rule 6.24)`, async () => {
      const name = to();
      const before = store.commits.counts;
      const moving = await stopped(method, name);
      void failNextBatch(store.level);
      expectProblem(await released(moving), 507, s);
      await until(async () => !store.commits.hasFailed, 'the store has recovered');
      await s.expectAbsent(name);
      await expectAll(source);
      await until(async () => store.commits.counts.quads === before.quads, 'the quads are removed');
      expect((await send(method, name)).status).to.equal(201);
      await expectAll(name);
      if (method === 'COPY') await s.delete(name, recursive);
      else source = name;
    });

    it(`${method} runs again if a batch fails that it depends on (rule 6.23)`, async () => {
      const name = to();
      const moving = await stopped(method, name);
      void failNextBatch(store.level);
      expect((await s.put(s.fresh(), 'text/plain', 'x')).status).to.equal(507);
      await until(async () => !store.commits.hasFailed, 'the store has recovered');
      expect((await released(moving)).status).to.equal(201);
      await expectAll(name);
      if (method === 'COPY') await s.delete(name, recursive);
      else source = name;
    });

    it(`${method} checks the container of the Destination again (rule 6.24)`, async () => {
      const parent = await s.container();
      const moving = await stopped(method, `${parent}new/`);
      expect((await s.delete(parent)).status).to.equal(204);
      const answer = await released(moving);
      expect(answer.status, answer.text).to.be.oneOf([404, 409]);
      await s.expectAbsent(parent);
      await expectAll(source);
    });

    it(`the second ${method} to one Destination is refused (rule 6.24)`, async () => {
      const name = to();
      const first = await stopped(method, name);
      const second = send('COPY', name);
      expect((await released(first)).status).to.equal(201);
      const { status } = await second;
      expect(status).to.be.oneOf(method === 'COPY' ? [412] : [404, 412]);
      await expectAll(name);
      if (method === 'COPY') await s.delete(name, recursive);
      else source = name;
    });
  }

  it('DELETE of the source waits for a COPY, which is complete (rule 2.3)', async () => {
    const name = s.fresh('/');
    const copying = await stopped('COPY', name);
    const deleting = s.delete(source, recursive);
    expect((await s.put(s.fresh(), 'text/plain', 'x')).status).to.equal(201);
    expect((await released(copying)).status).to.equal(201);
    expect((await deleting).status).to.equal(204);
    await expectAll(name);
    await s.expectAbsent(source);
    const again = await send('COPY', s.fresh('/'));
    expectProblem(again, 404, s);
    await until(async () => store.removedSubtrees.length === 0, 'all is removed');
    // To the names of what is being removed.
    const back = await send('MOVE', source, {}, name);
    expect(back.status, back.text).to.equal(201);
    await expectAll(source);
  });

  it('moves everything into the trash, and restores it with its owners (rules 26.1, 26.4)', async () => {
    const trash = `${s.root}.lws/trash`;
    const { owner: before } = store.record(`${source}sub/n5`)!;
    expect(before).to.be.a('string');
    const body = JSON.stringify({ iri: source });
    const trashed = await s.send('POST', trash, { 'Content-Type': 'application/json' }, body);
    expect(trashed.status, trashed.text).to.equal(201);
    await s.expectAbsent(source);
    expect((await found(source))[0]).to.equal(0);
    const { items } = JSON.parse((await s.get(trash)).text) as { items: { id: string }[] };
    expect(items).to.have.lengthOf(1);
    expect((await s.send('POST', new URL(items[0]!.id, `${trash}/`).href)).status).to.be.below(300);
    await expectAll(source);
    expect(store.record(`${source}sub/n5`)!.owner).to.equal(before);
  });

  it('MOVE checks its condition (rule 6.6)', async () => {
    const name = s.fresh('/');
    const tag = await s.tag(source);
    expectProblem(await send('MOVE', name, { 'If-Match': '"other"' }), 412, s);
    const moving = await stopped('MOVE', name, { 'If-Match': tag });
    expect((await released(moving)).status).to.equal(201);
    source = name;
    await expectAll(source);
  });
});

describe('COPY and MOVE of many resources with access control lists', function () {
  this.timeout(120_000);
  const s = new StorageUnderTest();
  let store: Store;
  let stopping: Stopping;
  before(async () => {
    await s.open({ settings: { ...wacSettings, 'text-search.enabled': 'true' }, owner });
    store = s.server!.server.store;
    stopping = new Stopping(store);
  });
  after(() => s.close());
  afterEach(async () => {
    stopping.release();
    if (!s.server) return;
    await until(async () => store.removedSubtrees.length === 0, 'all is removed');
    await expectInOrder(store);
  });

  for (const method of methods)
    it(`access that is revoked during a ${method} is not used (rule 6.24)`, async () => {
      const [mine, target] = [await s.container(), await s.container()];
      for (const each of [mine, target]) await setAcl(s, each, ownerRule, rule('Read Write', agent(alice)));
      await s.container(`${mine}a/`);
      await fill(s, `${mine}a/`);
      for (const revoked of [target, mine]) {
        const [moving] = await stopping.reached(`${target}b/`, () =>
          s.send(method, `${mine}a/`, { Destination: `${target}b/` }, undefined, as(s, alice)),
        );
        const { etag = '' } = (await s.get(`${revoked}.acl`)).headers;
        const text = `@prefix acl: <http://www.w3.org/ns/auth/acl#> .\n${ownerRule}`;
        const put = await s.put(`${revoked}.acl`, 'text/turtle', text, { 'If-Match': etag });
        expect(put.status, put.text).to.be.below(300);
        stopping.release();
        const answer = await moving!;
        expect(answer.status, answer.text).to.be.oneOf([403, 404]);
        await s.expectAbsent(`${target}b/`);
        expect((await s.get(`${mine}a/sub/n7`)).status).to.equal(200);
        await setAcl(s, revoked, ownerRule, rule('Read Write', agent(alice)));
      }
    });

  it('MOVE keeps access control lists, and COPY does not copy them (rule 6.25)', async () => {
    const from = await s.container();
    await fill(s, from);
    await setAcl(s, `${from}sub/n5`, ownerRule, rule('Read', agent(alice)));
    const read = (iri: string) => s.send('GET', iri, {}, undefined, as(s, alice));
    const [copy, moved] = [s.fresh('/'), s.fresh('/')];
    expect((await s.send('COPY', from, { Destination: copy })).status).to.equal(201);
    expect((await s.send('MOVE', from, { Destination: moved })).status).to.equal(201);
    expect((await read(`${copy}sub/n5`)).status).to.be.oneOf([403, 404]);
    expect((await read(`${moved}sub/n5`)).status).to.equal(200);
    expect((await read(`${moved}sub/n6`)).status).to.be.oneOf([403, 404]);
  });
});
