/** HTTP/2 and HTTP/1.1 over TLS on one port: responses of both, limits, and certificates that change under connections. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { Agent, request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { certificateFiles } from '../../../../lib/server/listeners/certificate-files.js';
import { exchange, head, request, startRequest } from '../../../support/http.js';
import { frame, prefaceHttp2, requestHttp2 } from '../../../support/http2.js';
import { startProcess } from '../../../support/process.js';
import { freePort, type SpecServer, startSpecServer } from '../../../support/server.js';
import { connectTls, makePair, openSession, presentedCertificate, writePair } from '../../../support/tls.js';
import { until } from '../../../support/until.js';

const open = { 'dev.open': 'true', 'max-connections-per-address': '200', 'request-idle-seconds': '1' };

const get = (session: ClientHttp2Session, root: string, target = '/') =>
  requestHttp2(new URL(root).origin, { method: 'GET', target, headers: {}, body: undefined }, session);

/** `GET https://localhost/` in HPACK. */
const getRoot = [0x82, 0x87, 0x84, 0x01, 9, ...Buffer.from('localhost')];

const closed = (emitter: { once(event: 'close', listener: () => void): unknown }): Promise<void> =>
  new Promise((resolve) => emitter.once('close', () => resolve()));

describe('TLS', () => {
  let folder: string;
  let files: Readonly<Record<'tls.certificate' | 'tls.key', string>>;
  let s: SpecServer;
  let httpPort: number;
  const messages = (): unknown[] => s.log.map(({ msg }) => msg);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-tls-'));
    files = { 'tls.certificate': join(folder, 'certificate.pem'), 'tls.key': join(folder, 'key.pem') };
    writePair(files, makePair());
    httpPort = await freePort();
    const settings = { ...open, ...files, 'tls.http-port': String(httpPort), 'tls.acme.webroot': folder };
    s = await startSpecServer({ isSecure: true, settings });
  });
  after(async () => {
    await s.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('over HTTP/2', () => {
    let session: ClientHttp2Session;
    beforeEach(async () => {
      session = await openSession(s.root);
    });
    afterEach(() => session.destroy());

    it('stores nothing of an upload that is cancelled, with or without Content-Length', async () => {
      for (const [type, length] of [
        ['application/octet-stream', {}],
        ['application/octet-stream', { 'content-length': '6' }],
        ['text/turtle', {}],
        ['application/json', { 'content-length': '6' }],
      ] as const) {
        const fields = { ':method': 'PUT', ':path': '/cancelled', 'content-type': type, ...length };
        const stream: ClientHttp2Stream = session.request(fields, { endStream: false });
        stream.on('error', () => {});
        const lines = s.log.length;
        stream.write(type === 'application/json' ? '123' : '# a');
        await get(session, s.root);
        stream.destroy();
        const isLogged = async () => s.log.slice(lines).some(({ path }) => path === '/cancelled');
        await until(isLogged, 'the request is logged');
        expect(s.log.slice(lines).find(({ path }) => path === '/cancelled')?.['status'], type).to.equal(499);
        expect((await get(session, s.root, '/cancelled')).status, type).to.equal(404);
      }
    });

    it('RFC 9113 8.3.1: rejects a Host with another authority', async () => {
      const ask = async (fields: Record<string, string>): Promise<number> => {
        const stream = session.request({ ':path': '/', ...fields });
        const status = await new Promise<number>((resolve, reject) => {
          stream.once('response', (answer) => resolve(answer[':status']!));
          stream.once('error', reject);
        });
        stream.close();
        return status;
      };
      const { host } = new URL(s.root);
      expect(await ask({ host, ':authority': host })).to.equal(200);
      expect(await ask({ host: 'elsewhere.example', ':authority': host })).to.equal(400);
      expect(await ask({ ':authority': 'elsewhere.example' })).to.equal(421);
    });

    it('ends one stream, and not its session, for a body that is rejected', async () => {
      const body = Buffer.alloc(1 << 20);
      const target = '/container/';
      const answer = await requestHttp2(
        new URL(s.root).origin,
        { method: 'PUT', target, headers: { 'content-type': 'text/turtle' }, body },
        session,
      );
      expect(answer.status).to.be.within(400, 499);
      expect((await get(session, s.root)).status).to.equal(200);
    });

    it('ends an unread response after the idle time, and not its session', async () => {
      const big = { 'content-type': 'application/octet-stream' };
      const stored = await requestHttp2(
        new URL(s.root).origin,
        { method: 'PUT', target: '/big', headers: big, body: Buffer.alloc(4 << 20) },
        session,
      );
      expect(stored.status).to.equal(201);
      const unread = session.request({ ':path': '/big' });
      // The client has announced its window and reads no more.
      await new Promise((resolve) => unread.once('response', resolve));
      await closed(unread.on('error', () => {}));
      expect(unread.rstCode).to.equal(constants.NGHTTP2_CANCEL);
      expect((await get(session, s.root)).status).to.equal(200);
      expect((await get(session, s.root, '/big')).bytes).to.have.length(4 << 20);
    });

    it('accepts 100 concurrent requests, and disconnects a client that keeps cancelling', async () => {
      expect(session.remoteSettings.maxConcurrentStreams).to.equal(100);
      const socket = await connectTls(s.root, { ALPNProtocols: ['h2'] });
      const ended = closed(socket.on('error', () => {}).resume());
      socket.write(prefaceHttp2());
      for (let id = 1; id < 1000 && !socket.destroyed; id += 2) {
        socket.write(Buffer.concat([frame(1, 5, id, getRoot), frame(3, 0, id, [0, 0, 0, constants.NGHTTP2_CANCEL])]));
        await new Promise(setImmediate);
      }
      await ended;
      const another = await openSession(s.root);
      expect((await get(another, s.root)).status).to.equal(200);
      another.destroy();
    });
  });

  it('responds to HTTP/1.1 and to invalid HTTP on the same port', async () => {
    const socket = await connectTls(s.root, { ALPNProtocols: ['http/1.1'] });
    expect(socket.alpnProtocol).to.equal('http/1.1');
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(s.root).host}\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`);
    expect(await answered).to.match(/^HTTP\/1\.1 431 /);
    socket.destroy();
  });

  it('replaces a certificate under 100 connections without a failure', async () => {
    const agents = Array.from({ length: 50 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const sessions = await Promise.all(Array.from({ length: 50 }, () => openSession(s.root)));
    const ports = new Set<number | undefined>();
    const overOne = (agent: Agent): Promise<number> =>
      new Promise((resolve, reject) => {
        const req = requestTls(s.root, { agent, rejectUnauthorized: false }, (res) => {
          ports.add(res.socket.localPort);
          res.resume().once('end', () => resolve(res.statusCode!));
        });
        req.once('error', reject).end();
      });
    const all = async (): Promise<number[]> => [
      ...(await Promise.all(agents.map(overOne))),
      ...(await Promise.all(sessions.map(async (session) => (await get(session, s.root)).status))),
    ];
    const expected = Array(100).fill(200);
    expect(await all()).to.deep.equal(expected);
    const next = makePair();
    writePair(files, next);
    const during = all();
    s.server.reload();
    expect(await during).to.deep.equal(expected);
    expect(await all()).to.deep.equal(expected);
    expect(ports.size).to.equal(50);
    expect(sessions.some((session) => session.closed)).to.equal(false);
    expect((await presentedCertificate(s.root)).trim()).to.equal(next.certificate.trim());
    for (const each of [...agents, ...sessions]) each.destroy();
  });

  it('keeps the previous certificate if a new one is not valid, and logs it', async () => {
    const good = makePair();
    writePair(files, good);
    s.server.reload();
    for (const bad of [
      { ...makePair(), key: good.key },
      { certificate: 'nothing', key: good.key },
      { ...good, key: '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n' },
      makePair(-1),
    ]) {
      writePair(files, bad);
      const lines = s.log.length;
      s.server.reload();
      expect(s.log.slice(lines)[0]).to.include({
        level: 50,
        msg: 'the TLS certificate is not valid; the previous one stays in use',
      });
      expect((await presentedCertificate(s.root)).trim()).to.equal(good.certificate.trim());
    }
    expect(JSON.stringify(s.log)).not.to.contain('PRIVATE KEY');
  });

  it('loads a changed certificate without a signal', async () => {
    writePair(files, makePair());
    const log = { info() {}, warn() {}, error() {} } as never;
    const source = certificateFiles({
      certificate: files['tls.certificate'],
      key: files['tls.key'],
      host: 'localhost',
      log,
      watchMs: 10,
      settleMs: 10,
    });
    const next = makePair();
    const used = new Promise((resolve) => source.start(({ certificate }) => resolve(certificate)));
    writePair(files, next);
    // Files that change within one tick of the clock cannot be distinguished.
    expect(await used).to.equal(next.certificate);
    source.stop();
  });

  it('loads another certificate on SIGHUP, as service managers send it', async () => {
    writePair(files, makePair());
    const server = await startProcess({
      root: `https://localhost:${await freePort()}/`,
      environment: {
        LWS_TLS_CERTIFICATE: files['tls.certificate'],
        LWS_TLS_KEY: files['tls.key'],
        LWS_LOG_LEVEL: 'info',
      },
    });
    const next = makePair();
    writePair(files, next);
    process.kill(server.pid, 'SIGHUP');
    await until(
      async () => (await presentedCertificate(server.root)).trim() === next.certificate.trim(),
      'it is shown',
    );
    expect(await server.stop()).to.equal(0);
  });

  it('redirects plain HTTP to the base URI with any Host field, and responds to challenges', async () => {
    const plain = `http://localhost:${httpPort}`;
    const ask = (target: string, method = 'GET') =>
      exchange(plain, [head(plain, method, { Host: 'evil.example' }).replace(` / `, ` ${target} `)]);
    for (const [target, location] of [
      ['/a/b?c=d', 'a/b?c=d'],
      ['//evil.example/x', '/evil.example/x'],
      ['http://evil.example/x', 'x'],
      ['/.well-known/acme-challenge/', '.well-known/acme-challenge/'],
    ] as const) {
      const answer = await ask(target, 'PUT');
      expect([answer?.status, answer?.headers['location']], target).to.deep.equal([308, s.root + location]);
    }
    expect((await ask('*', 'OPTIONS'))?.status).to.equal(400);
    const place = join(folder, '.well-known/acme-challenge');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'token-1'), 'token-1.thumbprint');
    writeFileSync(join(place, 'long'), 'x'.repeat(2000));
    symlinkSync(files['tls.key'], join(place, 'link'));
    const session = await openSession(s.root);
    expect((await ask('/.well-known/acme-challenge/token-1'))?.text).to.equal('token-1.thumbprint');
    expect((await get(session, s.root, '/.well-known/acme-challenge/token-1')).bytes.toString()).to.equal(
      'token-1.thumbprint',
    );
    session.destroy();
    for (const token of ['token-2', 'link', 'long'])
      expect((await ask(`/.well-known/acme-challenge/${token}`))?.status, token).to.equal(404);
    for (const token of ['../../key.pem', '%2e%2e%2fkey.pem', 'a/b'])
      expect((await ask(`/.well-known/acme-challenge/${token}`))?.status, token).to.equal(308);
  });

  it('counts connections per address, and ends sessions when it is closed', async () => {
    const settings = { ...open, 'max-connections-per-address': '2' };
    const server = await startSpecServer({ isSecure: true, settings });
    const [first, second] = [await openSession(server.root), await openSession(server.root)];
    expect(await openSession(server.root).catch(({ code }) => code)).to.be.oneOf(['ECONNRESET', 'EPIPE']);
    second.destroy();
    await closed(second);
    const slow = first.request({ ':method': 'PUT', ':path': '/slow', 'content-type': 'text/plain' });
    slow.write('begun');
    await get(first, server.root);
    const ended = closed(first);
    const stopped = server.stop();
    const status = new Promise((resolve) => slow.once('response', (answer) => resolve(answer[':status'])));
    slow.end(' and ended');
    slow.resume();
    expect(await status).to.equal(201);
    await Promise.all([ended, stopped]);
  });

  it('requires HTTPS if configured, and serves HTTPS itself', async () => {
    const server = await startSpecServer({ isSecure: true, settings: { 'require-https': 'true' } });
    const headers = { Authorization: `Bearer ${server.ownerToken}` };
    expect((await request(server.root, { headers })).status).to.equal(200);
    const status = await new Promise((resolve, reject) => {
      startRequest(server.root, { headers }, (res) => resolve(res.resume().statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).to.equal(200);
    await server.stop();
  });

  it('has logged no internal error in its tests', () => {
    expect(messages()).not.to.include('a request was not answered');
  });
});
