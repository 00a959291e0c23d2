/** rclone over the proxy of `quadpod connect` (rules 25.1, 25.7). Skipped if rclone is not installed. */
import { execFile, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type LocalProxy, openProxy } from '../../../components/connect/proxy.js';
import { readIdentity } from '../../../lib/server/storage/owner-credential.js';
import { request } from '../../support/http.js';
import { type SpecServer, startSpecServer } from '../../support/server.js';

const run = promisify(execFile);

/** Contents of the files below a folder, by path. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'latin1')]),
  );

function fill(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

describe('rclone', function () {
  this.timeout(120_000);
  let server: SpecServer;
  let proxy: LocalProxy;
  let folder: string;

  before(async function () {
    if (spawnSync('rclone', ['version']).status !== 0) {
      process.stderr.write('rclone is not installed: its specs are skipped.\n');
      return this.skip();
    }
    const settings = { 'webdav.enabled': 'true', 'require-conditional-writes': 'false' };
    server = await startSpecServer({ settings, path: '/some/path', isSecure: false });
    const identity = readIdentity(join(server.dataDir, 'owner.key'));
    proxy = await openProxy({ url: server.root, identity, port: 0, isReadOnly: false });
    folder = mkdtempSync(join(tmpdir(), 'quadpod-rclone-'));
  });
  after(async () => {
    await proxy?.close();
    await server?.stop();
    if (folder) rmSync(folder, { recursive: true });
  });

  const rclone = async (command: string, ...operands: readonly string[]): Promise<string> => {
    const remote = ['--webdav-url', proxy.url, '--webdav-vendor', 'other', '--config', join(folder, 'none.conf')];
    const { stdout } = await run('rclone', [command, ...operands, ...remote, '--transfers', '8', '--retries', '1'], {
      maxBuffer: 16 << 20,
    });
    return stdout;
  };

  it('synchronizes 1 000 files to the storage and back, with replaced and deleted ones', async () => {
    const [source, target] = [join(folder, 'source'), join(folder, 'target')];
    const words = 'linked web storage '.repeat(10);
    const files = Object.fromEntries(
      Array.from({ length: process.platform === 'win32' ? 996 : 995 }, (_, i) => [
        `d${i % 12}/e${i % 3}/f${i}.txt`,
        `${i} ${words.slice(0, i % 150)}`,
      ]),
    );
    fill(source, {
      ...files,
      'ä ö/ü & (1) #?.txt': 'ü',
      'a.json': '{"a": 1.00}\n',
      bytes: Buffer.from([0, 255, 10]),
      'empty.txt': '',
      ...(process.platform === 'win32' ? {} : { 'back\\slash': 'a name with a backslash' }),
    });
    await rclone('sync', source, ':webdav:backup');
    await rclone('sync', ':webdav:backup', target);
    const before = contents(source);
    expect(Object.keys(before)).to.have.length(1_000);
    expect(contents(target)).to.deep.equal(before);

    fill(source, { 'd1/e1/f1.txt': 'replaced', 'new/g.txt': 'new' });
    rmSync(join(source, 'd2'), { recursive: true });
    await rclone('sync', source, ':webdav:backup');
    await rclone('sync', ':webdav:backup', target);
    expect(contents(target)).to.deep.equal(contents(source));
    expect(Object.keys(contents(target))).to.have.length(
      1_001 - Object.keys(before).filter((name) => name.startsWith('d2/')).length,
    );
  });

  it('moves, copies, lists and deletes', async () => {
    fill(join(folder, 'small'), { 'a/b.txt': 'b', 'c.txt': 'c' });
    await rclone('copy', join(folder, 'small'), ':webdav:small');
    await rclone('moveto', ':webdav:small/a', ':webdav:small/moved');
    await rclone('copyto', ':webdav:small/c.txt', ':webdav:small/moved/d.txt');
    expect((await rclone('lsf', '-R', ':webdav:small')).split('\n').sort().join(' ').trim()).to.equal(
      'c.txt moved/ moved/b.txt moved/d.txt',
    );
    await rclone('purge', ':webdav:small');
    expect((await rclone('lsf', ':webdav:')).split('\n')).not.to.include('small/');
  });

  it('stores RDF files as they are with a Link field, and replaces files of the same size with --update', async () => {
    const [source, remote] = [join(folder, 'rdf'), ':webdav:rdf'];
    fill(source, { 'a.ttl': '<> a <#X> .', 'b.txt': 'old' });
    const asBytes = ['--header-upload', 'Link: <http://www.w3.org/ns/ldp#NonRDFSource>; rel="type"'];
    await rclone('sync', source, remote, ...asBytes);
    expect((await request(`${proxy.url}rdf/a.ttl`)).text).to.equal('<> a <#X> .');
    fill(source, { 'b.txt': 'new' });
    utimesSync(join(source, 'b.txt'), new Date(), new Date(Date.now() + 5_000));
    await rclone('sync', source, remote, '--update', ...asBytes);
    expect((await request(`${proxy.url}rdf/b.txt`)).text).to.equal('new');
  });

  it('replaces paths in responses and Destination (rule 25.7)', async () => {
    const { pathname, origin } = new URL(proxy.url);
    const send = (method: string, name: string, headers: Record<string, string> = {}) =>
      request(proxy.url + name, { method, headers });
    expect((await send('MKCOL', 'paths')).status).to.equal(201);
    expect(
      (await request(`${proxy.url}paths/a`, { method: 'PUT', headers: { 'Content-Type': 'text/plain' }, body: 'a' }))
        .status,
    ).to.equal(201);
    for (const [from, to] of [
      ['a', `${origin}${pathname}paths/b`],
      ['b', `${pathname}paths/c`],
    ] as const)
      expect((await send('MOVE', `paths/${from}`, { Destination: to })).status, to).to.equal(201);
    expect((await send('MOVE', 'paths/c', { Destination: 'http://elsewhere.example/d' })).status).to.equal(400);
    const { text, status } = await send('PROPFIND', 'paths/', { Depth: '1' });
    expect([status, [...text.matchAll(/<D:href>([^<]*)</g)].map(([, path]) => path)]).to.deep.equal([
      207,
      [`${pathname}paths/`, `${pathname}paths/c`],
    ]);
    await proxy.close();
    proxy = await openProxy({
      url: server.root,
      identity: readIdentity(join(server.dataDir, 'owner.key')),
      port: 0,
      isReadOnly: true,
    });
    expect((await send('PROPFIND', 'paths/', { Depth: '0' })).status).to.equal(207);
    for (const method of ['MKCOL', 'PROPPATCH', 'MOVE']) expect((await send(method, 'paths/c')).status).to.equal(403);
  });
});
