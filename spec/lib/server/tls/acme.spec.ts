/** Certificates of a real ACME server, Debian's pebble: issued, kept, renewed, and the behaviour if none is issued. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pauseAfter, renewalOf } from '../../../../components/acme/acme-certificates.js';
import { requestHttp2, tlsSettings } from '../../../support/http2.js';
import { freePort, type SpecServer, startSpecServer } from '../../../support/server.js';
import { connectTls, openSession, presentedCertificate } from '../../../support/tls.js';
import { until } from '../../../support/until.js';

const hour = 3_600_000;

describe('Renewal of certificates', () => {
  it('is a number of days before the end, or at two thirds of a short lifetime, with jitter', () => {
    const [notBefore, notAfter] = [0, 90 * 24 * hour];
    expect(renewalOf({ notBefore, notAfter }, 30, 0)).to.equal(60 * 24 * hour);
    expect(renewalOf({ notBefore, notAfter }, 20, 0)).to.equal(70 * 24 * hour);
    expect(renewalOf({ notBefore, notAfter }, 20, 1)).to.equal(70 * 24 * hour - 6 * hour);
    expect(renewalOf({ notBefore, notAfter: 6 * 24 * hour }, 30, 0)).to.equal(4 * 24 * hour);
  });

  it('is retried after pauses that grow up to 12 hours, with jitter', () => {
    expect([1, 2, 5].map((failures) => pauseAfter(failures, 0) / 60_000)).to.deep.equal([2, 4, 32]);
    expect(pauseAfter(1000, 0)).to.equal(12 * hour);
    expect(pauseAfter(1, 1)).to.equal(150_000);
  });
});

describe('ACME', function () {
  this.timeout(40_000);
  let folder: string;
  let httpPort: number;
  let acmePort: number;
  let pebble: ChildProcess | undefined;
  let s: SpecServer;
  const said = (message: string) => s.log.filter(({ msg }) => msg === message);

  /** Lifetime of its certificates in seconds. */
  async function startPebble(seconds: number): Promise<void> {
    const file = join(folder, 'pebble.json');
    const config = {
      listenAddress: `127.0.0.1:${acmePort}`,
      managementListenAddress: `127.0.0.1:${await freePort()}`,
      certificate: tlsSettings['tls.certificate'],
      privateKey: tlsSettings['tls.key'],
      httpPort,
      tlsPort: await freePort(),
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
      certificateValidityPeriod: seconds,
    };
    writeFileSync(file, JSON.stringify({ pebble: config }));
    const child = spawn('pebble', ['-config', file], { env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' } });
    pebble = child;
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (data) => String(data).includes('Listening on') && resolve());
      child.once('error', reject).once('close', () => reject(new Error('pebble ended')));
    });
  }

  async function stopPebble(): Promise<void> {
    const child = pebble;
    pebble = undefined;
    if (child === undefined || !child.kill()) return;
    await new Promise((resolve) => child.once('close', resolve));
  }

  const settings = () => ({
    'dev.open': 'true',
    'max-connections-per-address': '200',
    // Without the files of the other specs.
    'tls.certificate': '',
    'tls.key': '',
    'tls.http-port': String(httpPort),
    'tls.acme.directory-url': `https://localhost:${acmePort}/dir`,
    'tls.acme.accept-terms-of-service': 'true',
    'fetch.ca-certificates': tlsSettings['tls.certificate'],
  });

  before(async function () {
    if (spawnSync('pebble', ['-h']).error) {
      console.log('pebble is not installed: the specs of ACME are skipped.');
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'quadpod-acme-'));
    [httpPort, acmePort] = [await freePort(), await freePort()];
  });
  after(async () => {
    await stopPebble();
    await s?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('is retried until there is a first certificate; clients cannot connect without one', async () => {
    s = await startSpecServer({ isSecure: true, settings: settings() });
    expect(said('no TLS certificate yet: clients cannot connect until the authority issues one')).to.have.length(1);
    const failed = 'no TLS certificate was issued: there is none, so clients cannot connect';
    await until(async () => said(failed).length === 1, 'the first attempt failed');
    expect(await connectTls(s.root).catch(() => 'refused')).to.equal('refused');
    await startPebble(3600);
    s.server.reload();
    await until(async () => said('a TLS certificate was issued').length === 1, 'a certificate is issued');
    expect(await presentedCertificate(s.root)).to.contain('BEGIN CERTIFICATE');
    const place = join(s.dataDir, 'acme');
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).sort()).to.deep.equal(['account.key', 'certificate.pem']);
    for (const { name, parentPath } of files)
      expect(statSync(join(parentPath, name)).mode & 0o777, name).to.equal(0o600);
    expect(JSON.stringify(s.log)).not.to.contain('PRIVATE KEY');
  });

  it('serves with the kept certificate after a restart, with or without a reachable authority', async () => {
    const before = await presentedCertificate(s.root);
    await s.stop(true);
    await stopPebble();
    s = await startSpecServer({ settings: settings(), again: s });
    expect(await presentedCertificate(s.root)).to.equal(before);
    expect(s.log.filter(({ level }) => Number(level) >= 40)).to.deep.equal([]);
    s.server.reload();
    expect(said('the TLS certificate is not due for renewal')).to.have.length(1);
  });

  it('renews under 100 connections without a failure, and keeps the previous one if it cannot renew', async () => {
    await s.stop(true);
    rmSync(join(s.dataDir, 'acme'), { recursive: true });
    await startPebble(5);
    s = await startSpecServer({ settings: settings(), again: s });
    const issued = (count: number) =>
      until(async () => said('a TLS certificate was issued').length >= count, `${count} are issued`);
    await issued(1);
    const first = await presentedCertificate(s.root);
    const sessions = await Promise.all(Array.from({ length: 100 }, () => openSession(s.root)));
    const statuses = new Set<number>();
    const ask = async (session: ClientHttp2Session): Promise<void> => {
      const asked = { method: 'GET', target: '/', headers: {}, body: undefined };
      statuses.add((await requestHttp2(new URL(s.root).origin, asked, session)).status);
    };
    for (let shown = first; shown === first; shown = await presentedCertificate(s.root))
      await Promise.all(sessions.map(ask));
    await Promise.all(sessions.map(ask));
    expect([...statuses]).to.deep.equal([200]);
    expect(sessions.some(({ closed }) => closed)).to.equal(false);
    for (const session of sessions) session.destroy();
    await stopPebble();
    const failed = 'no TLS certificate was issued: the previous one is still used';
    await until(async () => said(failed).length === 1, 'a renewal failed');
    expect(await presentedCertificate(s.root)).to.contain('BEGIN CERTIFICATE');
  });
});
