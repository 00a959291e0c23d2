/** Storage of versions: quota, expiry, blobs, backups, and the setting switched off (rules 27.1, 27.7). */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  dataKey,
  type EndedState,
  readVersion,
  unpacked,
  versionKey,
  versionsBetween,
  writeVersion,
} from '../../components/versions/entries.js';
import { expire } from '../../components/versions/erasure.js';
import versions from '../../components/versions/index.js';
import { openStore } from '../../lib/server/storage/open-store.js';
import { featuresKey, shortVersions } from '../../lib/storage/keys/features.js';
import { entryRange } from '../../lib/storage/keys/records.js';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { failNextBatch } from '../crash/failing-level.js';
import { entriesOf, runBackup } from '../support/backups.js';
import { freePort } from '../support/free-port.js';
import { type Answer, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';
import { until } from '../support/until.js';

const on = { 'versions.all': 'true' };
const triples = (count: number, last = 0): string =>
  Array.from(
    { length: count },
    (_, at) => `<#s> <http://p.example/p> ${at === count - 1 ? 1_000_000 + last : at} .`,
  ).join('\n');

async function versionsOf(store: Store, iri: string): Promise<EndedState[]> {
  const found: EndedState[] = [];
  for await (const block of store.entries(versionsBetween(iri, 0)))
    for (const entry of block) found.push(readVersion(...entry));
  return found;
}

describe('Versions in a storage', () => {
  let server: SpecServer;
  before(function () {
    // Copies of a shared storage are not opened without its database.
    if (isSharedRun) this.skip();
  });
  afterEach(() => server.stop());
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> =>
    request(path.startsWith('http') ? path : server.root + path, {
      method,
      headers: { Authorization: `Bearer ${server.ownerToken}`, ...headers },
      body,
    });
  const put = async (path: string, body: string, type = 'application/octet-stream'): Promise<number> => {
    const there = (await send('HEAD', path)).status === 200;
    return (await send('PUT', path, { 'Content-Type': type, ...(there ? { 'If-Match': '*' } : {}) }, body)).status;
  };
  const list = async (path: string): Promise<{ id: string; url: string }[]> => {
    const answer = await send('GET', `${path}?versions`);
    expect(answer.status, answer.text).to.equal(200);
    return (JSON.parse(answer.text) as { versions: { id: string; url: string }[] }).versions;
  };
  const stopped = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    await server.stop(true);
    const store = await openStore(server.dataDir, server.root, {});
    try {
      const result = await work(store);
      const faults = [...(await checkStore(store, { content: true })).faults];
      for await (const fault of versions.check!(store)) faults.push(fault);
      expect(faults).to.deep.equal([]);
      return result;
    } finally {
      await store.close();
    }
  };
  const blobsOf = async (store: Store): Promise<number> => {
    let count = 0;
    for await (const _ of store.blobs.all()) count++;
    return count;
  };
  const restart = async (settings: Readonly<Record<string, string>>): Promise<void> => {
    server = await startSpecServer({ settings, again: server });
  };

  it('keeps the blob of a moved resource until the last version of both names is erased (rule 27.7)', async () => {
    server = await startSpecServer({ settings: on });
    await put('a', 'moved');
    expect((await send('MOVE', 'a', { Destination: `${server.root}b` })).status).to.equal(201);
    await put('b', 'other');
    await send('DELETE', 'b');
    for (const [path, texts] of [
      ['a', ['moved']],
      ['b', ['other', 'moved']],
    ] as const)
      expect(await Promise.all((await list(path)).map(async ({ url }) => (await send('GET', url)).text))).to.deep.equal(
        texts,
      );
    expect(await stopped(blobsOf)).to.equal(2);
    await restart(on);
    expect((await send('DELETE', 'b?versions')).status).to.equal(204);
    expect((await send('GET', (await list('a'))[0]!.url)).text).to.equal('moved');
    expect(await stopped(blobsOf)).to.equal(1);
    await restart(on);
    expect((await send('DELETE', 'a?versions')).status).to.equal(204);
    expect((await send('GET', 'a?versions')).status).to.equal(404);
    expect(await stopped(blobsOf)).to.equal(0);
  });

  it('keeps the states of graphs that are moved together (rule 27.7)', async () => {
    server = await startSpecServer({ settings: on });
    const names = Array.from({ length: 1_100 }, (_, at) => `g${at}`);
    await send('PUT', 'c/');
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(
        names.slice(at, at + 50).map((name, index) => put(`c/${name}`, triples(3, at + index), 'text/turtle')),
      );
    expect((await send('MOVE', 'c/', { Destination: `${server.root}d/` })).status).to.equal(201);
    for (const at of [0, 500, 1_099]) {
      const [state] = await list(`c/${names[at]}`);
      expect((await send('GET', state!.url)).text).to.include(String(1_000_000 + at));
      expect((await list(`d/${names[at]}`)).length).to.equal(1);
    }
    await stopped(async () => {});
  });

  describe('of large graphs', () => {
    const line = (at: number, value = at): string => `<#s${at % 100}> <http://p.example/p> ${value} .`;
    const graphOf = (count: number, from = 0): string =>
      Array.from({ length: count }, (_, at) => line(from + at)).join('\n');
    const linesOf = async (url: string, accept = 'application/n-triples'): Promise<readonly string[]> => {
      const answer = await send('GET', url, { Accept: accept });
      expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
      return answer.text.trim().split('\n').sort();
    };

    it('keeps every state that PATCH, PUT and DELETE end (rule 27.1)', async () => {
      server = await startSpecServer({ settings: on });
      const states: (readonly string[])[] = [];
      const write = async (method: string, body: string, type = 'text/turtle'): Promise<void> => {
        const there = (await send('HEAD', 'g')).status === 200;
        const answer = await send(method, 'g', { 'Content-Type': type, ...(there ? { 'If-Match': '*' } : {}) }, body);
        expect(answer.status, answer.text).to.be.oneOf([201, 204]);
        states.unshift(type === 'text/plain' ? [body] : await linesOf('g'));
      };
      const update = (text: string): Promise<void> => write('PATCH', text, 'application/sparql-update');
      await write('PUT', graphOf(19_999));
      await update(`INSERT DATA { ${graphOf(3, 20_000)} }`);
      await update(`DELETE DATA { ${line(1)} } ; INSERT DATA { ${line(1, 900_000)} }`);
      await write('PUT', graphOf(20_500, 10));
      await write('PUT', graphOf(24_000, 500_000));
      await update(`DELETE DATA { ${graphOf(3_000, 500_000)} }`);
      await update(`DELETE DATA { ${graphOf(2_000, 510_000)} }`);
      await write('PUT', graphOf(22_000));
      await write('PUT', 'text', 'text/plain');
      await write('PUT', graphOf(1));
      await write('PUT', graphOf(21_000, 7));
      expect((await send('DELETE', 'g')).status).to.equal(204);
      const compare = async (): Promise<void> => {
        const versions = await list('g');
        expect(versions.length).to.equal(states.length);
        for (const [at, { url }] of versions.entries()) {
          expect(await linesOf(url), `${at}`).to.deep.equal(states[at]);
        }
      };
      // Also while its triples are being removed.
      const { url } = (await list('g'))[0]!;
      for (let at = 0; at < 2; at++) expect(await linesOf(url)).to.deep.equal(states[0]);
      await compare();
      const xml = await send('GET', (await list('g'))[0]!.url, { Accept: 'application/rdf+xml' });
      expect(xml.text.match(/<ns\d:p /g)?.length ?? xml.text.match(/:p[ >]/g)!.length).to.be.greaterThan(20_000);
      await stopped(async () => {});
      await restart(on);
      const [last, previous, other] = await list('g');
      expect((await send('DELETE', last!.url)).status).to.equal(204);
      expect(await linesOf(previous!.url)).to.deep.equal(states[1]);
      expect(await linesOf(other!.url)).to.deep.equal(states[2]);
      await stopped(async () => {});
      await restart(on);
      expect((await send('DELETE', 'g?versions')).status).to.equal(204);
      await stopped(async (store) => {
        for await (const keys of store.keys({ gte: 'E\u0000versions-data', lt: 'E\u0000versions-datb' }))
          expect(keys).to.deep.equal([]);
      });
    });

    it('keeps the state of a moved large graph, and of one in a deleted container (rule 27.7)', async () => {
      server = await startSpecServer({ settings: on });
      await send('PUT', 'c/');
      for (const path of ['g', 'c/g']) await put(path, graphOf(21_000), 'text/turtle');
      const [state, deep] = [await linesOf('g'), await linesOf('c/g')];
      expect((await send('MOVE', 'g', { Destination: `${server.root}h` })).status).to.equal(201);
      expect((await send('DELETE', 'c/', { Depth: 'infinity' })).status).to.equal(204);
      expect(await linesOf((await list('g'))[0]!.url)).to.deep.equal(state);
      await until(async () => (await send('GET', 'c/g?versions')).status === 200);
      expect(await linesOf((await list('c/g'))[0]!.url)).to.deep.equal(deep);
      await stopped(async () => {});
    });

    it('returns the same version while its resource changes (rule 27.2)', async () => {
      server = await startSpecServer({ settings: on });
      await put('g', graphOf(21_000), 'text/turtle');
      const first = await linesOf('g');
      const type = { 'Content-Type': 'application/sparql-update', 'If-Match': '*' };
      const change = async (at: number): Promise<void> => {
        const update = `DELETE DATA { ${line(at)} } ; INSERT DATA { ${line(at, 800_000 + at)} }`;
        expect((await send('PATCH', 'g', type, update)).status).to.equal(204);
      };
      await change(0);
      const { url } = (await list('g'))[1]!;
      const changes = (async () => {
        for (let at = 1; at < 40; at++) await change(at);
        await put('g', 'text', 'text/plain');
      })();
      for (let reads = 0; reads < 8; reads++) expect(await linesOf(url)).to.deep.equal(first);
      await changes;
      expect(await linesOf(url)).to.deep.equal(first);
      await stopped(async () => {});
    });

    it('erases the version of a graph that is being removed (rule 27.5)', async () => {
      server = await startSpecServer({ settings: on });
      await put('g', graphOf(24_000), 'text/turtle');
      await send('DELETE', 'g');
      expect((await send('DELETE', 'g?versions')).status).to.equal(204);
      expect((await send('GET', 'g?versions')).status).to.equal(404);
      expect(await put('g', graphOf(2), 'text/turtle')).to.equal(201);
      await stopped(async (store) => {
        for await (const keys of store.keys({ gte: 'E\u0000versions-data', lt: 'E\u0000versions-datb' }))
          expect(keys).to.deep.equal([]);
      });
    });
  });

  it('keeps the labels of blank nodes, so that a version is a small difference (rule 27.1)', async () => {
    server = await startSpecServer({ settings: on });
    const document = (value: number, order = 1): string =>
      Array.from({ length: 100 }, (_, at) => at * order)
        .sort((a, b) => a - b)
        .map((at) => Math.abs(at))
        .map((at) => {
          const last = at === 50 ? value : at;
          const node = `[ <p:name> "n${at}" ; <p:at> [ <p:x> ${last} ; <p:y> ${at % 3} ; <p:same> true ] ; <p:kind> <k:1> ]`;
          return `<#s${at}> <p:has> ${node} ; <p:a> ${at} ; <p:b> "${last}" .`;
        })
        .join('\n');
    await put('g', document(1000), 'text/turtle');
    const first = (await send('GET', 'g', { Accept: 'text/turtle' })).text;
    await put('g', document(1001), 'text/turtle');
    // Another order of the same triples.
    await put('g', document(1001, -1), 'text/turtle');
    const [, second, third] = await list('g');
    expect((await send('GET', third!.url, { Accept: 'text/turtle' })).text).to.equal(first);
    await stopped(async (store) => {
      const sizes: number[] = [];
      for (const { short } of await versionsOf(store, `${server.root}g`)) {
        let count = 0;
        for await (const keys of unpacked(Readable.from([short]))) count += keys.length;
        sizes.push(count);
      }
      expect(sizes).to.deep.equal([4, 0]);
    });
    await restart(on);
    expect((await send('GET', second!.url)).status).to.equal(200);
  });

  it('counts versions against the quota and rejects a write without room for the replaced state (rule 27.7)', async () => {
    server = await startSpecServer({ settings: { ...on, 'quota.max-bytes': '20000' } });
    const body = 'x'.repeat(5_000);
    const statuses: number[] = [];
    for (let at = 0; at < 6; at++) statuses.push(await put('a', body));
    expect(statuses).to.deep.equal([201, 204, 204, 507, 507, 507]);
    expect((await send('GET', 'a')).text).to.equal(body);
    expect((await list('a')).length).to.equal(3);
    expect((await send('DELETE', 'a?versions')).status).to.equal(204);
    expect(await put('a', body)).to.equal(204);
    expect((await send('DELETE', 'a')).status).to.equal(204);
    await stopped(async () => {});
  });

  it('deletes versions that ended before a position, with their blobs and entries (rule 27.7)', async () => {
    server = await startSpecServer({ settings: on });
    for (let at = 0; at < 40; at++) await put('g', triples(20, at), 'text/turtle');
    for (let at = 0; at < 3; at++) await put('f', `file ${at}`);
    const [graphs, files] = [await list('g'), await list('f')];
    expect([graphs.length, files.length]).to.deep.equal([40, 3]);
    await stopped(async (store) => {
      // Earlier builds cannot read small differences in records.
      expect(store.entry(featuresKey)).to.include(shortVersions);
      await expire(store, Number(graphs[9]!.id), new AbortController().signal);
    });
    await restart(on);
    expect(await list('g')).to.deep.equal(graphs.slice(0, 11));
    for (const { url } of graphs.slice(0, 11)) expect((await send('GET', url)).status).to.equal(200);
    expect((await send('GET', graphs[11]!.url)).status).to.equal(404);
    await stopped(async (store) => {
      await expire(store, Number.MAX_SAFE_INTEGER, new AbortController().signal);
      expect(await blobsOf(store)).to.equal(1);
    });
    await restart(on);
    expect((await list('g')).length).to.equal(1);
    expect((await send('GET', files[1]!.url)).status).to.equal(404);
  });

  it('ends histories when the setting is off, and begins others when it is on again (rule 27.1)', async () => {
    server = await startSpecServer({ settings: on });
    for (const last of [1, 2]) await put('g', triples(20, last), 'text/turtle');
    const ids = (await list('g')).map(({ id }) => id);
    await server.stop(true);
    await restart({});
    expect((await send('GET', 'g')).headers['link']).to.include('timemap');
    for (const last of [3, 4]) await put('g', triples(20, last), 'text/turtle');
    const plain = await send('GET', 'g');
    expect(plain.headers['link']).to.not.include('timemap');
    expect((await send('GET', 'g', { 'Accept-Datetime': 'yesterday' })).text).to.equal(plain.text);
    for (const [at, id] of ids.entries())
      expect((await send('GET', `g?version=${id}`)).text).to.include(`${1_000_002 - at}`);
    expect((await list('g')).map(({ id }) => id)).to.deep.equal(ids);
    await server.stop(true);
    await restart(on);
    await put('g', triples(20, 5), 'text/turtle');
    const urls = (await list('g')).map(({ url }) => url);
    const last = await Promise.all(urls.map(async (url) => /100000\d/.exec((await send('GET', url)).text)?.[0]));
    // The state between, which began and ended while the setting was off, is not kept.
    expect(last).to.deep.equal(['1000005', '1000004', '1000002', '1000001']);
    await stopped(async () => {});
  });

  it('writes nothing while the setting is off (rule 27.1)', async () => {
    server = await startSpecServer();
    for (const last of [1, 2]) await put('g', triples(20, last), 'text/turtle');
    await put('f', 'file');
    const { headers } = await send('GET', 'f', { 'Accept-Datetime': 'yesterday' });
    expect([headers['vary'], headers['link']!.includes('timemap')]).to.deep.equal([undefined, false]);
    expect((await send('GET', 'g?version=1')).text).to.equal((await send('GET', 'g?versions')).text);
    expect((await send('PUT', 'g?version=1', { 'Content-Type': 'text/turtle' }, '')).status).to.equal(400);
    await send('DELETE', 'f');
    await stopped(async (store) => {
      expect(store.entry(featuresKey)).to.not.include('versions');
      for await (const keys of store.keys({ gte: 'E\u0000versions', lt: 'E\u0000versiont' }))
        expect(keys).to.deep.equal([]);
    });
  });

  it('keeps versions of resources with a link, and of those below a container with one (rule 27.1)', async () => {
    server = await startSpecServer();
    const link = async (path: string, target = `${server.root}${path}?versions`): Promise<void> => {
      const body = JSON.stringify({ 'version-history': target === '' ? null : [{ href: target }] });
      const fields = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
      const answer = await send('PATCH', `${path}.meta`, fields, body);
      expect(answer.status, answer.text).to.equal(204);
    };
    for (const path of ['c/', 'c/d/', 'e/']) await send('PUT', path);
    const paths = ['c/x', 'c/d/y', 'e/z', 'r'];
    for (const path of paths) await put(path, '1');
    await link('e/', 'http://other.example/?versions');
    await put('e/z', '2');
    for (const path of ['c/', 'r']) await link(path);
    for (const text of ['2', '3']) for (const path of paths) await put(path, text);
    const texts = async (path: string): Promise<string[]> =>
      Promise.all((await list(path)).map(async ({ url }) => (await send('GET', url)).text));
    for (const path of ['c/x', 'c/d/y', 'r']) expect(await texts(path), path).to.deep.equal(['3', '2', '1']);
    expect((await send('GET', 'e/z?versions')).status).to.equal(404);
    expect((await send('GET', 'e/z', { 'Accept-Datetime': 'yesterday' })).text).to.equal('3');
    expect((await send('GET', 'e/z')).headers['vary']).to.equal('Accept-Datetime');
    // The link is deleted with the resource.
    await send('DELETE', 'r');
    await send('MOVE', 'c/d/y', { Destination: `${server.root}e/y` });
    expect([await texts('r'), await texts('c/d/y')]).to.deep.equal([
      ['3', '2', '1'],
      ['3', '2', '1'],
    ]);
    expect((await send('GET', 'e/y?versions')).status).to.equal(404);
    // The link of a moved container still has the earlier name.
    await send('PUT', 'm/');
    await link('m/');
    await put('m/n', '1');
    expect((await send('MOVE', 'm/', { Destination: `${server.root}w/` })).status).to.equal(201);
    for (const text of ['2', '3']) await put('w/n', text);
    expect(await texts('w/n')).to.deep.equal(['3', '2', '1']);
    // Without versions, the parameter is one of the client, as against caches.
    expect((await send('GET', 'e/z?version=1.2.3')).text).to.equal('3');
    expect((await send('GET', 'w/n?version=1.2.3')).status).to.equal(404);
    await link('c/', '');
    for (const text of ['4', '5']) await put('c/x', text);
    expect(await texts('c/x')).to.deep.equal(['3', '2', '1']);
    await stopped(async () => {});
  });

  it('writes only new versions to an incremental backup, and those of a graph that is being removed (rule 27.7)', async () => {
    server = await startSpecServer({ settings: on });
    await put('f', 'old');
    await put('f', 'new');
    for (const at of [1, 2]) {
      const body = JSON.stringify({ license: [{ href: `urn:l:${at}`, pieces: 7 }] });
      await send('PATCH', 'f.meta', { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' }, body);
    }
    await put('g', triples(20, 1), 'text/turtle');
    await put('large', triples(60_000), 'text/turtle');
    const large = (await send('GET', 'large', { Accept: 'application/n-triples' })).text;
    await server.stop(true);
    // 100 MB of earlier states, and 20 000 small ones of another resource.
    const iri = `${server.root}g`;
    const store = await openStore(server.dataDir, server.root, {});
    for (let at = 1; at <= 100; at++)
      await store.transact((tx) => {
        const state = { began: at, ended: at + 1, record: store.record(iri)!, graph: 'whole', pieces: 1 } as const;
        tx.putEntry(versionKey(iri, at + 1), writeVersion(state));
        tx.putEntry(dataKey(iri, at + 1, 0), randomBytes(1 << 19).toString('hex'));
      });
    for (let at = 1; at <= 20_000; at += 1000)
      await store.transact((tx) => {
        const other = `${server.root}small`;
        for (let ended = at; ended < at + 1000; ended++) {
          const record = { ...store.record(iri)!, iri: other, title: randomBytes(40).toString('base64') };
          tx.putEntry(versionKey(other, ended), writeVersion({ began: ended - 1, ended, record }));
        }
      });
    await store.close();
    const [folder, dataDir] = ['backup', 'same'].map((name) =>
      join(mkdtempSync(join(tmpdir(), `quadpod-${name}-`)), 'data'),
    ) as [string, string];
    const run = { folder, dataDir: server.dataDir, root: server.root };
    await runBackup('backup', run);
    const sizes = (): Map<string, number> =>
      new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]));
    const before = sizes();
    expect(Math.max(...before.values())).to.be.greaterThan(50_000_000);
    await restart(on);
    await put('g', triples(20, 2), 'text/turtle');
    // Ends while triples are being removed.
    await send('DELETE', 'large');
    await server.stop(true);
    expect((await runBackup('backup', run)).join()).to.include('increment 1');
    const added = [...sizes()].filter(([name]) => !before.has(name) && name.endsWith('.gz'));
    expect(added.map(([name]) => name.replace(/-.*/, '')).sort()).to.deep.equal(['quads', 'state']);
    for (const [name, size] of added) expect(size, name).to.be.lessThan(1_000_000);
    expect((await runBackup('verify', run)).join()).to.match(/all in order\.$/);
    expect((await runBackup('restore', { ...run, dataDir })).join()).to.not.match(/differ|lack|cannot/);
    const versionsIn = async (folder: string): Promise<number> => {
      const level = await openLevel(join(folder, 'level'));
      try {
        return (await entriesOf(level)).filter(([key]) => key.startsWith('E\u0000versions')).length;
      } finally {
        await level.close();
      }
    };
    expect(await versionsIn(dataDir)).to.equal(await versionsIn(server.dataDir));
    server = await startSpecServer({ settings: on, again: { ...server, dataDir } });
    const [removed] = await list('large');
    expect((await send('GET', removed!.url, { Accept: 'application/n-triples' })).text).to.equal(large);
    const [, linked, , old] = await list('f');
    expect((await send('GET', old!.url)).text).to.equal('old');
    expect((await send('GET', `f.meta?version=${linked!.id}`)).text).to.include('urn:l:1');
    expect((await list('g')).length).to.equal(102);
  });

  describe('of links', () => {
    const link = async (path: string, href: string | undefined): Promise<void> => {
      const fields = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
      const body = JSON.stringify({ license: href === undefined ? null : [{ href }], type: [{ href: 'urn:t' }] });
      const answer = await send('PATCH', `${path}.meta`, fields, body);
      expect(answer.status, answer.text).to.equal(204);
    };
    /** The link of each state, latest first; `none`, or the status if it is not kept. */
    const linksOf = async (path: string): Promise<string[]> =>
      Promise.all(
        (await list(path)).map(async ({ id }) => {
          const { status, text } = await send('GET', `${path}.meta?version=${id}`);
          return status === 200 ? (/urn:l:\d+/.exec(text)?.[0] ?? 'none') : String(status);
        }),
      );
    const texts = async (path: string): Promise<string[]> =>
      Promise.all((await list(path)).map(async ({ url }) => (await send('GET', url)).text));

    it('keeps them over differences, erasure, MOVE, deletion and expiry (rules 27.1, 27.5, 27.7)', async () => {
      server = await startSpecServer({ settings: on });
      await put('g', triples(20, 0), 'text/turtle');
      const expected = ['none'];
      for (let at = 1; at <= 40; at++) {
        if (at % 3 === 0) await link('g', `urn:l:${at}`);
        else await put('g', triples(20, at), 'text/turtle');
        expected.unshift(at % 3 === 0 ? `urn:l:${at}` : expected[0]!);
      }
      expect(await linksOf('g')).to.deep.equal(expected);
      const graphs = await texts('g');
      for (const at of [10, 9, 9, 4, 38 - 4]) {
        expect((await send('DELETE', (await list('g'))[at]!.url)).status).to.equal(204);
        expected.splice(at, 1);
        graphs.splice(at, 1);
        expect([await linksOf('g'), await texts('g')]).to.deep.equal([expected, graphs]);
      }
      await link('g', undefined);
      await send('MOVE', 'g', { Destination: `${server.root}h` });
      expect(await linksOf('g')).to.deep.equal(['none', ...expected]);
      // Another resource with the name.
      await put('g', 'file');
      await link('g', 'urn:l:100');
      await link('g', 'urn:l:101');
      const all = ['urn:l:101', 'urn:l:100', 'none', 'none', ...expected];
      expect(await linksOf('g')).to.deep.equal(all);
      const { id } = (await list('g'))[8]!;
      await stopped((store) => expire(store, Number(id), new AbortController().signal));
      await restart(on);
      expect(await linksOf('g')).to.deep.equal(all.slice(0, 10));
      await send('DELETE', 'g');
      expect(await linksOf('g')).to.deep.equal(all.slice(0, 10));
      expect((await send('GET', 'g.meta')).status).to.equal(404);
      expect((await send('DELETE', 'g?versions')).status).to.equal(204);
      await stopped(async () => {});
    });

    it('keeps those of the resources of a deleted container, and of large graphs (rule 27.7)', async () => {
      server = await startSpecServer({ settings: on });
      await send('PUT', 'c/');
      await put('c/large', triples(21_000), 'text/turtle');
      await put('c/small', triples(3), 'text/turtle');
      for (const path of ['c/large', 'c/small']) for (const at of [1, 2]) await link(path, `urn:l:${at}`);
      expect((await send('DELETE', 'c/', { Depth: 'infinity' })).status).to.equal(204);
      for (const path of ['c/large', 'c/small']) {
        await until(async () => (await send('GET', `${path}?versions`)).status === 200);
        await until(async () => (await list(path)).length === 3);
        expect(await linksOf(path)).to.deep.equal(['urn:l:2', 'urn:l:1', 'none']);
      }
      await stopped(async () => {});
    });

    it('counts a file with several states of links once against the quota (rule 27.7)', async () => {
      server = await startSpecServer({ settings: { ...on, 'quota.max-bytes': '20000' } });
      const body = 'x'.repeat(9_000);
      expect(await put('f', body)).to.equal(201);
      for (let at = 1; at <= 5; at++) await link('f', `urn:l:${at}`);
      expect(await put('f', body)).to.equal(507);
      await send('MOVE', 'f', { Destination: `${server.root}e` });
      expect(await put('e', 'small')).to.equal(204);
      expect(await texts('f')).to.deep.equal(Array.from({ length: 6 }, () => body));
      expect(await texts('e')).to.deep.equal(['small', body]);
      expect(await stopped(blobsOf)).to.equal(2);
      await restart({ ...on, 'quota.max-bytes': '20000' });
      expect(await put('other', 'x'.repeat(4_000))).to.equal(201);
      expect((await send('DELETE', 'f?versions')).status).to.equal(204);
      expect(await texts('e')).to.deep.equal(['small', body]);
      expect((await send('DELETE', 'e?versions')).status).to.equal(204);
      expect(await stopped(blobsOf)).to.equal(2);
    });

    it('reads versions that an earlier build wrote, without links and with entries for small differences (rule 27.2)', async () => {
      server = await startSpecServer({ settings: on });
      await put('g', triples(20, 0), 'text/turtle');
      await put('f', '0');
      for (const path of ['f', 'g']) {
        for (const at of [1, 2]) {
          await link(path, `urn:l:${at}`);
          const next = path === 'g' ? triples(20, at) : String(at);
          await put(path, next, path === 'g' ? 'text/turtle' : undefined);
        }
        await put(path, path === 'g' ? triples(20, 3) : '3', path === 'g' ? 'text/turtle' : undefined);
      }
      const [graphs, files] = [await texts('g'), await texts('f')];
      await stopped(async (store) => {
        for (const path of ['f', 'g'])
          for (const { ended, ...version } of await versionsOf(store, server.root + path))
            await store.transact((tx) => {
              const { links: _, short, ...earlier } = version;
              const data = short === undefined ? {} : { pieces: 1 };
              if (short !== undefined) tx.putEntry(dataKey(server.root + path, ended, 0), short);
              tx.putEntry(versionKey(server.root + path, ended), writeVersion({ ...earlier, ...data, ended }));
            });
        let pieces = 0;
        for await (const keys of store.keys(entryRange('versions-data'))) pieces += keys.length;
        expect(pieces).to.be.greaterThan(3);
      });
      await restart(on);
      expect([await texts('g'), await texts('f')]).to.deep.equal([graphs, files]);
      // Those that were written again are not kept.
      const known = ['urn:l:2', 'urn:l:2', 'urn:l:2', '404', '404', 'none'];
      for (const path of ['f', 'g']) {
        expect(await linksOf(path)).to.deep.equal(known);
        const { headers } = await send('GET', (await list(path))[3]!.url);
        expect(headers['link']).to.include(`<${server.root}${path}.meta>; rel="linkset"`).and.include('<urn:t>');
      }
      for (const path of ['f', 'g']) {
        await link(path, 'urn:l:3');
        expect(await linksOf(path)).to.deep.equal(['urn:l:3', ...known]);
      }
      await stopped(async () => {});
    });

    it('names a feature before a blob counts for versions and a resource once', async () => {
      server = await startSpecServer({ settings: on });
      await put('f', 'file');
      for (const relation of ['urn:l:1', 'urn:l:2']) await link('f', relation);
      await stopped(async (store) => expect(store.entry(featuresKey)).to.include(shortVersions));
    });

    it('knows no state of a write that failed, even if the next write has its date (rule 27.1)', async () => {
      const { now } = Date;
      let stopsAt: number | undefined;
      // The server keeps the function.
      Date.now = () => stopsAt ?? now();
      try {
        server = await startSpecServer();
      } finally {
        Date.now = now;
      }
      await put('r', '1');
      const patch = async (body: object): Promise<number> => {
        const fields = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
        return (await send('PATCH', 'r.meta', fields, JSON.stringify(body))).status;
      };
      expect(await patch({ 'version-history': [{ href: `${server.root}r?versions` }] })).to.equal(204);
      await put('r', '2');
      stopsAt = now() + 60_000;
      void failNextBatch(server.server.store.level);
      expect(await patch({ 'urn:l:1': [{ href: 'urn:t' }] })).to.equal(507);
      await until(async () => (await patch({ 'version-history': null })) === 204);
      stopsAt = undefined;
      const known = (await list('r')).map(({ id }) => id);
      await put('r', '3');
      expect((await list('r')).map(({ id }) => id)).to.deep.equal(known);
      await stopped(async () => {});
    });

    it('ends no state while versions of the resource are not kept (rule 27.1)', async () => {
      server = await startSpecServer();
      await put('r', '1');
      const history = async (href: string | undefined): Promise<void> => {
        const fields = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
        const body = JSON.stringify({ 'version-history': href === undefined ? null : [{ href }] });
        expect((await send('PATCH', 'r.meta', fields, body)).status).to.equal(204);
      };
      await link('r', 'urn:l:1');
      await history(`${server.root}r?versions`);
      expect(await linksOf('r')).to.deep.equal(['urn:l:1']);
      await link('r', 'urn:l:2');
      expect(await linksOf('r')).to.deep.equal(['urn:l:2', 'urn:l:1']);
      await history(undefined);
      await link('r', 'urn:l:3');
      expect(await linksOf('r')).to.deep.equal(['urn:l:2', 'urn:l:1']);
      expect(await texts('r')).to.deep.equal(['1', '1']);
      await put('r', '2');
      expect(await stopped(blobsOf)).to.equal(2);
    });
  });

  it('restores versions from a backup, and none at another address (rule 27.7)', async () => {
    server = await startSpecServer({ settings: on });
    for (const last of [1, 2]) await put('g', triples(20, last), 'text/turtle');
    await put('f', 'old');
    await put('f', 'new');
    await put('d', 'deleted');
    await send('DELETE', 'd');
    const [{ length }, [present, old]] = [await list('g'), await list('f')];
    expect(length).to.equal(2);
    await server.stop(true);
    const [folder, dataDir, elsewhere] = ['backup', 'same', 'other'].map((name) =>
      join(mkdtempSync(join(tmpdir(), `quadpod-${name}-`)), 'data'),
    ) as [string, string, string];
    const run = { folder, dataDir: server.dataDir, root: server.root };
    await runBackup('backup', run);
    const restored = await runBackup('restore', { ...run, dataDir });
    expect(restored.filter((line) => / blobs in /.test(line)).join(), restored.join()).to.match(/^3 blobs/);
    const moved = `http://localhost:${await freePort()}/`;
    await runBackup('restore', { folder, dataDir: elsewhere, root: moved, flags: { rewrite: `${run.root}=${moved}` } });
    const original = server;
    server = await startSpecServer({ settings: on, again: { ...original, dataDir } });
    expect((await send('GET', old!.url)).text).to.equal('old');
    expect((await send('GET', present!.url)).text).to.equal('new');
    await server.stop();
    server = await startSpecServer({ settings: on, again: { ...original, dataDir: elsewhere, root: moved } });
    expect(server.root).to.equal(moved);
    expect((await list('f')).length).to.equal(1);
    await put('f', 'newer');
    expect((await list('f')).length).to.equal(2);
    expect(await stopped(blobsOf)).to.equal(2);
  });
});
