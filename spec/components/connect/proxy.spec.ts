/** The proxy of `quadpod connect`, in front of the server. */

import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, request as sent } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type LocalProxy, openProxy } from '../../../components/connect/proxy.js';
import { makeIdentity, readIdentity } from '../../../lib/server/storage/owner-credential.js';
import { request } from '../../support/http.js';
import { patience } from '../../support/patience.js';
import { type SpecServer, startSpecServer } from '../../support/server.js';
import { until } from '../../support/until.js';

const text = { 'Content-Type': 'text/plain' };
const sparqlJson = { Accept: 'application/sparql-results+json' };

const tokenRequests = ({ log }: SpecServer): number =>
  log.filter(({ method, path }) => method === 'POST' && String(path).endsWith('/.lws/token')).length;

describe('connect', function () {
  this.timeout(60_000);
  let server: SpecServer;
  let proxy: LocalProxy;
  const begin = async (settings: Record<string, string> = {}, path = ''): Promise<void> => {
    server = await startSpecServer({ settings, path, isSecure: false });
    proxy = await open();
  };
  const open = (isReadOnly = false): Promise<LocalProxy> =>
    openProxy({ url: server.root, identity: readIdentity(join(server.dataDir, 'owner.key')), port: 0, isReadOnly });
  afterEach(async () => {
    await proxy.close();
    await server.stop();
  });

  for (const path of ['', '/some/path'])
    it(`sends requests of a program without a credential as the identity${path && ', to a storage below a path'}`, async () => {
      await begin({}, path);
      const turtle = { 'Content-Type': 'text/turtle' };
      const made = await request(`${proxy.url}data/`, { method: 'PUT' });
      expect([made.status, made.headers['location']]).to.deep.equal([201, `${proxy.url}data/`]);
      expect(
        (await request(`${proxy.url}data/a`, { method: 'PUT', headers: turtle, body: '<> <#p> 1 .' })).status,
      ).to.equal(201);
      const read = await request(`${proxy.url}data/a`);
      expect(read.text).to.equal(
        (await request(`${server.root}data/a`, { headers: { Authorization: `Bearer ${server.ownerToken}` } })).text,
      );
      expect(read.headers['link']).to.contain(`<${proxy.url}data/>; rel="up"`);
      const ask = `${proxy.sparql}?query=${encodeURIComponent(`ASK { GRAPH <${server.root}data/a> { ?s ?p 1 } }`)}`;
      expect(JSON.parse((await request(ask, { headers: sparqlJson })).text)).to.include({ boolean: true });
      const head = await request(`${proxy.url}data/a`, { method: 'HEAD' });
      expect([head.status, head.headers['content-length'], head.text]).to.deep.equal([
        200,
        String(read.bytes.length),
        '',
      ]);
      const etag = { 'If-None-Match': read.headers['etag']! };
      expect((await request(`${proxy.url}data/a`, { headers: etag })).status).to.equal(304);
      expect((await request(`${proxy.url}data/a`, { method: 'DELETE' })).status).to.equal(204);
    });

  it('renews a token before it expires, not more often than necessary', async () => {
    // On a busy machine, requests wait for a part of a short lifetime.
    const lifetime = 3 * Math.ceil(patience);
    await begin({ 'oauth.access-token-lifetime-seconds': String(lifetime) });
    await request(`${proxy.url}a`, { method: 'PUT', headers: text, body: 'a' });
    const [began, before] = [Date.now(), tokenRequests(server)];
    do {
      const next = Date.now() + 100 * lifetime;
      const answers = await Promise.all(Array.from({ length: 100 }, () => request(`${proxy.url}a`)));
      expect(new Set(answers.map(({ status, text: body }) => `${status} ${body}`))).to.deep.equal(new Set(['200 a']));
      await until(() => Date.now() >= next, 'the next requests are due');
    } while (Date.now() < began + (7000 * lifetime) / 3);
    expect(tokenRequests(server) - before).to.be.within(2, 1 + (Date.now() - began) / (700 * lifetime));
  });

  it('renews a rejected token once for hundreds of concurrent requests, and sends them again with their bodies', async () => {
    await begin();
    const again = await startAgain();
    expect(tokenRequests(again)).to.equal(0);
    const made = await Promise.all(
      Array.from({ length: 300 }, (_, at) =>
        request(`${proxy.url}${at}`, { method: 'PUT', headers: text, body: `body ${at}` }),
      ),
    );
    expect(new Set(made.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(tokenRequests(again)).to.equal(1);
    expect((await request(`${proxy.url}299`)).text).to.equal('body 299');
  });

  it('does not buffer a stream to repeat it, and sends the next request with a new token', async () => {
    await begin();
    await startAgain();
    const stream = { method: 'PUT', headers: text, body: ['one ', 'two'] };
    const rejected = await request(`${proxy.url}a`, stream);
    expect([rejected.status, rejected.text]).to.deep.equal([
      502,
      '{"type":"about:blank","title":"Bad Gateway","status":502,"detail":"The storage rejected the access token, which is now renewed. Send the request again."}',
    ]);
    expect((await request(`${proxy.url}a`, stream)).status).to.equal(201);
  });

  /** The same storage with another key for access tokens: it rejects earlier tokens. */
  async function startAgain(): Promise<SpecServer> {
    await server.stop(true);
    rmSync(join(server.dataDir, 'oauth-keys.json'));
    server = await startSpecServer({ again: server, isSecure: false });
    return server;
  }

  it('sends the nonces that a storage requires', async () => {
    await begin({ 'dpop.require': 'true', 'dpop.require-nonce': 'true' });
    expect((await request(`${proxy.url}a`, { method: 'PUT', headers: text, body: 'a' })).status).to.equal(201);
    expect((await request(`${proxy.url}a`)).text).to.equal('a');
  });

  it('streams bodies in both directions', async () => {
    await begin();
    const chunk = Buffer.alloc(1 << 20, 'x');
    const body = Array.from({ length: 20 }, () => chunk);
    expect((await request(`${proxy.url}big`, { method: 'PUT', headers: text, body })).status).to.equal(201);
    const whole = Buffer.concat(body);
    const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
    expect(digest((await request(`${proxy.url}big`)).bytes)).to.equal(digest(whole));
    const part = await request(`${proxy.url}big`, { headers: { Range: 'bytes=5-9' } });
    expect([part.status, part.text]).to.deep.equal([206, 'xxxxx']);
  });

  it('returns the rejection of an upload that the storage does not read', async () => {
    await begin();
    const body = Array.from({ length: 40 }, () => Buffer.alloc(1 << 20));
    const { status, text: detail } = await request(`${proxy.url}missing/a`, { method: 'PUT', headers: text, body });
    expect(status, detail).to.equal(404);
  });

  it('accepts reads and queries only with --read-only', async () => {
    await begin();
    await request(`${proxy.url}a`, { method: 'PUT', headers: text, body: 'a' });
    await proxy.close();
    proxy = await open(true);
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect((await request(`${proxy.url}a`, { method })).status, method).to.be.oneOf([200, 204]);
    const form = 'application/x-www-form-urlencoded';
    const post = async (type: string, body: string, url = proxy.sparql!): Promise<number> =>
      (await request(url, { method: 'POST', headers: { 'Content-Type': type }, body })).status;
    expect(await post('application/sparql-query', 'ASK {}')).to.equal(200);
    expect(await post(`${form}; charset=utf-8`, 'query=ASK+{}')).to.equal(200);
    expect(await post(form, 'query=ASK+{}&update=CLEAR+ALL')).to.equal(403);
    expect(await post(form, 'update=CLEAR+ALL')).to.equal(403);
    expect(await post(form, 'query=ASK+{}', `${proxy.sparql}?update=CLEAR+ALL`)).to.equal(403);
    expect(await post('application/sparql-update', 'CLEAR ALL')).to.equal(403);
    expect(await post('application/sparql-query', 'ASK {}', proxy.url)).to.equal(403);
    const hidden = Buffer.concat([
      ...[Buffer.from([0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 3]), Buffer.from('&query=ASK+{}&\0')],
      gzipSync('update=CLEAR+ALL').subarray(10),
    ]);
    expect(gunzipSync(hidden).toString()).to.equal('update=CLEAR+ALL');
    const coded = { 'Content-Type': form, 'Content-Encoding': 'gzip' };
    expect((await request(proxy.sparql!, { method: 'POST', headers: coded, body: hidden })).status).to.equal(403);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST'])
      expect((await request(`${proxy.url}a`, { method, headers: text, body: '' })).status, method).to.equal(403);
    expect((await request(`${proxy.url}a`)).text).to.equal('a');
  });

  it('answers 502 while the server is stopped, and works when it is back', async () => {
    await begin();
    await server.stop(true);
    const { status, headers, text: body } = await request(`${proxy.url}a`);
    expect([status, headers['content-type']]).to.deep.equal([502, 'application/problem+json']);
    expect(JSON.parse(body).detail).to.match(/^Cannot connect to http:\/\/localhost:\d+/);
    server = await startSpecServer({ again: server, isSecure: false });
    expect((await request(`${proxy.url}a`)).status).to.equal(404);
  });

  it('gives another identity its own access', async () => {
    await begin();
    await request(`${proxy.url}a`, { method: 'PUT', headers: text, body: 'a' });
    await proxy.close();
    proxy = await openProxy({ url: server.root, identity: makeIdentity(), port: 0, isReadOnly: false });
    expect((await request(`${proxy.url}a`)).status).to.equal(404);
  });
});

describe('connect, at other servers', function () {
  this.timeout(20_000);
  let upstream: Server;
  let origin: string;
  let listener: RequestListener = () => {};
  const proxies: LocalProxy[] = [];
  const open = async (): Promise<LocalProxy> => {
    const proxy = await openProxy({ url: origin, identity: makeIdentity(), port: 0, isReadOnly: false });
    proxies.push(proxy);
    return proxy;
  };
  beforeEach(async () => {
    upstream = createServer((req, res) => listener(req, res)).listen(0, '127.0.0.1');
    await new Promise((resolve) => upstream.once('listening', resolve));
    origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
    upstream.close();
    upstream.closeAllConnections();
  });

  /** A storage whose resources are served by `resource`. */
  const storage =
    (resource: RequestListener, token: RequestListener = issued, metadata: object = {}): RequestListener =>
    (req, res) => {
      res.setHeader('Link', `<${origin}/>; rel="https://www.w3.org/ns/lws#storage"`);
      if (req.url === '/.well-known/lws-configuration')
        res.end(JSON.stringify({ issuer: origin, token_endpoint: `${origin}/token`, ...metadata }));
      else if (req.url === '/token') token(req, res);
      else if (req.url === '/' && req.method !== 'POST') res.end('{}');
      else resource(req, res);
    };
  const issued: RequestListener = (_req, res) => res.end('{"access_token":"T","expires_in":300}');
  const failure = async (): Promise<string> => {
    const error: unknown = await open().catch((cause: unknown) => cause);
    return (error as Error).message;
  };

  it('states the difference of the clocks if the credential is rejected', async () => {
    listener = storage(
      () => {},
      (_req, res) => {
        res.writeHead(400, { Date: new Date(Date.now() - 600_000).toUTCString() });
        res.end('{"error":"invalid_request","error_description":"The credential is from the future."}');
      },
    );
    expect(await failure()).to.match(
      /issues no token: The credential is from the future\. The clock of this computer is (?:599|600|601) s ahead of that of the server\.$/,
    );
  });

  it('sends no credential to an authorization server elsewhere', async () => {
    const asked: string[] = [];
    const other = createServer((req, res) => {
      asked.push(String(req.url));
      res.end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    for (const metadata of [
      { token_endpoint: `${elsewhere}/token` },
      { issuer: elsewhere, token_endpoint: `${elsewhere}/token` },
    ]) {
      listener = storage(() => {}, issued, metadata);
      expect(await failure()).to.match(/has no authorization server of its own\.$/);
    }
    listener = (_req, res) =>
      void res.setHeader('Link', `<${elsewhere}/>; rel="https://www.w3.org/ns/lws#storage"`).end();
    expect(await failure()).to.match(/belongs to the storage http:\/\/127\.0\.0\.1:\d+\/\. Use that URL\.$/);
    listener = (_req, res) => void res.writeHead(307, { Location: `${elsewhere}/` }).end();
    expect(await failure()).to.match(/is not in a Linked Web Storage \(status 307\)\.$/);
    expect(asked).to.deep.equal([]);
    other.close();
  });

  it('sends no token over unencrypted http to another machine', async () => {
    origin = 'http://storage.example/';
    expect(await failure()).to.equal(
      'http://storage.example/ is not an https URL. Tokens are sent over http on this machine only.',
    );
  });

  it('does not follow redirects', async () => {
    listener = storage((_req, res) => void res.writeHead(302, { Location: 'http://other.example/x' }).end());
    const { status, headers } = await request(`${(await open()).url}a`);
    expect([status, headers['location']]).to.deep.equal([302, 'http://other.example/x']);
  });

  it('drops fields of the connection, of web pages and of authentication', async () => {
    let got: Record<string, unknown> = {};
    listener = storage((req, res) => {
      got = req.headers;
      res.writeHead(200, {
        'Access-Control-Allow-Origin': '*',
        'Set-Cookie': 'a=b',
        'WWW-Authenticate': 'Bearer',
        Connection: 'close, X-Secret',
        'X-Secret': '1',
        Location: `${origin}/b`,
        'X-Other': '2',
      });
      res.end('<script>');
    });
    const { url } = await open();
    const { headers, text: body } = await request(`${url}a`, {
      headers: {
        ...{ Authorization: 'Basic abc', DPoP: 'x', Cookie: 'a=b', Origin: 'https://page.example', Referer: url },
        ...{ Connection: 'close, X-Own', 'X-Own': '1', 'Sec-Fetch-Site': 'cross-site', 'X-Kept': '1' },
      },
    });
    expect(got['authorization']).to.equal('DPoP T');
    expect(got['dpop']).to.match(/^eyJ/);
    expect(got['host']).to.equal(new URL(origin).host);
    expect(got).to.include({ 'x-kept': '1' });
    expect(got).not.to.have.any.keys('cookie', 'origin', 'referer', 'x-own', 'sec-fetch-site');
    expect(body).to.equal('<script>');
    expect(headers).not.to.have.any.keys('access-control-allow-origin', 'set-cookie', 'www-authenticate', 'x-secret');
    expect(headers).to.include({ location: `${url}b`, 'x-other': '2', 'referrer-policy': 'no-referrer' });
    expect(headers['content-security-policy']).to.match(/^sandbox/);
  });

  it('answers 502 if a renewed token is rejected as well, without the token', async () => {
    let count = 0;
    listener = storage((_req, res) => {
      count++;
      res.writeHead(401).end('{"detail":"Never."}');
    });
    const { status, text: body } = await request(`${(await open()).url}a`);
    expect([status, JSON.parse(body).detail]).to.deep.equal([502, 'The storage rejects the access token: Never.']);
    expect(count).to.equal(2);
  });

  it('does not collect a multistatus document without lines (rule 25.7)', async () => {
    let finish = (): void => {};
    const line = 'x'.repeat(100 << 10);
    listener = storage((_req, res) => {
      res.writeHead(207).write(line);
      finish = () => res.end('\n<D:href>/a</D:href>\n');
    });
    const { url } = await open();
    const { hostname, port, pathname } = new URL(url);
    const res = await new Promise<IncomingMessage>((resolve, reject) => {
      sent({ hostname, port, path: `${pathname}a`, method: 'PROPFIND' }, resolve)
        .on('error', reject)
        .end();
    });
    let text = '';
    for await (const chunk of res) {
      text += String(chunk);
      if (text.length > 64 << 10) finish();
    }
    expect(text).to.equal(`${line}\n<D:href>${pathname}a</D:href>\n`);
  });

  it('returns 404 for several Host fields (RFC 9112 3.2)', async () => {
    let count = 0;
    listener = storage((_req, res) => {
      count++;
      res.end();
    });
    const { url } = await open();
    const { host, pathname, port } = new URL(url);
    const statusWith = async (...hosts: readonly string[]): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      const fields = hosts.map((each) => `Host: ${each}\r\n`).join('');
      socket.write(`GET ${pathname}a HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`);
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text.split(' ', 2)[1]!;
    };
    expect(await statusWith(host)).to.equal('200');
    for (const hosts of [
      [host, 'evil.example'],
      ['evil.example', host],
      [host, host],
    ])
      expect(await statusWith(...hosts), hosts.join()).to.equal('404');
    expect(count).to.equal(1);
  });

  it('closes the connection of an incomplete response, and aborts the request of a program that leaves', async () => {
    listener = storage((_req, res) => {
      res.writeHead(200, { 'Content-Length': '10' }).write('12345');
      setTimeout(() => res.destroy(), 50);
    });
    const { url } = await open();
    const error = await request(`${url}a`).catch((cause: unknown) => cause);
    expect((error as Error).message).to.match(/aborted/);
    const left = new Promise<void>((resolve) => {
      listener = storage((req) => void req.socket.once('close', () => resolve()));
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET ${new URL(url).pathname}a HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
    setTimeout(() => socket.destroy(), 200);
    await left;
  });
});
