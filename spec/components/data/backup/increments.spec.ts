/** Incremental backups: a restore returns the state of the backup, after any writes in between. */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { isWholeDue, RunningServer } from '../../../../components/data/backup/backup-command.js';
import { GraphSet } from '../../../../components/data/backup/graph-set.js';
import type { CommandContext } from '../../../../lib/component/component.js';
import { storeFormat } from '../../../../lib/storage/graphs/format.js';
import { hiddenRange } from '../../../../lib/storage/graphs/staged-keys.js';
import type { Entry } from '../../../../lib/storage/graphs/state-blocks.js';
import { openLevel } from '../../../../lib/storage/level/durable-level.js';
import { packageRoot } from '../../../../lib/tools/threads/package-root.js';
import { root as earlierRoot } from '../../../stores/content.js';
import { type BackupRun, entriesOf, runBackup } from '../../../support/backups.js';
import { type Answer, request } from '../../../support/http.js';
import { runProcess } from '../../../support/process.js';
import { type SpecServer, startSpecServer } from '../../../support/server.js';
import { isSharedRun } from '../../../support/shared-storage.js';
import { runs } from '../../../support/speed.js';
import { until } from '../../../support/until.js';

const turtle = { 'Content-Type': 'text/turtle' };
const acl = 'http://www.w3.org/ns/auth/acl#';
const agent = 'http://xmlns.com/foaf/0.1/Agent';

/** File system call at which the process is killed, by function and path. */
interface Moment {
  readonly name: string;
  readonly path: string;
  /** True if the new manifest is complete. */
  readonly isMade: boolean;
}
const manifest = 'quadpod-backup.json';
const moments: readonly Moment[] = [
  { name: 'createWriteStream', path: 'quads-', isMade: false },
  { name: 'openSync', path: `${manifest}.new`, isMade: false },
  { name: 'renameSync', path: manifest, isMade: false },
  { name: 'rmSync', path: 'state-', isMade: true },
];
const killedAt = ({ name, path }: Moment): string =>
  `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import promises from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const owner = ${JSON.stringify(name)} in promises ? promises : fs;
    const call = owner[${JSON.stringify(name)}];
    owner[${JSON.stringify(name)}] = (...words) => {
      if (String(words[0]).includes(${JSON.stringify(path)})) process.kill(process.pid, 'SIGKILL');
      return call(...words);
    };
    syncBuiltinESMExports();
  `)}`;

describe('Incremental backups', () => {
  const settings = { 'access-control': 'wac', 'webhook.allowed-hosts': 'localhost:1' };
  const base = mkdtempSync(join(tmpdir(), 'quadpod-increments-'));
  let server: SpecServer;
  let folders = 0;
  const fresh = (): string => join(base, String(++folders));
  before(async function () {
    // The commands run here without the settings of a shared storage.
    if (isSharedRun) return this.skip();
    server = await startSpecServer({ settings });
    for (const path of ['c/', 'quiet/']) await send('PUT', path);
  });
  after(async () => {
    if (!isSharedRun) await server.stop();
    rmSync(base, { recursive: true, force: true });
  });

  const send = (method: string, path: string, body = '', headers: Record<string, string> = {}): Promise<Answer> =>
    request(server.root + path, {
      method,
      headers: { Authorization: `Bearer ${server.ownerToken}`, ...headers },
      ...(body === '' && Object.keys(headers).length === 0 ? {} : { body }),
    });
  /** Runs a command. @returns its lines */
  const run = (command: Parameters<typeof runBackup>[0], folder: string, more: Partial<BackupRun> = {}) =>
    runBackup(command, { folder, dataDir: server.dataDir, root: server.root, ...more });
  const live = async (): Promise<Entry[]> => {
    const { level } = server.server.store;
    // Hidden entries are deleted in the background.
    await until(async () => (await level.keys({ ...hiddenRange, limit: 1 }).all()).length === 0);
    return entriesOf(level);
  };
  const entriesIn = async (dataDir: string): Promise<Entry[]> => {
    const level = await openLevel(join(dataDir, 'level'));
    return entriesOf(level).finally(() => level.close());
  };
  const restored = async (folder: string, more: Partial<BackupRun> = {}): Promise<Entry[]> => {
    const dataDir = fresh();
    const lines = await run('restore', folder, { ...more, dataDir });
    expect(lines, lines.join('\n')).to.have.length(2);
    return entriesIn(dataDir);
  };
  /** Creates a backup and compares it with the storage. @returns the first line of the command */
  async function expectBackup(folder: string): Promise<string> {
    for (;;) {
      const before = await live();
      const [line = ''] = await run('backup', folder);
      // A background task wrote in between.
      if (JSON.stringify(await live()) !== JSON.stringify(before)) continue;
      expect((await run('verify', folder)).join('\n')).to.match(/^[^\n]* all in order\.$/);
      expect(await restored(folder)).to.deep.equal(before);
      return line;
    }
  }
  const filesOf = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('quads-'));

  const ifThere = async (path: string): Promise<Record<string, string>> =>
    (await send('GET', path)).status === 200 ? { 'If-Match': '*' } : {};
  /** Makes every content unique. */
  let written = 100;
  const name = fc.integer({ min: 0, max: 2 }).map((n) => `c/r${n}`);
  const number = fc.nat(3);
  const operations: Record<string, (path: string, n: number) => Promise<unknown>> = {
    put: async (path, n) => {
      const triples = Array.from({ length: n }, (_, i) => `<> <urn:p> ${++written}, ${i} .`).join('\n');
      return send('PUT', path, triples, { ...turtle, ...(await ifThere(path)) });
    },
    bytes: async (path, n) => {
      return send('PUT', path, String(n), { 'Content-Type': 'text/plain', ...(await ifThere(path)) });
    },
    patch: (path, n) =>
      send(
        'PATCH',
        path,
        `DELETE DATA { <#x> <urn:p> 0 } ; INSERT DATA { <#x> <urn:p> ${n} . <#y> <urn:p> ${++written} }`,
        {
          'Content-Type': 'application/sparql-update',
        },
      ),
    delete: (path) => send('DELETE', path),
    links: async (path, n) => {
      const { headers } = await send('GET', `${path}.meta`);
      const links = n === 0 ? {} : { describedby: [{ href: `urn:l${++written}` }], type: [{ href: `urn:T${n}` }] };
      const linkset = JSON.stringify({ linkset: [{ anchor: server.root + path, ...links }] });
      const tag = headers['etag'] as string | undefined;
      return send('PUT', `${path}.meta`, linkset, {
        'Content-Type': 'application/linkset+json',
        ...(tag === undefined ? {} : { 'If-Match': tag }),
      });
    },
    access: async (path, n) =>
      n === 0
        ? send('DELETE', `${path}.acl`)
        : send(
            'PUT',
            `${path}.acl`,
            `[] a <${acl}Authorization> ; <${acl}agentClass> <${agent}> ; <${acl}accessTo> <> ; <${acl}mode> <${acl}Read>, <${acl}Write>, <${acl}Control> ; <urn:n> ${n} .`,
            { ...turtle, ...(await ifThere(`${path}.acl`)) },
          ),
    subscribe: (_path, n) =>
      send(
        'POST',
        '.lws/subscriptions',
        JSON.stringify({
          '@context': 'https://www.w3.org/ns/lws/v1',
          type: 'WebhookSubscription',
          topic: [`${server.root}quiet/`],
          inbox: `http://localhost:1/${n}`,
        }),
        { 'Content-Type': 'application/lws+json' },
      ),
  };
  const operation = fc.tuple(
    fc.constantFrom(...Object.keys(operations), 'put', 'put', 'patch', 'links', 'links'),
    name,
    number,
  );

  it('are told in the status of the storage', async () => {
    const last = async (): Promise<string | undefined> =>
      JSON.parse((await send('GET', '.lws/status')).text).lastBackup;
    expect(await last()).to.equal(undefined);
    const folder = fresh();
    const [line = ''] = await run('backup', folder);
    expect(line).to.include(`${folder} has the state of ${await last()}: `);
    const file = join(server.dataDir, 'last-backup');
    rmSync(file);
    mkdirSync(file);
    expect((await run('backup', folder)).join('\n')).to.match(/its time could not be recorded.*\n.* has the state of/);
    rmSync(file, { recursive: true });
  });

  it('are not written to a file', async () => {
    const file = fresh();
    writeFileSync(file, 'precious');
    expect((await run('backup', file)).join('\n')).to.equal(
      `${file} is a file. A backup is a directory: name one that exists or can be created.`,
    );
    expect(readFileSync(file, 'utf8')).to.equal('precious');
  });

  it('are restored to the state of the backup, after random writes', async () => {
    const succeeded = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 6, maxLength: 12, size: 'max' }), {
          minLength: 2,
          maxLength: 4,
          size: 'max',
        }),
        async (rounds) => {
          const folder = fresh();
          await run('backup', folder);
          for (const round of rounds) {
            for (const [kind, path, n] of round) {
              const answer: Answer = (await operations[kind]!(path, n)) as Answer;
              if (answer.status < 300) succeeded.add(kind);
            }
            await expectBackup(folder);
          }
          expect(filesOf(folder).length).to.be.greaterThan(1);
        },
      ),
      { numRuns: runs(40) },
    );
    expect([...succeeded].sort()).to.deep.equal(Object.keys(operations).sort());
  }).timeout(300_000);

  const put = (path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
    send('PUT', path, body, { ...turtle, ...headers });
  const quadsIn = (line: string): string => /, (\d+ triples of \d+ graphs|no changed graphs)/.exec(line)![1]!;

  it('contain the quads of changed graphs only', async () => {
    const folder = fresh();
    await put('c/one', '<> <urn:p> 1, 2 .');
    for (const path of ['c/two', 'c/three']) await put(path, '<> <urn:p> 1 .');
    await run('backup', folder);
    expect(quadsIn(await expectBackup(folder))).to.equal('no changed graphs');
    expect(filesOf(folder), 'no empty file of quads').to.have.length(1);
    await put('c/one', '<> <urn:p> 3, 4, 5 .', { 'If-Match': '*' });
    await send('PUT', 'c/bytes', 'x', { 'Content-Type': 'text/plain' });
    await operations['access']!('c/two', 1);
    const line = await expectBackup(folder);
    expect(quadsIn(line)).to.equal('3 triples of 1 graphs');
    expect(line).to.match(/changed since 2\d{3}-.* \(increment 1\)/);
    await send('DELETE', 'c/one');
    await operations['links']!('c/three', 1);
    expect(quadsIn(await expectBackup(folder))).to.equal('2 triples of 1 graphs');
    const [whole] = await run('backup', folder, { flags: { full: 'true' } });
    expect(whole).not.to.contain('(increment');
    expect([filesOf(folder).length, await restored(folder)]).to.deep.equal([1, await live()]);
  });

  it('contain the other entries in parts, of which a write changes few', async () => {
    const folder = fresh();
    for (let n = 0; n < 40; n++)
      await put(`c/listed${n}.acl`, `[] a <${acl}Authorization> ; <${acl}agentClass> <${agent}> ; <urn:n> ${n} .`);
    const { level } = server.server.store;
    const keys = Array.from({ length: 3000 }, (_, n) => `E\u0000spec-parts\u0000${n}`);
    await level.batch(keys.map((key) => ({ type: 'put', key, value: 'v'.repeat(200) })));
    try {
      await run('backup', folder);
      const others = (): number[] =>
        (JSON.parse(readFileSync(join(folder, manifest), 'utf8')) as { quads: { others: number }[] }).quads.map(
          (file) => file.others,
        );
      expect(others()[0]).to.be.greaterThan(3000);
      await level.put(keys[1500]!, 'changed');
      await level.del(keys[10]!);
      await run('backup', folder);
      expect(others()[1]).to.be.within(2, 2000);
      expect(await restored(folder)).to.deep.equal(await live());
    } finally {
      await level.batch(keys.map((key) => ({ type: 'del', key })));
    }
  });

  it('contain a large graph after it was written and partially changed, and not after its deletion', async () => {
    const folder = fresh();
    await run('backup', folder);
    const lines = Array.from({ length: 20_001 }, (_, i) => `<urn:s${i}> <urn:p> "o" .`).join('\n');
    await send('PUT', 'c/large', lines, { 'Content-Type': 'application/n-triples' });
    expect(quadsIn((await run('backup', folder)).at(-1)!)).to.equal('20001 triples of 1 graphs');
    await send('PATCH', 'c/large', 'INSERT DATA { <#x> <urn:p> 1 }', { 'Content-Type': 'application/sparql-update' });
    expect(quadsIn(await expectBackup(folder))).to.equal('20002 triples of 1 graphs');
    await send('DELETE', 'c/large');
    // One backup while its quads are being removed, and one afterwards.
    await run('backup', folder);
    expect((await run('verify', folder)).join()).to.match(/^[^,]*resources.*all in order/);
    expect(quadsIn(await expectBackup(folder))).to.equal('no changed graphs');
  });

  it('are replaced by a full backup after too many or too large increments, or for another store format', () => {
    const file = (bytes: number) => ({ name: '', sha256: '', made: '', graphs: 1, triples: 1, bytes });
    const isDue = (sizes: readonly number[], version = storeFormat): boolean =>
      isWholeDue({ version, quads: sizes.map(file) });
    const mebibyte = 1 << 20;
    expect([isDue([100]), isDue([]), isDue([100], '1')]).to.deep.equal([false, true, true]);
    const many = (count: number): number[] => [100, ...Array<number>(count).fill(1)];
    expect([isDue(many(29)), isDue(many(30))]).to.deep.equal([false, true]);
    expect([isDue([10, mebibyte]), isDue([10, mebibyte, 1])]).to.deep.equal([false, true]);
    expect([isDue([10 * mebibyte, 5 * mebibyte]), isDue([10 * mebibyte, 5 * mebibyte, 1])]).to.deep.equal([
      false,
      true,
    ]);
  });

  it('do not depend on damaged files, and report missing quads', async () => {
    const folder = fresh();
    await put('c/kept', '<> <urn:p> "kept\u2028and a line separator" .');
    await run('backup', folder);
    await put('c/late', '<> <urn:p> "late" .');
    await run('backup', folder);
    const [first, last] = filesOf(folder).map((name) => join(folder, name)) as [string, string];
    const bytes = readFileSync(first);
    writeFileSync(first, bytes.subarray(0, -1));
    expect((await run('verify', folder)).join('\n'))
      .to.contain('digest')
      .and.match(/faults\.$/);
    expect((await run('restore', folder, { dataDir: fresh() })).join()).to.contain(`${first} is missing or damaged`);
    const copy = fresh();
    cpSync(folder, copy, { recursive: true });
    const said = await run('backup', copy);
    expect(said[0]).to.match(/missing or damaged, so this backup is a full one/);
    expect(await restored(copy)).to.deep.equal(await live());
    // Manifest without one of the files: all remaining files are valid, but the backup is incomplete.
    writeFileSync(first, bytes);
    const manifestFile = join(folder, manifest);
    const named = JSON.parse(readFileSync(manifestFile, 'utf8')) as { quads: object[] };
    writeFileSync(manifestFile, JSON.stringify({ ...named, quads: named.quads.slice(0, 1) }));
    const lacks = (await run('verify', folder)).join('\n');
    expect(lacks)
      .to.contain(`The quads of ${server.root}c/late are missing.`)
      .and.match(/The [1-9]\d* entries of a part are missing\./)
      .and.match(/ [2-9] faults\.$/);
    expect((await run('restore', folder, { dataDir: fresh() })).join()).to.match(
      /lacks \d+ graphs, or parts of the other entries/,
    );
    writeFileSync(manifestFile, JSON.stringify({ ...named, quads: [] }));
    expect((await run('verify', folder)).join()).to.match(/is damaged: it names no file of quads\.$/);
    writeFileSync(manifestFile, JSON.stringify({ ...named, 'quadpod-backup': 4 }));
    for (const command of ['backup', 'verify', 'restore'] as const)
      expect((await run(command, folder, command === 'restore' ? { dataDir: fresh() } : {})).join()).to.match(
        /is of a later version\.$/,
      );
    expect([readFileSync(first).equals(bytes), filesOf(folder).includes(last.slice(folder.length + 1))]).to.deep.equal([
      true,
      true,
    ]);
  });

  it('continue after a restore of an earlier backup, and after the storage was moved away and back', async () => {
    const [folder, older, away] = [fresh(), fresh(), fresh()];
    const other = 'http://localhost:1/other/';
    await put('c/moved', `<> <urn:p> <${other}x>, <${server.root}x> .`);
    await run('backup', folder);
    cpSync(folder, older, { recursive: true });
    await put('c/moved', '<> <urn:p> "late" .', { 'If-Match': '*' });
    await run('backup', folder);
    // The older state with the same revision: its quads are in the first file, and the second file has others.
    const dataDir = fresh();
    await run('restore', older, { dataDir });
    expect(quadsIn((await run('backup', folder, { dataDir })).at(-1)!)).to.equal('2 triples of 1 graphs');
    expect(await restored(folder)).to.deep.equal(await entriesIn(dataDir));
    const there = { dataDir: fresh(), root: other };
    const here = { dataDir: fresh() };
    await run('restore', folder, { ...there, flags: { rewrite: `${server.root}=${other}` } });
    await run('backup', away, there);
    await run('restore', away, { ...here, flags: { rewrite: `${other}=${server.root}` } });
    // IRIs below the other address are now IRIs of this one.
    const entries = await entriesIn(here.dataDir);
    expect(entries.filter(([key]) => key.includes('c/moved') && key.includes('urn:p'))).to.have.length(1);
    await run('backup', folder, here);
    expect(await restored(folder)).to.deep.equal(entries);
  });

  it('are restored under another base URI without a message about an earlier format', async () => {
    const folder = fresh();
    const other = 'http://localhost:1/other/';
    await run('backup', folder);
    const words = ['restore', folder, '--rewrite', `${server.root}=${other}`];
    const { code, stderr } = await runProcess(words, { dataDir: fresh(), root: other });
    expect(code, stderr).to.equal(0);
    expect(stderr).to.not.match(/earlier format/);
  });

  it('keep the triples of a graph that ends the last file under another base URI', async () => {
    const own = await startSpecServer({});
    try {
      const other = 'http://localhost:1/other/';
      const putOwn = async (body: string, more: Record<string, string>): Promise<void> => {
        const headers = { Authorization: `Bearer ${own.ownerToken}`, ...turtle, ...more };
        expect((await request(`${own.root}one`, { method: 'PUT', headers, body })).status).to.be.below(300);
      };
      const folder = fresh();
      const at = { dataDir: own.dataDir, root: own.root };
      await putOwn('<> <urn:p> 1 .', {});
      await run('backup', folder, at);
      await putOwn('<> <urn:p> 1, 2, 3 .', { 'If-Match': '*' });
      await run('backup', folder, at);
      const dataDir = fresh();
      const lines = await run('restore', folder, { dataDir, root: other, flags: { rewrite: `${own.root}=${other}` } });
      expect(lines, lines.join('\n')).to.have.length(2);
      const triples = (await entriesIn(dataDir)).filter(([key]) => key.startsWith('GSPO') && key.includes('other/one'));
      expect(triples).to.have.length(3);
    } finally {
      await own.stop();
    }
  });

  it('are full for a store of an earlier format, and once more after its migration', async () => {
    const [folder, dataDir] = [fresh(), fresh()];
    mkdirSync(dataDir);
    execFileSync('tar', ['-C', dataDir, '-xzf', join(packageRoot, 'spec/stores/2f082d7.tar.gz')]);
    const earlier = { dataDir, root: earlierRoot };
    const before = await entriesIn(dataDir);
    await run('backup', folder, earlier);
    expect(filesOf(folder)).to.deep.equal([]);
    expect((await run('verify', folder, earlier)).join('\n')).to.match(/^[^\n]* all in order\.$/);
    const migrated = await restored(folder, earlier);
    // Earlier versions wrote the same files with another manifest.
    const manifestFile = join(folder, manifest);
    const { version, quads, ...rest } = JSON.parse(readFileSync(manifestFile, 'utf8')) as Record<string, unknown>;
    expect([version, quads]).to.deep.equal(['1', []]);
    writeFileSync(manifestFile, JSON.stringify({ ...rest, 'quadpod-backup': 1 }));
    expect((await run('verify', folder, earlier)).join('\n')).to.match(/^[^\n]* all in order\.$/);
    expect(before.length).to.be.greaterThan(10);
    rmSync(dataDir, { recursive: true });
    await run('restore', folder, earlier);
    expect((await entriesIn(dataDir)).length).to.equal(migrated.length);
    await run('backup', folder, earlier);
    expect(filesOf(folder)).to.have.length(1);
    expect(await restored(folder, earlier)).to.deep.equal(await entriesIn(dataDir));
  });

  it('leave the previous backup or are complete if killed at any point, and the next one succeeds', async () => {
    const folder = fresh();
    const states: { dataDir: string; entries: Entry[] }[] = [];
    for (const text of ['one', 'other']) {
      await put('c/killed', `<> <urn:p> "${text}" .`, await ifThere('c/killed'));
      await run('backup', folder, { flags: { full: 'true' } });
      const dataDir = fresh();
      await run('restore', folder, { dataDir });
      states.push({ dataDir, entries: await entriesIn(dataDir) });
    }
    for (const [at, moment] of moments.entries()) {
      const [now, before] = [states[at % 2]!, states[(at + 1) % 2]!];
      const environment = { LWS_CONSOLE_ENABLED: 'false' };
      const { dataDir } = now;
      const killed = await runProcess(['backup', folder], {
        ...{ dataDir, root: server.root, environment, nodeOptions: [`--import=${killedAt(moment)}`] },
      });
      expect([killed.code, killed.stdout], killed.stderr).to.deep.equal([null, '']);
      expect((await run('verify', folder)).join('\n'), moment.name).to.match(/^[^\n]* all in order\.$/);
      expect(await restored(folder), moment.name).to.deep.equal((moment.isMade ? now : before).entries);
      await run('backup', folder, { dataDir });
      expect(await restored(folder), moment.name).to.deep.equal(now.entries);
      const { quads } = JSON.parse(readFileSync(join(folder, manifest), 'utf8')) as { quads: object[] };
      expect(filesOf(folder)).to.have.length(quads.length);
    }
    expect(filesOf(folder).length).to.be.greaterThan(moments.length);
  });

  it('are full if a proxy rejects the set of known graphs', async () => {
    const asked: number[] = [];
    const proxy = createServer((req, res) => {
      let length = 0;
      req.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      req.once('end', () => {
        asked.push(length);
        res.writeHead(length > 0 ? 413 : 201, { Location: 'http://localhost:1/job' }).end();
      });
    });
    proxy.listen(0, 'localhost');
    await once(proxy, 'listening');
    const lines: string[] = [];
    const context = {
      ...{ baseUri: `http://localhost:${(proxy.address() as AddressInfo).port}`, systemPrefix: '/.lws', flags: {} },
      ...{ ownerCredential: async () => 'token', print: (line: string) => void lines.push(line) },
    } as unknown as CommandContext;
    try {
      async function* none(): AsyncGenerator<Entry[]> {}
      const { isWhole } = await RunningServer.begin(context, await GraphSet.of(none()));
      expect([isWhole, asked[0]! > 0, asked.slice(1)]).to.deep.equal([true, true, [0]]);
      expect(lines.join()).to.match(/so this backup is a full one\.$/);
    } finally {
      proxy.close();
    }
  });
});
