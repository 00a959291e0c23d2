/** Documented nginx configuration with Debian's nginx, in front of a storage below a path. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { StorageUnderTest } from '../support/conformance.js';
import { request, startRequest } from '../support/http.js';
import { tlsSettings, useHttp2 } from '../support/http2.js';
import { type InboxHost, startInboxHost, told } from '../support/inbox.js';
import { freePort, startSpecServer } from '../support/server.js';
import { subscribe } from '../support/subscriptions.js';
import { connectTls } from '../support/tls.js';
import { until } from '../support/until.js';

const nginx = '/usr/sbin/nginx';
const mib = 1 << 20;

/** Returns the total size of the files in a directory, in bytes. */
const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );

describe('Documented nginx configuration', function () {
  this.timeout(30_000);
  const s = new StorageUnderTest();
  let folder: string;
  let child: ChildProcess | undefined;
  let host: InboxHost;
  let plainPort: number;

  /** Returns the documented configuration with ports, names and paths of this spec. */
  function configuration(ports: { tls: number; plain: number; server: number }): string {
    const given = readFileSync(join(packageRoot, 'docs/operate/nginx.conf'), 'utf8')
      .replaceAll('listen 443', `listen 127.0.0.1:${ports.tls}`)
      .replaceAll('listen 80', `listen 127.0.0.1:${ports.plain}`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.server}`)
      .replaceAll('/etc/letsencrypt/live/storage.example/fullchain.pem', tlsSettings['tls.certificate'])
      .replaceAll('/etc/letsencrypt/live/storage.example/privkey.pem', tlsSettings['tls.key'])
      .replaceAll('https://storage.example', `https://localhost:${ports.tls}`)
      .replaceAll('storage.example', 'localhost')
      .replaceAll('/var/www/acme', folder);
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const folders = kinds.map((kind) => `${kind}_temp_path ${folder}/temp/${kind};`).join('\n');
    return `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
      events {} http { access_log off; ${folders}\n${given}\n}`;
  }

  before(async function () {
    if (!existsSync(nginx)) {
      console.log('nginx is not installed. Its specs are skipped.');
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'quadpod-nginx-'));
    mkdirSync(join(folder, 'temp'));
    host = await startInboxHost();
    const [tls, server] = [await freePort(), await freePort()];
    plainPort = await freePort();
    s.root = `https://localhost:${tls}/some/path/`;
    s.server = await startSpecServer({
      isSecure: false,
      settings: {
        'base-uri': s.root,
        'listen-port': String(server),
        'behind-proxy': 'true',
        'require-https': 'true',
        'webhook.allowed-hosts': host.authority,
      },
    });
    s.token = s.server.ownerToken;
    s.scratch = s.root;
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, configuration({ tls, plain: plainPort, server }));
    child = spawn(nginx, ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], { stdio: 'ignore' });
    const isUp = async (): Promise<boolean> => {
      const socket = await connectTls(s.root).catch(() => undefined);
      socket?.destroy();
      return socket !== undefined;
    };
    await until(isUp, 'nginx listens');
    useHttp2(new URL(s.root).origin);
  });
  after(async () => {
    if (child?.kill()) await new Promise((resolve) => child!.once('close', resolve));
    await s.server?.stop();
    host?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('preserves percent-encoded IRIs under the base URI', async () => {
    const iri = `${s.root}a%2Fb`;
    const made = await s.put(iri, 'text/turtle', '<> <http://schema.org/name> "x" .');
    expect(made.status, made.text).to.equal(201);
    expect((await s.get(iri, { Accept: 'application/n-triples' })).text).to.contain(`<${iri}>`);
    const posted = await s.post(s.root, 'text/plain', 'x', { Slug: 'posted' });
    expect(new URL(posted.headers['location']!, s.root).href).to.equal(`${s.root}posted`);
    expect((await s.send('PUT', iri, { 'If-Match': '"no"', 'Content-Type': 'text/plain' }, 'x')).status).to.equal(412);
    expect((await s.send('GET', iri, {}, undefined, 'anonymous')).status).to.equal(401);
  });

  it('forwards the method QUERY', async () => {
    const { iri } = await s.stored('text/turtle', '<#a> <#b> <#c> .', `${s.root}queried`);
    const type = { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' };
    const answer = await s.send('QUERY', iri, type, 'SELECT ?o { ?s ?p ?o }');
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.contain(`${iri}#c`);
  });

  it('streams uploads to the storage without buffering them', async () => {
    const iri = `${s.root}large`;
    const piece = Buffer.alloc(mib, 'x');
    const req = startRequest(iri, {
      method: 'PUT',
      agent: false,
      headers: { Authorization: `Bearer ${s.token}`, 'Content-Type': 'application/octet-stream' },
    });
    const status = new Promise((resolve, reject) => {
      req.once('response', (res) => resolve(res.resume().statusCode)).once('error', reject);
    });
    const before = bytesIn(s.server!.dataDir);
    for (let i = 0; i < 16; i++) req.write(piece);
    await until(async () => bytesIn(s.server!.dataDir) - before > 8 * mib, 'half of the upload is stored');
    expect(bytesIn(join(folder, 'temp'))).to.equal(0);
    req.end();
    expect(await status).to.equal(201);
    expect((await s.get(iri)).bytes.length).to.equal(16 * mib);
  });

  it('delivers notifications', async () => {
    const container = await s.container(`${s.root}watched/`);
    const inbox = host.inbox();
    await subscribe(s, container, inbox);
    const { iri } = await s.stored('text/plain', 'x', `${container}new`);
    await until(
      async () => host.activities(inbox).map(told).includes(`Create ${iri}`),
      'the notification is delivered',
    );
  });

  it('rejects other hosts, and redirects plain HTTP to the base URI', async () => {
    const wrong = await s.get(s.root, { Host: 'evil.example' });
    expect([wrong.status, wrong.text.includes('lws')]).to.deep.equal([421, false]);
    const plain = `http://localhost:${plainPort}`;
    const sent = await request(`${plain}/some/path/a?b`);
    expect([sent.status, sent.headers['location']]).to.deep.equal([308, `${s.root}a?b`]);
    expect((await request(`${plain}/`, { headers: { Host: 'evil.example' } })).status).to.equal(421);
  });

  it('ignores forwarding fields of clients', async () => {
    const lines = s.server!.log.length;
    await s.send(
      'GET',
      `${s.root}a%2Fb`,
      { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'http' },
      undefined,
      'anonymous',
    );
    const line = s.server!.log.slice(lines).find(({ status }) => status === 401);
    expect(line?.['address']).to.equal('127.0.0.1');
  });
});
