/** Imports with names, dates, media types and links that requests could not create. */
import { expect } from 'chai';
import { checkStore } from '../../../../lib/storage/transactions/check.js';
import { describeStorage, type StorageUnderTest } from '../../../support/conformance.js';
import { archiveOf, imported } from '../../../support/imports.js';
import { bytesMember } from '../../../support/members.js';
import { zipOf } from '../../../support/zip.js';

const zip = 'application/zip';
const index = (files: object): { name: string; content: string } => ({
  name: '.quadpod.json',
  content: JSON.stringify({ quadpod: 1, files }),
});

async function expectWhole(s: StorageUnderTest): Promise<void> {
  expect((await checkStore(s.server!.server.store, { content: true })).faults).to.deep.equal([]);
}

describeStorage(
  'Imported resources',
  (s) => {
    it('are created once if two files have the same resource name, with any --on-conflict', async () => {
      for (const conflict of ['fail', 'replace']) {
        const into = s.fresh('/');
        const files = zipOf([
          index({ 'a.ttl': { name: 'x' }, 'b.bin': { name: 'x' }, 'c.ttl': { name: 'y' }, 'd.bin': { name: 'z' } }),
          { name: 'a.ttl', content: '<urn:s> <urn:p> 1 .' },
          { name: 'b.bin', content: 'bytes' },
          { name: 'c.ttl', content: '<urn:s> <urn:p> 1 .' },
          { name: 'd.bin', content: 'bytes' },
        ]);
        const told = await imported(s, files, { query: { into, 'on-conflict': conflict }, type: zip });
        expect(told, conflict).to.include({ status: 'done', created: 3, replaced: 0, merged: 0, leftOut: 1 });
        expect(told.report[0]).to.include({ source: 'b.bin' });
        expect((await s.get(`${into}x`)).headers['content-type']).to.match(/^text\/turtle/);
        await expectWhole(s);
      }
    });

    it('need a body or a Content-Type', async () => {
      const answer = await s.send('POST', `${s.root}.lws/import`, {}, '');
      expect(answer.status).to.equal(400);
      expect(answer.text).to.contain('The request has no body. Send the data to import');
    });

    it('have a media type that is a valid field value', async () => {
      const into = s.fresh('/');
      const types = ['text/plain\r\nX-Evil: 1', 'text/pl\u00e4in', 'a/b/c', '/', `text/${'x'.repeat(20_000)}`];
      const files = Object.fromEntries(types.map((type, number) => [`${number}.bin`, { type }]));
      const contents = Object.keys(files).map((name) => ({ name, content: 'x' }));
      const told = await imported(s, zipOf([index(files), ...contents]), { query: { into }, type: zip });
      expect(told.status, told.failure).to.equal('done');
      expect(told.leftOut).to.equal(types.length);
      await s.expectAbsent(into);
    });

    it('have links that can be parsed again, or are left out', async () => {
      const into = s.fresh('/');
      const deep = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown;
      const links = { 'http://e.example/r': [{ href: 'urn:a', deep }] };
      const files = zipOf([
        index({ 'a.ttl': { links }, 'b.bin': { links } }),
        { name: 'a.ttl', content: '<urn:s> <urn:p> 1 .' },
        { name: 'b.bin', content: 'x' },
        { name: 'c.bin', content: 'x' },
      ]);
      const told = await imported(s, files, { query: { into }, type: zip });
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 1, leftOut: 2 });
      expect(await s.members(into)).to.deep.equal([`${into}c.bin`]);
      await expectWhole(s);
    });

    it('are not created in containers with a reserved name', async () => {
      const into = s.fresh('/');
      const graphs = ['a.acl/b', 'c/d.META/e', 'f/g'].map((path) => `<urn:s> <urn:p> "1" <${into}${path}> .`);
      const told = await imported(s, graphs.join('\n'), { query: { into } });
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 1, leftOut: 2 });
      expect(await s.members(into)).to.deep.equal([`${into}f/`]);
    });

    it('have valid dates, not in the future', async () => {
      const into = s.fresh('/');
      const latest = Number.MAX_SAFE_INTEGER;
      const members = [
        { ...bytesMember('a', 'text/plain', 'x'), created: latest, modified: latest },
        { ...bytesMember('b', 'text/plain', 'x'), created: 86_400_000, modified: 172_800_000 },
      ];
      const before = Date.now();
      const told = await imported(s, await archiveOf(into, members), { query: { into }, type: zip });
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 2 });
      const date = Date.parse((await s.get(`${into}a`)).headers['last-modified'] ?? '');
      expect(date).to.be.within(before - 1_000, Date.now());
      expect((await s.get(`${into}b`)).headers['last-modified']).to.equal('Sat, 03 Jan 1970 00:00:00 GMT');
      expect(await s.members(into)).to.have.length(2);
      const again = await s.get(`${s.root}.lws/export?format=archive&of=${into}`);
      const other = s.fresh('/');
      expect(await imported(s, again.bytes, { query: { into: other }, type: zip })).to.include({ created: 3 });
    });

    it('are no data resources at the name of a container', async () => {
      const into = s.fresh('/');
      for (const name of ['', '/'])
        await imported(s, '<urn:s> <urn:p> 1 .', { query: { into, name, format: 'file' }, type: 'text/turtle' });
      const answer = await s.get(into, { Accept: 'application/lws+json' });
      expect(answer.status).to.be.oneOf([200, 404]);
      if (answer.status === 200) expect(answer.headers['content-type']).to.match(/^application\/lws\+json/);
      await expectWhole(s);
    });
  },
  { settings: {}, isOncePlaced: true },
);
