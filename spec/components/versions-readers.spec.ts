/** Cost of reading versions: shares of the memory for changed triples, and responses without the state (rules 27.2, 27.7). */
import { expect } from 'chai';
import {
  dataKey,
  dataRange,
  packedPieces,
  readVersion,
  versionKey,
  writeVersion,
} from '../../components/versions/entries.js';
import { PastGraph, type PastSource } from '../../components/versions/past-graph.js';
import type { Client } from '../../lib/authorization/client.js';
import { openStore } from '../../lib/server/storage/open-store.js';
import { type ResourceRecord, writeRecord } from '../../lib/storage/keys/records.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';

describe('Readers of versions', () => {
  it('have shares of the memory for changed triples, so that strangers leave some to others (rule 27.2)', async () => {
    const iri = 'http://s.example/g';
    const [began, ended, triples] = [1, 2, 60_000];
    const record = { iri, kind: 'rdf', revision: 'r1', mediaType: 'text/turtle', size: 1, modified: 1, triples };
    const present = { ...record, revision: 'r2' } as unknown as ResourceRecord;
    const version = { began, ended, record: record as unknown as ResourceRecord, next: 'r2', graph: 'delta' } as const;
    const pieces: [string, string][] = [];
    const added = Array.from({ length: triples }, (_, at) => `key ${String(at).padStart(6, '0')}`);
    for await (const piece of packedPieces({ added, removed: [] }))
      pieces.push([dataKey(iri, ended, pieces.length), piece]);
    const source: PastSource = {
      async *entries({ gte }) {
        if (gte === dataRange(iri, ended).gte) yield pieces;
        else yield [[versionKey(iri, ended), writeVersion({ ...version, pieces: pieces.length })]];
      },
      values: async () => [writeRecord(present), undefined],
      async *keys() {},
      close: async () => {},
    };
    const opened: PastGraph[] = [];
    const open = async (client: string, callerClass: Client['callerClass']): Promise<boolean> => {
      try {
        opened.push((await PastGraph.open(source, version, { client, callerClass }))!);
        return true;
      } catch (error) {
        expect((error as { code?: string }).code).to.equal('too-busy');
        return false;
      }
    };
    const counts: number[] = [];
    for (const [clients, callerClass] of [
      [4, 'stranger'],
      [2, 'controller'],
    ] as const)
      for (let client = 0; client < clients; client++) {
        let count = 0;
        while (await open(`${callerClass} ${client}`, callerClass)) count++;
        counts.push(count);
      }
    // A client has four at most, strangers have twelve, and all have sixteen.
    expect(counts).to.deep.equal([4, 4, 4, 0, 4, 0]);
    await opened.shift()!.close();
    expect(await open('stranger 3', 'stranger')).to.equal(true);
    for (const graph of opened) await graph.close();
    expect(await open('stranger 0', 'stranger')).to.equal(true);
    await opened.at(-1)!.close();
  });

  describe('of damaged versions', () => {
    const settings = { 'versions.all': 'true' };
    let server: SpecServer;
    before(async function () {
      // Copies of a shared storage are not opened without its database.
      if (isSharedRun) this.skip();
      server = await startSpecServer({ settings });
      for (const path of ['g', 'h']) for (const value of [1, 2, 3]) await put(path, value);
    });
    after(() => server?.stop());
    const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> =>
      request(path.startsWith('http') ? path : server.root + path, {
        method,
        headers: { Authorization: `Bearer ${server.ownerToken}`, ...headers },
        body,
      });
    const put = (path: string, value: number): Promise<Answer> => {
      const condition: Record<string, string> = value > 1 ? { 'If-Match': '*' } : {};
      return send(
        'PUT',
        path,
        { 'Content-Type': 'text/turtle', ...condition },
        `<> <http://p.example/p> ${value}, 11, 12, 13, 14, 15 .`,
      );
    };
    const list = async (path: string) =>
      (JSON.parse((await send('GET', `${path}?versions`)).text) as { versions: { id: string; url: string }[] })
        .versions;
    const changed = async (work: (tx: Transaction) => void): Promise<void> => {
      await server.stop(true);
      const store = await openStore(server.dataDir, server.root, {});
      await store.transact(work);
      await store.close();
      server = await startSpecServer({ settings, again: server });
    };

    it('get 304 for a version that they have, without a read of its triples (rule 27.2)', async () => {
      const [, later, first] = await list('g');
      const { url } = first!;
      const whole = await send('GET', url, { Accept: 'application/n-triples' });
      await changed((tx) => {
        const key = versionKey(`${server.root}g`, Number(later!.id));
        tx.putEntry(key, writeVersion({ ...readVersion(key, tx.entry(key)!), short: undefined }));
      });
      const tag = whole.headers['etag']!;
      const fields = { Accept: 'application/n-triples', 'If-None-Match': `"other", ${tag}` };
      for (const method of ['GET', 'HEAD']) {
        const unchanged = await send(method, url, fields);
        expect([unchanged.status, unchanged.headers['etag']]).to.deep.equal([304, tag]);
        expect(unchanged.headers['memento-datetime']).to.equal(whole.headers['memento-datetime']);
      }
      // Another syntax has another tag.
      expectProblem(await send('GET', url, { ...fields, Accept: 'text/turtle' }), 500);
    });

    it('learn which version to erase before one that it needs (rule 27.5)', async () => {
      const [present, later, first] = await list('h');
      const iri = `${server.root}h`;
      await changed((tx) => {
        const key = versionKey(iri, Number(present!.id));
        const { graph: _, ...version } = readVersion(key, tx.entry(key)!);
        tx.putEntry(key, writeVersion(version));
      });
      expectProblem(await send('GET', later!.url), 404);
      const refused = await send('DELETE', later!.url);
      expectProblem(refused, 409);
      expect(refused.text).to.include(first!.id);
      for (const { url } of [first!, later!]) expect((await send('DELETE', url)).status).to.equal(204);
      expect((await list('h')).map(({ id }) => id)).to.deep.equal([present!.id]);
    });
  });
});
