/** Queries as of a date: since when versions are kept, up to when they are deleted, and limits (rule 27.8). */
import { expect } from 'chai';
import { changedKey, versionKey, writeVersion } from '../../components/versions/entries.js';
import { expire } from '../../components/versions/erasure.js';
import { openStore } from '../../lib/server/storage/open-store.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';
import { until } from '../support/until.js';

const on = { 'versions.all': 'true' };

describe('Queries as of a date in a storage', () => {
  let server: SpecServer;
  before(function () {
    // Copies of a shared storage are not opened without its database.
    if (isSharedRun) this.skip();
  });
  afterEach(() => server.stop());
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> =>
    request(server.root + path, {
      method,
      headers: { Authorization: `Bearer ${server.ownerToken}`, ...headers },
      body,
    });
  const put = async (path: string, value: number): Promise<void> => {
    const there = (await send('HEAD', path)).status === 200;
    const headers = { 'Content-Type': 'text/turtle', ...(there ? { 'If-Match': '*' } : {}) };
    expect((await send('PUT', path, headers, `<> <http://p.example/p> ${value} .`)).status).to.be.oneOf([201, 204]);
  };
  const instant = async (): Promise<string> => {
    const second = Math.floor(Date.now() / 1000);
    await until(() => Date.now() >= (second + 1) * 1000);
    return new Date(second * 1000).toUTCString();
  };
  const ask = (date: string, query = 'SELECT ?g ?o { GRAPH ?g { ?s <http://p.example/p> ?o } } ORDER BY ?g') =>
    send(
      'POST',
      '.lws/sparql',
      { 'Content-Type': 'application/sparql-query', Accept: 'text/csv', 'Accept-Datetime': date },
      query,
    );
  const rows = async (date: string): Promise<string[]> => {
    const answer = await ask(date);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text.replaceAll(server.root, '').trim().split('\r\n').slice(1);
  };
  const stopped = async (work: (store: Store) => Promise<unknown>): Promise<void> => {
    await server.stop(true);
    const store = await openStore(server.dataDir, server.root, {});
    try {
      await work(store);
    } finally {
      await store.close();
    }
  };
  const restart = async (settings: Readonly<Record<string, string>>): Promise<void> => {
    server = await startSpecServer({ settings, again: server });
  };

  it('have present states only of resources whose versions have been kept since then (rule 27.8)', async () => {
    server = await startSpecServer({ settings: {} });
    for (const path of ['c/', 'd/']) await send('PUT', path);
    for (const path of ['c/a', 'd/moved', 'other']) await put(path, 1);
    const first = await instant();
    expect((await send('MOVE', 'd/moved', { Destination: `${server.root}c/b` })).status).to.equal(201);
    const link = (body: string): Promise<Answer> =>
      send('PATCH', 'c/.meta', { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' }, body);
    const switched = await link(JSON.stringify({ 'version-history': [{ href: `${server.root}c/?versions` }] }));
    expect(switched.status, switched.text).to.be.below(300);
    const second = await instant();
    await put('c/b', 2);
    const third = await instant();
    // The replaced state had another name when it was written.
    expect(await rows(first)).to.deep.equal([]);
    const named = await ask(first, `SELECT ?o FROM <${server.root}c/b> { ?s ?p ?o }`);
    expect([named.status, named.text]).to.deep.equal([200, 'o\r\n']);
    expect(await rows(second)).to.deep.equal(['c/a,1', 'c/b,1']);
    expect(await rows(third)).to.deep.equal(['c/a,1', 'c/b,2']);
    expect((await link('{"version-history":null}')).status).to.be.below(300);
    await put('c/a', 3);
    const fourth = await instant();
    expect(await rows(second)).to.deep.equal(['c/b,1']);
    expect(await rows(fourth)).to.deep.equal([]);
    await server.stop(true);
    await restart(on);
    const fifth = await instant();
    await put('c/b', 4);
    expect(await rows(fifth)).to.deep.equal(['c/a,3', 'c/b,2', 'other,1']);
    expect(await rows(fourth)).to.deep.equal(['c/b,2']);
    await server.stop(true);
    await restart({});
    await put('other', 5);
    await server.stop(true);
    await restart(on);
    expect(await rows(fifth)).to.deep.equal(['c/b,2']);
  });

  it('are rejected before expired versions, above a million quads of changed graphs, and of too many (rule 27.8)', async () => {
    server = await startSpecServer({ settings: on });
    await put('a', 1);
    const first = await instant();
    await put('a', 2);
    const second = await instant();
    await put('a', 3);
    const { versions } = JSON.parse((await send('GET', 'a?versions')).text) as { versions: { id: string }[] };
    expect(await rows(first)).to.deep.equal(['a,1']);
    expect(await rows(second)).to.deep.equal(['a,2']);
    const now = Math.floor(Date.now() / 1000);
    const dateAt = (seconds: number): string => new Date((now + seconds) * 1000).toUTCString();
    const ofA = `SELECT ?o FROM <${server.root}a> { ?s ?p ?o }`;
    await stopped(async (store) => {
      await expire(store, Number(versions[1]!.id) + 1, new AbortController().signal);
      const large = { ...store.record(`${server.root}a`)!, triples: 1_000_001 };
      const [began, ended, iri] = [1, (now + 60) * 64_000, `${server.root}large`];
      const names = Array.from({ length: 500_001 }, (_, at) => `+${server.root}n${at}`);
      await store.transact((tx) => {
        tx.putEntry(versionKey(iri, ended), writeVersion({ began, ended, record: { ...large, iri } }));
        tx.putEntry(changedKey(ended, 0), JSON.stringify([iri]));
        for (let at = 0; at < 501; at++)
          tx.putEntry(changedKey((now + 30) * 64_000, at), JSON.stringify(names.slice(at * 1000, (at + 1) * 1000)));
      });
    });
    await restart(on);
    const gone = await ask(first);
    expectProblem(gone, 404);
    expect(gone.text).to.include('lws.versions.days');
    expectProblem(await ask(first, ofA), 404);
    expect((await ask(second, ofA)).text).to.equal('o\r\n2\r\n');
    const refused = await ask(dateAt(45));
    expectProblem(refused, 422);
    expect(refused.text).to.include('more than 1000000');
    expect((await ask(dateAt(45), ofA)).text).to.equal('o\r\n3\r\n');
    const many = await ask(second);
    expectProblem(many, 422);
    expect(many.text).to.include('500000 graphs');
    expect((await ask(dateAt(61))).status).to.equal(200);
  });
});
