/** Life cycle of imports: their reports, and their state after an interruption. */
import { renameSync } from 'node:fs';
import { expect } from 'chai';
import { keptStates } from '../../../../components/data/transfer/import-state.js';
import { describeStorage } from '../../../support/conformance.js';
import { beginImport, imported, importOutcome, type ReportedImport } from '../../../support/imports.js';
import { type SpecServer, startSpecServer } from '../../../support/server.js';

describeStorage(
  'Import',
  (s) => {
    it('has the outcome of its dry run', async () => {
      const into = s.fresh('/');
      const lines: string[] = [];
      for (let count = 0; count < 21_000; count++) lines.push(`<urn:s> <urn:p> "${count}" <${into}large> .`);
      for (let count = 0; count < 10; count++) lines.push(`<urn:s> <urn:p> "${count}" <${into}g${count % 2}> .`);
      const dump = lines.join('\n');
      const facts = ({ status, created, replaced, merged, skipped, leftOut, quads }: ReportedImport): object => ({
        ...{ status, created, replaced, merged, skipped, leftOut, quads },
      });
      const dry = await imported(s, dump, { query: { into, 'dry-run': '' } });
      await s.expectAbsent(into);
      expect(facts(await imported(s, dump, { query: { into } }))).to.deep.equal(facts(dry));
    });

    it('reports an unreadable file by the name that the sender gave, without a path of the server', async () => {
      const query = { name: 'gift.zip', format: 'zip' };
      const wrongs: [object, RegExp][] = [
        [{ query }, /gift\.zip is not a valid ZIP/],
        [{ query: { ...query, format: 'archive' } }, /gift\.zip/],
        [{ query: { name: 'gift.nq.gz' }, type: 'application/gzip' }, /gift\.nq\.gz/],
      ];
      for (const [sent, message] of wrongs) {
        const told = await imported(s, 'PK\u0003\u0004 none', sent);
        expect(told.failure).to.match(message);
        expect(JSON.stringify(told)).to.not.contain(s.server!.dataDir);
      }
    });

    it('releases its slot when it reports its end', async () => {
      const lines: string[] = [];
      for (let count = 0; count < 1_000; count++) lines.push(`<urn:s> <urn:p> "x" <${s.fresh()}> .`);
      for (const dump of [lines.join('\n'), 'no dump', ''])
        expect((await imported(s, dump)).status).to.be.oneOf(['done', 'failed']);
    });

    it('is stored before the response, so that it survives a crash', async () => {
      const begun = await beginImport(s, `<urn:s> <urn:p> "x" <${s.fresh()}> .`);
      const kept = await keptStates(s.server!.server.store);
      expect(kept.map(({ id }) => id)).to.include(begun.headers['location']!.split('/').at(-1));
      expect((await importOutcome(s, begun)).status).to.equal('done');
    });
  },
  { settings: {}, isOncePlaced: true },
);

describe('Moved data directory', () => {
  it('contains the imports to resume', async () => {
    const first = await startSpecServer();
    const ask = (server: SpecServer, iri: string, init: RequestInit = {}): Promise<Response> =>
      fetch(iri, {
        ...init,
        headers: { Authorization: `Bearer ${server.ownerToken}`, Accept: 'application/x-ndjson' },
      });
    const lines: string[] = [];
    for (let count = 0; count < 20_000; count++)
      lines.push(`<urn:s> <urn:p> "${count}" <${first.root}c/g${count >> 1}> .`);
    const begun = await ask(first, `${first.root}.lws/import?name=a.nq`, { method: 'POST', body: lines.join('\n') });
    const job = begun.headers.get('location')!;
    const followed = await ask(first, job);
    await first.stop(true);
    expect(await followed.text()).to.contain('"interrupted"');
    const dataDir = `${first.dataDir}-moved`;
    renameSync(first.dataDir, dataDir);
    const second = await startSpecServer({ again: { ...first, dataDir } });
    const resumed = await ask(second, job, { method: 'POST' });
    expect(resumed.status, await resumed.text()).to.equal(202);
    const last = JSON.parse((await (await ask(second, job)).text()).trim().split('\n').at(-1)!) as ReportedImport;
    const kept = await keptStates(second.server.store);
    await second.stop();
    expect(last).to.include({ status: 'done', quads: 20_000, created: 10_000, merged: 0 });
    expect(JSON.stringify(kept)).to.not.contain(first.dataDir);
  });
});

describe('Server shutdown', () => {
  it('interrupts a running import, reports it to followers, and resumes it later', async () => {
    const first = await startSpecServer();
    const { root } = first;
    const ask = (server: SpecServer, iri: string, init: RequestInit = {}): Promise<Response> =>
      fetch(iri, {
        ...init,
        headers: { Authorization: `Bearer ${server.ownerToken}`, Accept: 'application/x-ndjson' },
      });
    const lines: string[] = [];
    for (let count = 0; count < 20_000; count++) lines.push(`<urn:s> <urn:p> "${count}" <${root}c/g${count >> 1}> .`);
    const begun = await ask(first, `${root}.lws/import?name=a.nq`, { method: 'POST', body: lines.join('\n') });
    const job = begun.headers.get('location')!;
    const followed = await ask(first, job);
    await first.stop(true);
    expect(JSON.parse((await followed.text()).trim().split('\n').at(-1)!)).to.include({ status: 'interrupted' });
    const second = await startSpecServer({ again: first });
    await ask(second, job, { method: 'POST' });
    const last = JSON.parse((await (await ask(second, job)).text()).trim().split('\n').at(-1)!) as ReportedImport;
    await second.stop();
    expect(last).to.include({ status: 'done', quads: 20_000, created: 10_000, merged: 0 });
  });
});
