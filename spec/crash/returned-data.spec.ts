/**
 * Deleted data that is put back by hand, as LevelDB does (decision 168), has no effect before and after a restart. `check` names
 * it, and `check --repair` removes it (rules 10.11, 10.12).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { entryKey, metaKey } from '../../lib/storage/keys/records.js';
import { entryBlocks, type Level, openLevel } from '../../lib/storage/level/durable-level.js';
import { credential, type Identity } from '../support/identity.js';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { lwsContext, lwsJson } from '../support/search.js';
import { alice, anybody, owner, ownerRule, rule, turtleOf } from '../support/wac.js';

const environment = {
  ...{ LWS_DEV_OPEN: 'false', LWS_ACCESS_CONTROL: 'wac', LWS_OWNERS: owner.did, LWS_TEXT_SEARCH_ENABLED: 'true' },
};
const everything = { gte: '\u0000', lt: '\uffff' };
const subscriptionKey = entryKey('subscriptions', 'returned');

interface Sent {
  readonly body?: string;
  readonly type?: string;
  readonly by?: Identity | undefined;
  readonly replaces?: boolean;
}

describe('Returned data', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  let before: Map<string, string>;
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  const send = (
    method: string,
    path: string,
    { body, type = 'text/turtle', by = owner, replaces = false }: Sent = {},
  ): Promise<Response> =>
    fetch(new URL(path, server.root), {
      method,
      ...(body === undefined ? {} : { body }),
      headers: {
        Authorization: `Bearer ${credential(by, { aud: server.root.slice(0, -1) })}`,
        ...(body === undefined ? {} : { 'Content-Type': type }),
        ...(method === 'PATCH' || method === 'DELETE' || replaces ? { 'If-Match': '*' } : {}),
      },
    });
  const change = async (...of: Parameters<typeof send>): Promise<Response> => {
    const answer = await send(...of);
    expect(answer.ok, `${of[0]} ${of[1]}: ${answer.status} ${answer.ok ? '' : await answer.text()}`).to.equal(true);
    return answer;
  };
  const start = async (): Promise<void> => {
    server = await startProcess({ ...server, environment });
  };
  const onLevel = async <T>(work: (level: Level) => Promise<T>): Promise<T> => {
    const level = await openLevel(join(server.dataDir, 'level'));
    try {
      return await work(level);
    } finally {
      await level.close();
    }
  };
  const entries = (): Promise<Map<string, string>> =>
    onLevel(async (level) => {
      const found = new Map<string, string>();
      for await (const block of entryBlocks(level, everything)) for (const each of block) found.set(...each);
      return found;
    });
  const check = async (...flags: string[]): Promise<string> =>
    (await runProcess(['check', ...flags], { ...server, environment })).stdout;
  /** Asserts what clients see after the deletions. */
  const expectDeleted = async (): Promise<void> => {
    const exported = await (await change('GET', '.lws/export?format=nquads')).text();
    expect(exported).to.include('"two"').and.not.include('three').and.not.include('vanished');
    const graph = await send('GET', 'graph');
    expect(await graph.text())
      .to.include('two')
      .and.not.include('three');
    expect((await fetch(new URL('secret', server.root))).status).to.equal(401);
    expect((await send('GET', 'graph', { by: alice })).status).to.equal(404);
    const query = encodeURIComponent('SELECT ?g ?o { GRAPH ?g { ?s <urn:p> ?o } }');
    const rows = await (await change('GET', `.lws/sparql?query=${query}`)).text();
    expect(rows).to.include('secret').and.not.include('three').and.not.include('vanished');
    const search = await change('GET', '.lws/text-search?q=vanished');
    expect(await search.json()).to.have.property('totalItems', 0);
  };

  it('is written and deleted', async () => {
    server = await startProcess({ environment });
    await change('PUT', 'graph', { body: '<> <urn:p> "one", "two", "three" .' });
    await change('PUT', 'secret', { body: '<> <urn:p> "secret" .' });
    await change('PUT', 'secret.acl', { body: turtleOf(ownerRule, rule('Read', anybody)) });
    await change('PUT', 'gone', { body: '<> <urn:p> "vanished" .' });
    const target = { type: 'StorageResource', value: [`${server.root}graph`] };
    const access = [{ type: ['AccessPolicy'], action: ['read'], assignee: alice.did, target }];
    const document = { '@context': lwsContext, type: ['AccessGrant'], storage: server.root, access };
    const granted = await change('POST', '.lws/access-grants', { body: JSON.stringify(document), type: lwsJson });
    expect((await send('GET', 'graph', { by: alice })).status).to.equal(200);
    await server.stop();
    before = await entries();
    await start();
    await change('PATCH', 'graph', {
      body: 'DELETE DATA { <> <urn:p> "three" }'.replace('<>', `<${server.root}graph>`),
      type: 'application/sparql-update',
    });
    for (const path of ['secret.acl', 'gone', granted.headers.get('location')!]) await change('DELETE', path);
    await expectDeleted();
    await server.stop();
    expect(await check()).to.match(/all in order/);
  });

  const returned: readonly (readonly [what: string, pattern: RegExp, named: RegExp])[] = [
    ['a quad', /^GSPO.*three/s, /graph has a deleted triple that returned: <.*> <urn:p> "three" \./],
    ['a quad without a record', /^GSPO.*gone/s, /The graph .*gone belongs to no RDF resource/],
    ['an access control list', /^E\0acl\0/, /A deleted access control list of .*secret returned.*read to everyone/],
    ['a grant', /^E\0access-grants\0/, /A deleted access grant returned: .*did:key/],
  ];
  const others: typeof returned = [
    ['a record with its quads', /^(?:R\0.*gone|GSPO.*gone)/s, /A deleted resource record returned: .*gone/],
    ['an entry of the text index', /^E\0text\0/, /The text index has \d+ entries instead of \d+/],
  ];

  /** Puts deleted entries back, and a subscription. @returns their keys */
  async function putBack(which: typeof returned, hasSubscription = true): Promise<string[]> {
    const now = await entries();
    const missing = hasSubscription ? [[subscriptionKey, '{"inbox":"urn:inbox"}']] : [];
    for (const [what, pattern] of which) {
      const found = [...before].filter(([key]) => pattern.test(key) && !now.has(key));
      expect(found, what).not.to.deep.equal([]);
      missing.push(...found);
    }
    await onLevel(async (level) => {
      for (const [key, value] of missing) await level.put(key!, value || '\u0000');
    });
    return missing.map(([key]) => key!);
  }

  it('has no effect, and the server removes quads, grants and subscriptions', async () => {
    await putBack(returned);
    const report = await check();
    for (const [what, , named] of returned) expect(report, what).to.match(named);
    expect(report).to.match(/A deleted subscription returned: .*urn:inbox/);
    for (let restarts = 0; restarts < 2; restarts++) {
      await start();
      await expectDeleted();
      await server.stop();
    }
    expect(await check()).to.match(/list of .*secret returned.*\n.*: 2 faults\.\n$/);
    expect(await check('--repair')).to.match(/all in order/);
  });

  it('is refused by backup, and a backup that contains it by verify', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-returned-'));
    const run = (...words: string[]) => runProcess(words, { ...server, environment });
    try {
      for (const [what, pattern, named] of [
        ['a quad', /^GSPO.*three/s, /triples of .*graph differ.*check --repair/],
        ['a grant', /^E\0access-grants\0/, /A deleted access grant returned.*check --repair/],
        ['a list', /^E\0acl\0/, /A deleted access control list returned.*check --repair/],
      ] as const) {
        const missing = await putBack([[what, pattern, named]], false);
        const refused = await run('backup', join(folder, what));
        expect(refused.stderr).to.match(named);
        expect(refused.code).to.equal(2);
        await onLevel(async (level) => {
          for (const key of missing) await level.del(key);
        });
      }
      const kept = join(folder, 'kept');
      expect((await run('backup', kept)).code).to.equal(0);
      expect((await run('verify', kept)).stdout).to.match(/all in order/);
      for (const [name, wanted, instead, named] of [
        ['quads', /(u0000)one/, '$1eno', /The triples of .*graph differ from those that were written/],
        ['state', /(\["R.*?revision\\":\\")../, '$1--', /One of the resource records is not the one that was written/],
      ] as const) {
        const file = join(kept, readdirSync(kept).find((each) => each.startsWith(`${name}-`))!);
        const bytes = readFileSync(file);
        const text = gunzipSync(bytes).toString();
        expect(text).to.match(wanted);
        writeFileSync(file, gzipSync(text.replace(wanted, instead)));
        expect((await run('verify', kept)).stdout).to.match(named);
        writeFileSync(file, bytes);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is removed by check --repair, which names it, with indexes and counters', async () => {
    const all = [...returned.filter(([what]) => !what.includes('without')), ...others];
    await putBack(all);
    await onLevel((level) => level.put(metaKey('bytes'), '5'));
    const report = await check('--repair');
    for (const [what, , named] of all) expect(report, what).to.match(named);
    expect(report)
      .to.match(/Repaired: The byte counter is 5, but/)
      .and.match(/all in order\.\n$/);
    await start();
    await expectDeleted();
    await server.stop();
    expect(await check()).to.match(/all in order/);
  });

  for (const [method, status] of [
    ['PUT', 200],
    ['DELETE', 404],
  ] as const)
    it(`cannot be read if a graph has more than can be named, until ${method} (rule 10.11)`, async () => {
      const key = [...before.keys()].find((each) => /^GSPO.*graph.*three/s.test(each))!;
      await onLevel(async (level) => {
        for (const word of ['thr11', 'thr12', 'thr13', 'thr14', 'thr15'])
          await level.put(key.replace('three', word), '\u0000');
      });
      await start();
      expect((await send('GET', 'graph')).status).to.equal(500);
      for (const [graph, refusal] of [
        ['?g', /^503.*index for queries could not be built/],
        [`<${server.root}graph>`, /^500.*damaged-content/],
      ] as const) {
        const query = `SELECT * { GRAPH ${graph} { ?s <urn:p> ?o } }`;
        const asked = await send('GET', `.lws/sparql?query=${encodeURIComponent(query)}`);
        expect([asked.status, await asked.text()].join(), query).to.match(refusal);
      }
      const insert = { body: `INSERT DATA { <${server.root}graph> <urn:p> "six" }`, type: 'application/sparql-update' };
      const refused = await send('PATCH', 'graph', insert);
      expect([refused.status, await refused.text()].join()).to.match(/^500.*damaged-content/);
      await change(method, 'graph', method === 'PUT' ? { body: '<> <urn:p> "one", "two" .', replaces: true } : {});
      expect((await send('GET', 'graph')).status).to.equal(status);
      await server.stop();
      // The words of triples that were never indexed are removed from the text index once too often.
      const faults = (await check()).trim().split('\n').slice(0, -1);
      expect(faults.filter((line) => !/text index/.test(line))).to.deep.equal([]);
      expect(await check('--repair')).to.match(/all in order/);
    });

  it('gives nobody access by a container if the access control list of a resource is lost (rule 10.12)', async () => {
    await start();
    await change('PUT', '.acl', { body: turtleOf(ownerRule, rule('Read', anybody)), replaces: true });
    await change('PUT', 'closed', { body: '<> <urn:p> "closed" .' });
    await change('PUT', 'closed.acl', { body: turtleOf(ownerRule) });
    await server.stop();
    await onLevel((level) => level.del(entryKey('acl', `${server.root}closed`)));
    expect(await check()).to.match(
      /The access control list of .*closed is lost: only controllers(.*\n)+.*: 2 faults\.\n$/,
    );
    const refused = await runProcess(['backup', `${server.dataDir}-copy`], { ...server, environment });
    rmSync(`${server.dataDir}-copy`, { recursive: true, force: true });
    expect(refused.stderr).to.match(/One of the access control lists is not the last one written, or is lost/);
    await start();
    const query = encodeURIComponent('SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }');
    const rows = async (by: RequestInit): Promise<string> =>
      (await fetch(new URL(`.lws/sparql?query=${query}`, server.root), by)).text();
    expect((await fetch(new URL('closed', server.root))).status).to.equal(401);
    expect(await rows({}))
      .to.include('secret')
      .and.not.include('closed');
    expect((await send('GET', 'closed')).status).to.equal(404);
    await change('PUT', 'closed.acl', { body: turtleOf(ownerRule, rule('Read', anybody)) });
    expect((await fetch(new URL('closed', server.root))).status).to.equal(200);
    await server.stop();
    expect(await check()).to.match(/The digest of the access control lists is outdated(.*\n)+.*: 2 faults\.\n$/);
    expect(await check('--repair')).to.match(/all in order/);
  });
});
