/** Imports and exports over HTTP, by owners and other callers. The spec must not know the implementation. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { exchange } from '../support/http.js';
import {
  requestExport as asked,
  beginImport as begin,
  imported,
  nquads,
  importOutcome as outcome,
  type ReportedImport,
} from '../support/imports.js';
import { found } from '../support/search.js';
import { rows } from '../support/sparql.js';
import { until } from '../support/until.js';
import { anybody, as, bob, inWac, ownerRule, rule, setBareAcl } from '../support/wac.js';
import { zipOf } from '../support/zip.js';

async function exported(s: StorageUnderTest, of = s.root, sender?: Sender): Promise<string> {
  const answer = await asked(s, `?format=nquads&of=${of}`, sender);
  expect(answer.status, answer.text).to.equal(200);
  expect(answer.headers['content-type']).to.equal(nquads);
  expect(answer.headers['content-disposition']).to.match(/^attachment; filename="[\w.-]+\.nq"$/);
  return answer.text;
}

/** IRI of a new container. It is not created. */
const target = (s: StorageUnderTest): string => s.fresh('/');

describeStorage(
  'Import over HTTP',
  (s) => {
    it('stores a dump that reads, searches and queries find, with its owner and links to its containers', async () => {
      const into = target(s);
      const lines = `<${into}a/b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://v.example/T>`;
      const told = await imported(s, `${lines} <${into}a/b> .\n<urn:s> <urn:p> "x" <${into}c> .\n`);
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 2, quads: 2, leftOut: 0 });
      const answer = await s.get(`${into}a/b`);
      expect(answer.text).to.include('https://v.example/T');
      expect(answer.headers['etag']).to.match(/^"/);
      expect(await s.members(into)).to.deep.equal([`${into}a/`, `${into}c`]);
      expect(await found(s, [['type', 'https://v.example/T']])).to.deep.equal([`${into}a/b`]);
      expect(await rows(s, `SELECT ?o { GRAPH <${into}c> { <urn:s> <urn:p> ?o } }`)).to.deep.equal(['x']);
      const patched = await s.patch(`${into}c`, 'application/sparql-update', 'INSERT DATA { <urn:s> <urn:p> "y" }');
      expect(patched.status, patched.text).to.be.oneOf([200, 204]);
    });

    it('stores nothing of a body with a mismatching Content-Digest, and leaves no file (rule 10.6)', async () => {
      const into = target(s);
      const content = `<urn:s> <urn:p> "x" <${into}a> .\n`;
      const send = (text: string) => {
        const digest = createHash('sha256').update(text).digest('base64');
        const fields = { 'Content-Type': nquads, 'Content-Digest': `sha-256=:${digest}:` };
        return s.send('POST', `${s.root}.lws/import?into=${into}`, fields, content);
      };
      const before = (await s.get(`${s.root}.lws/imports`)).text;
      const refused = await send('another');
      expect(refused.status, refused.text).to.equal(400);
      expect(refused.text).to.include('digest-mismatch');
      expect((await s.get(`${s.root}.lws/imports`)).text).to.equal(before);
      await s.expectAbsent(into);
      expect(await outcome(s, await send(content))).to.include({ status: 'done', created: 1 });
    });

    it('stores a single Turtle file and a ZIP', async () => {
      const into = target(s);
      const query = { into, name: 'one.ttl' };
      expect(await imported(s, '<> <urn:p> <#x> .', { query, type: 'text/turtle' })).to.include({ created: 1 });
      const zip = zipOf([
        { name: 'd/page.html', content: '<p>' },
        { name: 'd/data.ttl', content: '<> <urn:p> 1 .' },
        { name: '.acl', content: '<#a> <urn:p> 1 .' },
        { name: 'd/data.ttl.acl', content: '<#a> <urn:p> 1 .' },
      ]);
      const told = await imported(s, zip, { query: { into }, type: 'application/zip' });
      expect(told.status, JSON.stringify(told)).to.equal('done');
      expect((await s.get(`${into}d/page.html`)).headers['content-type']).to.match(/^text\/html/);
      expect(told.report.map(({ source }) => source).sort()).to.deep.equal(['.acl', 'd/data.ttl.acl']);
    });

    it('rejects other callers before their body is read', async () => {
      const before = await exported(s);
      for (const sender of ['anonymous', s.stranger] as const) {
        const answer = await begin(s, `<urn:s> <urn:p> 1 <${s.scratch}x> .`, { sender });
        expect(answer.status, answer.text).to.equal(sender === 'anonymous' ? 401 : 404);
        expect((await s.send('GET', `${s.root}.lws/imports`, {}, undefined, sender)).status).to.equal(answer.status);
      }
      const { host, pathname } = new URL(`${s.root}.lws/import`);
      const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${nquads}\r\nContent-Length: 1000000\r\n\r\n`;
      expect((await exchange(s.root, [head]))?.status).to.equal(401);
      expect(await exported(s)).to.equal(before);
    });

    it('names the accepted values if a parameter is wrong', async () => {
      const cases: [Record<string, string>, number, RegExp][] = [
        [{ into: 'https://elsewhere.example/' }, 400, /"into" must be a container of this storage/],
        [{ into: `${s.scratch}a` }, 400, /with a trailing slash/],
        [{ into: `${s.scratch}../` }, 400, /"into"/],
        [{ into: `${s.scratch}%2e%2e/` }, 400, /"into"/],
        [{ into: `${s.scratch}?x/` }, 400, /"into"/],
        [{ into: `${s.root}.lws/` }, 400, /"into"/],
        [{ format: 'tarball' }, 400, /"format" must be one of .*nquads/],
        [{ 'on-conflict': 'maybe' }, 400, /"on-conflict" must be one of fail, skip, replace/],
        [{ rewrite: 'nothing' }, 400, /"rewrite" must be OLD=NEW/],
      ];
      for (const [query, status, detail] of cases) {
        const answer = await begin(s, '', { query });
        expect(answer.status, `${JSON.stringify(query)}: ${answer.text}`).to.equal(status);
        expect((JSON.parse(answer.text) as { detail: string }).detail).to.match(detail);
      }
    });

    it('treats existing resources according to its parameter', async () => {
      const into = target(s);
      const dump = (value: number): string => `<urn:s> <urn:p> "${value}" <${into}a> .\n`;
      expect(await imported(s, dump(1))).to.include({ created: 1 });
      const failed = await imported(s, dump(2));
      expect(failed.status).to.equal('failed');
      expect(failed.failure).to.match(/:1: .*on-conflict/);
      expect(await imported(s, dump(2), { query: { 'on-conflict': 'skip' } })).to.include({ skipped: 1 });
      expect((await s.get(`${into}a`)).text).to.include('"1"');
      const dry = await imported(s, dump(2), { query: { 'on-conflict': 'replace', 'dry-run': '' } });
      expect(dry).to.include({ status: 'done', replaced: 1 });
      expect((await s.get(`${into}a`)).text).to.include('"1"');
      expect(await imported(s, dump(2), { query: { 'on-conflict': 'replace' } })).to.include({ replaced: 1 });
      const text = (await s.get(`${into}a`)).text;
      expect(text).to.include('"2"');
      expect(text).not.to.include('"1"');
    });

    it('skips and reports resources that cannot be stored here', async () => {
      const into = target(s);
      await s.container(into);
      await s.put(`${into}data`, 'text/turtle', '');
      const graphs = [into, `${into}data/below`, `${into}a/../b`, `${into}%2e%2e/b`, `${into}c.acl`, `${into}d.meta`];
      const lines = [...graphs, 'https://elsewhere.example/x', `${into}ok`].map(
        (graph) => `<urn:s> <urn:p> "x" <${graph}> .`,
      );
      const told = await imported(s, `${lines.join('\n')}\n`, { query: { into } });
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 1, leftOut: 7 });
      expect(await s.members(into)).to.deep.equal([`${into}data`, `${into}ok`]);
    });

    it('skips only the resource that a part of the server rejects', async () => {
      const into = target(s);
      const lines: string[] = [];
      for (let i = 0; i < 200; i++) lines.push(`<urn:s> <urn:p> "${i}" <${into}r${i}> .`);
      for (let i = 0; i < 10_001; i++)
        lines.push(`<${into}many> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:t${i}> <${into}many> .`);
      lines.push(`<urn:s> <urn:p> "last" <${into}last> .`);
      const told = await imported(s, lines.join('\n'));
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 201, leftOut: 1 });
      expect(told.report[0]!.why).to.match(/The maximum is 10000\./);
      await s.expectAbsent(`${into}many`);
      expect((await s.get(`${into}last`)).status).to.equal(200);
    });

    it('limits the size of the report', async () => {
      const lines: string[] = [];
      for (let i = 0; i < 3000; i++) lines.push(`<urn:s> <urn:p> "x" <${s.scratch}${'y'.repeat(600)}${i}.acl> .`);
      const told = await imported(s, lines.join('\n'));
      expect(told.leftOut).to.equal(3000);
      expect(JSON.stringify(told).length).to.be.below(1 << 20);
    });

    it('runs one at a time, can be stopped and resumed, and blocks no other client', async () => {
      const into = target(s);
      const lines: string[] = [];
      for (let i = 0; i < 12_000; i++) lines.push(`<urn:s> <urn:p> "${i}" <${into}g${i % 4000}> .`);
      const begun = await begin(s, lines.join('\n'));
      const job = begun.headers['location']!;
      expect((await begin(s, '')).status).to.equal(409);
      expect((await s.delete(job)).status).to.equal(204);
      const { status } = JSON.parse((await s.get(job)).text) as ReportedImport;
      expect(status).to.equal('interrupted');
      expect((await s.put(s.fresh(), 'text/turtle', '')).status).to.equal(201);
      expect(s.server!.log.filter(({ level }) => (level as number) >= 50)).to.deep.equal([]);
      expect(await outcome(s, await s.send('POST', job))).to.include({ status: 'done', quads: 12_000 });
      expect((await s.send('POST', job)).status).to.equal(409);
      expect((await exported(s, into)).trim().split('\n')).to.have.length(12_000);
      expect((await s.delete(job)).status).to.equal(204);
      expect((await s.get(job)).status).to.equal(404);
    }).timeout(60_000);

    it('leaves no file of an aborted upload', async () => {
      const files = (): string[] => readdirSync(join(s.server!.dataDir, 'import'));
      const before = files();
      const { host, pathname, search } = new URL(`${s.root}.lws/import`);
      const head = `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${s.token}\r\nContent-Type: ${nquads}\r\nContent-Length: 1000000\r\n\r\n`;
      await exchange(s.root, [head, '<urn:s> ', 100, 'abort']);
      await until(async () => files().length === before.length, 'the upload is dropped');
      expect((await imported(s, '')).status).to.equal('done');
      expect(files()).to.deep.equal(before);
    });

    it('exports identical bytes after an import elsewhere, as a dump and as a ZIP', async () => {
      const into = target(s);
      await imported(s, `_:b <urn:p> "ü" <${into}a/b> .\n_:b <urn:p> _:c1 <${into}c> .\n`);
      await s.put(`${into}d.bin`, 'application/x-thing', Buffer.from([0, 255, 1]));
      const first = await exported(s, into);
      const zip = await s.get(`${s.root}.lws/export?format=zip&of=${into}`);
      expect(zip.headers['content-type']).to.equal('application/zip');
      expect((await s.delete(into, { Depth: 'infinity' })).status).to.equal(204);
      expect(await imported(s, first)).to.include({ status: 'done', created: 2 });
      expect(await exported(s, into)).to.equal(first);
      const other = target(s);
      expect(await imported(s, zip.bytes, { query: { into: other }, type: 'application/zip' })).to.include({
        status: 'done',
        leftOut: 0,
      });
      const bytes = await s.get(`${other}d.bin`);
      expect(bytes.headers['content-type']).to.equal('application/x-thing');
      expect(bytes.bytes).to.deep.equal(Buffer.from([0, 255, 1]));
    });
  },
  { settings: {}, isOncePlaced: true },
);

describeStorage(
  'Export over HTTP',
  (s) => {
    it('contains the readable resources, and no other IRI', async () => {
      const open = await s.container();
      const hidden = await s.container();
      await s.put(`${open}seen`, 'text/turtle', '<urn:s> <urn:p> "seen" .');
      await s.put(`${open}secret`, 'text/turtle', '<urn:s> <urn:p> "secret" .');
      await s.put(`${hidden}inner`, 'text/turtle', '<urn:s> <urn:p> "inner" .');
      await setBareAcl(s, s.root, [ownerRule]).catch(() => {});
      await setBareAcl(s, `${open}seen`, [ownerRule, rule('Read', anybody)]);
      await setBareAcl(s, `${hidden}inner`, [ownerRule, rule('Read', anybody)]);
      await setBareAcl(s, `${open}secret`, [ownerRule]);
      for (const sender of ['anonymous', as(s, bob)] as const) {
        const text = await exported(s, s.root, sender);
        expect(text).to.include('"seen"').and.include('"inner"').and.not.include('secret');
        // A ZIP contains names as plain text.
        const zip = await asked(s, '', sender);
        expect(zip.status).to.equal(200);
        expect(zip.bytes.includes('seen.ttl')).to.equal(true);
        expect(zip.bytes.includes('secret')).to.equal(false);
        expect(await exported(s, target(s), sender)).to.equal('');
      }
      expect(await exported(s)).to.include('"secret"');
    });

    it('releases its slot when the client disconnects, and for HEAD', async () => {
      const { host } = new URL(s.root);
      const path = new URL(`${s.root}.lws/export?format=nquads`);
      for (let i = 0; i < 6; i++) {
        const head = `GET ${path.pathname}${path.search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
        await exchange(s.root, [head, 'abort']);
        expect((await s.head(path.href)).status).to.be.oneOf([200, 503, 405]);
      }
      expect((await asked(s, path.search, 'anonymous')).status).to.equal(200);
    });

    it('names the accepted values if a parameter is wrong', async () => {
      for (const query of [
        'of=https://elsewhere.example/',
        `of=${s.root}x`,
        'format=tar',
        'format=zip.gz',
        'off=x',
        'of=&of=',
      ])
        expect((await s.get(`${s.root}.lws/export?${query}`)).status, query).to.equal(400);
    });
  },
  { ...inWac(), isOncePlaced: true },
);
