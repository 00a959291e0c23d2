/** Operator errors: each is reported in one sentence with a remedy, and creates nothing. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ClassicLevel } from 'classic-level';
import { standardComponents } from '../../../components/index.js';
import { usageOf } from '../../../lib/server/cli.js';
import { commands } from '../../../lib/server/commands.js';
import { coreSettings } from '../../../lib/server/settings/core-settings.js';
import { openStore } from '../../../lib/server/storage/open-store.js';
import { keptIdentity } from '../../../lib/server/storage/owner-credential.js';
import { environmentName, loadSettings, unknownVariables } from '../../../lib/settings/settings.js';
import { localhostCertificate } from '../../support/localhost-certificate.js';
import { type Ended, runProcess } from '../../support/process.js';
import { freePort, startSpecServer } from '../../support/server.js';

const root = 'http://localhost:8080/';

describe('Start with errors', function () {
  this.timeout(30_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-wrong-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** One line without a stack trace. */
  const refused = ({ code, stderr }: Ended, sentence: RegExp): void => {
    expect(stderr).to.match(sentence);
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(code).to.equal(2);
  };

  for (const words of [
    ['check'],
    ['explain', 'http://localhost:8080/a'],
    ['reindex'],
    ['rotate-keys'],
    ['rotate-webhook-key'],
    ['export'],
    ['backup', 'to'],
  ])
    it(`rejects ${words[0]} of a nonexistent directory, and creates none`, async () => {
      const dataDir = join(folder, 'nowhere');
      refused(
        await runProcess(words, { dataDir }),
        /^quadpod: .*nowhere \(lws\.data-dir\) contains no storage\..*--data-dir DIRECTORY/,
      );
      expect(existsSync(dataDir)).to.equal(false);
      expect(existsSync('to')).to.equal(false);
    });

  describe('unusable data directory', () => {
    let [file, fileAsLevel, folderAsAddress, closed, unreadable]: string[] = [];
    before(() => {
      [file, fileAsLevel, folderAsAddress, closed, unreadable] = [
        'file',
        'level',
        'address',
        'closed',
        'unreadable',
      ].map((name) => join(folder, `bad-${name}`)) as [string, string, string, string, string];
      writeFileSync(file!, '');
      for (const each of [fileAsLevel, folderAsAddress, closed, unreadable]) mkdirSync(each!);
      writeFileSync(join(fileAsLevel!, 'level'), '');
      mkdirSync(join(folderAsAddress!, 'base-uri'));
      writeFileSync(join(unreadable!, 'base-uri'), 'http://localhost:1/\n', { mode: 0 });
      chmodSync(closed!, 0);
    });
    after(() => chmodSync(closed!, 0o700));

    const cases: readonly [what: string, dir: () => string, said: RegExp][] = [
      ['is a file', () => file!, /data directory .*bad-file cannot be created/],
      ['is inside a file', () => join(file!, 'x'), /data directory .*bad-file\/x cannot be created/],
      ['has a file in place of its database', () => fileAsLevel!, /storage in .*level cannot be (?:opened|written)/],
      ['has a directory in place of its address file', () => folderAsAddress!, /bad-address cannot be read \(EISDIR/],
      ['has an unreadable address file', () => unreadable!, /bad-unreadable cannot be read \(EACCES/],
      ['cannot be entered', () => closed!, /(?:bad-closed cannot be read|in .*bad-closed.* cannot be written).*EACCES/],
      [
        'is below a directory that cannot be entered',
        () => join(closed!, 'x'),
        /bad-closed\/x cannot be read \(EACCES/,
      ],
      ['is /proc', () => '/proc', /storage in \/proc\/level cannot be (?:opened|written)/],
      ['is in /proc', () => '/proc/quadpod', /data directory \/proc\/quadpod cannot be created/],
    ];
    for (const [what, dir, said] of cases)
      it(`ends the start with one sentence if it ${what}`, async function () {
        if (dir().startsWith('/proc') && process.platform !== 'linux') this.skip();
        refused(await runProcess([], { dataDir: dir(), isConfined: true }), said);
      });

    it('ends export and backup to /proc, and a key there, with one sentence', async function () {
      if (process.platform !== 'linux') this.skip();
      const dataDir = join(folder, 'of-proc');
      await (await openStore(dataDir, root, {})).close();
      for (const words of [
        ['backup', '/proc/quadpod'],
        ['export', '-o', '/proc/quadpod/', '--format', 'folder'],
        ['owner', '--new-key', '/proc/quadpod/owner.key'],
      ])
        refused(await runProcess(words, { dataDir, root }), /^quadpod: E\w+: .* '\/proc\/\.?quadpod/);
    });
  });

  it('names NODE_EXTRA_CA_CERTS if a backup does not trust the certificate of the running server', async () => {
    const server = await startSpecServer({ isSecure: true });
    try {
      const { dataDir, root: base } = server;
      const words = ['backup', join(folder, 'backup-tls')];
      const environment = { LWS_DEV_OPEN: 'false' };
      refused(
        await runProcess(words, { dataDir, root: base, environment }),
        /^quadpod: A server has the storage open .*certificate.*NODE_EXTRA_CA_CERTS=FILE/,
      );
      const ca = join(folder, 'ca.pem');
      writeFileSync(ca, localhostCertificate);
      const trusting = { ...environment, NODE_EXTRA_CA_CERTS: ca };
      const { code, stderr } = await runProcess(words, { dataDir, root: base, environment: trusting });
      expect(code, stderr).to.equal(0);
    } finally {
      await server.stop();
    }
  });

  it('rejects an owner with an invalid did:key, before anything is created (rule 5.4)', async () => {
    const dataDir = join(folder, 'placeholder');
    for (const owner of ['did:key:z6Mk...', 'did:key:YOUR-DID', 'somebody', '<YOUR-DID>'])
      refused(await runProcess([`--owners=${owner}`], { dataDir }), /^quadpod: lws\.owners contains .*quadpod owner/);
    expect(existsSync(dataDir)).to.equal(false);
  });

  it('rejects owner --key with a nonexistent file; --new-key creates one, once', async () => {
    const file = join(folder, 'some.key');
    refused(await runProcess(['owner', '--key', file]), /some\.key does not exist\..*--new-key/);
    expect(existsSync(file)).to.equal(false);
    const made = await runProcess(['owner', '--new-key', file]);
    expect(made.code, made.stderr).to.equal(0);
    expect((await runProcess(['owner', '--key', file])).stdout.split('\n')[0]).to.equal(made.stdout.split('\n')[0]);
    refused(await runProcess(['owner', '--new-key', file]), /some\.key already exists/);
  });

  describe('port in use', () => {
    let other: Server;
    before(async () => {
      other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    });
    after(() => void other.close());

    it('suggests another base URI, and explains why another port alone is not enough', async () => {
      const { port } = other.address() as { port: number };
      const ended = await runProcess([], { environment: { LWS_BASE_URI: `http://localhost:${port}` } });
      refused(ended, new RegExp(`port ${port} of 127.0.0.1.*--base-uri=http://localhost:${port + 1} .*credentials`));
    });
  });

  it('rejects a listen-host that is not an address of this machine, naming its source', async () => {
    refused(
      await runProcess(['--listen-host=192.0.2.1']),
      /lws\.listen-host is "192\.0\.2\.1"\. Use .*\(lws\.listen-host from flag --listen-host\)/,
    );
  });

  it('reports that no server is running if events are requested', async () => {
    const dataDir = join(folder, 'of-events');
    await runProcess(['owner', '--new-key', join(dataDir, 'owner.key')]);
    const environment = { LWS_DEV_OPEN: 'false' };
    refused(await runProcess(['events'], { dataDir, environment }), /^quadpod: No server responds at http/);
  });

  it('ends check with 3 if a table of the database is damaged or missing', async () => {
    const dataDir = join(folder, 'damaged');
    const { level } = await openStore(dataDir, root, {});
    for (let i = 0; i < 100; i++) await level.put(`E\u0000spec\u0000${i}`, 'value');
    await (level as unknown as ClassicLevel).compactRange('', '\uffff');
    await level.close();
    const table = join(dataDir, 'level', readdirSync(join(dataDir, 'level')).find((name) => name.endsWith('.ldb'))!);
    writeFileSync(table, Buffer.alloc(statSync(table).size, 0xff));
    const damaged = await runProcess(['check'], { dataDir, root });
    expect([damaged.code, damaged.stderr]).to.deep.equal([3, '']);
    expect(damaged.stdout).to.match(/^The database is damaged: .*Restore it from a backup/);
    rmSync(table);
    expect((await runProcess(['check'], { dataDir, root })).code).to.equal(3);
  });

  it('does not start without the key of the storage’s owner, and creates no other', async () => {
    const first = await startSpecServer();
    await first.stop(true);
    const file = join(first.dataDir, 'owner.key');
    rmSync(file);
    const refusal = await startSpecServer({ again: first }).catch((error: unknown) => error);
    expect(String(refusal)).to.match(/The key of the storage's owner did:key:\S+ is missing: .*owner\.key\. Restore/);
    expect(existsSync(file)).to.equal(false);
    keptIdentity(file);
    const again = await startSpecServer({ again: first });
    await again.stop();
  });

  it('suggests restoring a database that is missing beside blobs, and creates none', async () => {
    const dataDir = join(folder, 'without-level');
    mkdirSync(join(dataDir, 'blobs'), { recursive: true });
    refused(
      await runProcess(['check'], { dataDir }),
      /blobs\/ directory, but its database \(level\/\) is missing\. Restore/,
    );
    expect(readdirSync(dataDir)).to.deep.equal(['blobs']);
  });

  it('names the setting of a limit, and warns of 507', async () => {
    const server = await startSpecServer({
      settings: { 'dev.open': 'true', 'max-request-bytes': '10', 'max-binary-bytes': '10', 'quota.max-bytes': '1' },
    });
    const put = async (type: string, body: string): Promise<[number, string]> => {
      const answer = await fetch(`${server.root}a`, { method: 'PUT', headers: { 'Content-Type': type }, body });
      return [answer.status, ((await answer.json()) as { detail: string }).detail];
    };
    try {
      const long = 'x'.repeat(11);
      expect(await put('application/json', long)).to.deep.equal([
        413,
        'The body exceeds the limit of 10 bytes (lws.max-request-bytes).',
      ]);
      expect((await put('x/y', long)).join()).to.match(/^413,.*lws\.max-binary-bytes/);
      expect((await put('x/y', 'xyz'))[0]).to.equal(507);
    } finally {
      await server.stop();
    }
    expect(server.log.filter(({ level, status }) => level === 40 && status === 507)).to.have.length(1);
  });

  it('ends at SIGTERM even if its output is not read any more', async () => {
    const dataDir = join(folder, 'unread');
    const program = fileURLToPath(new URL('../../../components/main.js', import.meta.url));
    const child = spawn(
      process.execPath,
      [program, `--base-uri=http://localhost:${await freePort()}`, `--data-dir=${dataDir}`],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    await new Promise<void>((resolve) => child.stderr.once('data', () => resolve()));
    child.stdout.destroy();
    child.stderr.destroy();
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
  });

  it('warns of environment variables that are not settings, with the nearest name', () => {
    const settings = loadSettings([coreSettings], {});
    expect(
      unknownVariables(settings, { LWS_BASE_URL: 'x', [environmentName('lws.owners')]: '', PATH: '' }),
    ).to.deep.equal(['LWS_BASE_URL in the environment is not a setting and is ignored. Did you mean LWS_BASE_URI?']);
  });

  it('prints the warning, and hints for common habits', async () => {
    const { stderr, code } = await runProcess(['settings'], { environment: { LWS_DATA_DRI: 'x' } });
    expect(stderr).to.equal(
      'quadpod: LWS_DATA_DRI in the environment is not a setting and is ignored. Did you mean LWS_DATA_DIR?\n',
    );
    expect(code).to.equal(0);
    refused(await runProcess(['-p', '8081']), /^quadpod: -p is not a setting.*--base-uri=/);
    refused(await runProcess(['--port=8081']), /^quadpod: --port is not a setting.*--base-uri=/);
    const config = join(folder, 'config.json');
    writeFileSync(config, '{"base-uri": "http://localhost:1"}');
    refused(
      await runProcess(['--config', config]),
      /Unknown setting base-uri \(from .*config\.json\)\. Did you mean lws\.base-uri\?/,
    );
  });

  it('names a missing value, and suggests a command for an unknown one', async () => {
    refused(await runProcess(['--base-uri']), /^quadpod: --base-uri requires a value: --base-uri=VALUE, an http/);
    refused(await runProcess(['--data-dir', '--dev.open']), /^quadpod: --data-dir requires a value/);
    refused(await runProcess(['owner', '--key']), /^quadpod: --key requires a value: --key=VALUE, FILE/);
    refused(await runProcess(['imprt', 'x']), /^quadpod: Unknown command imprt\. Did you mean import\? "quadpod help"/);
    refused(
      await runProcess(['frobnicate']),
      /^quadpod: Unknown command frobnicate\. "quadpod help" lists all commands\.$/m,
    );
  });

  it('rejects a lifetime that the storage would not accept, and http for a remote provider', async () => {
    const file = join(folder, 'lifetime.key');
    refused(
      await runProcess(['owner', '--new-key', file, '--ttl', '3601']),
      /^quadpod: --ttl is 3601, .* at most 3600 seconds \(lws\.token\.max-lifetime-seconds\)/,
    );
    expect(existsSync(file)).to.equal(false);
    const further = ['owner', '--new-key', file, '--ttl', '7200'];
    const environment = { LWS_TOKEN_MAX_LIFETIME_SECONDS: '7200' };
    expect((await runProcess(further, { environment })).code).to.equal(0);
    refused(
      await runProcess(['--oidc.discovery-uri=http://id.example/.well-known/openid-configuration']),
      /^quadpod: lws\.oidc\.discovery-uri is "http:.*expected the https URL/,
    );
  });

  it('prints flags and an example of every command in its help, and its version', async () => {
    const all = { ...commands, ...Object.assign({}, ...standardComponents.map((component) => component.commands)) };
    expect(Object.keys(all)).to.include.members(['serve', 'owner', 'check', 'import', 'export', 'restore', 'events']);
    for (const [name, command] of Object.entries(all as typeof commands)) {
      const text = usageOf(name, command);
      expect(text).to.include(`\n  quadpod ${name}`);
      for (const flag of Object.keys({ ...command.flags, ...command.switches })) expect(text).to.include(`--${flag}`);
    }
    const help = await runProcess(['check', '--help', '--base-uri=nonsense']);
    expect([help.code, help.stdout]).to.deep.equal([0, usageOf('check', commands['check']!)]);
    expect((await runProcess(['--version'])).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  });
});
