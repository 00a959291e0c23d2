/** Requests to the proxy of `quadpod connect` that web pages and other users of the machine can send. */

import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type LocalProxy, openProxy } from '../../components/connect/proxy.js';
import { readIdentity } from '../../lib/server/storage/owner-credential.js';
import { exchange, head, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';

describe('The proxy of connect, for requests without its secret', function () {
  this.timeout(30_000);
  let server: SpecServer;
  let proxy: LocalProxy;
  let origin: string;
  let path: string;
  before(async () => {
    server = await startSpecServer({ path: '/inner', isSecure: false });
    const identity = readIdentity(join(server.dataDir, 'owner.key'));
    proxy = await openProxy({ url: server.root, identity, port: 0, isReadOnly: false });
    ({ origin, pathname: path } = new URL(proxy.url));
  });
  after(async () => {
    await proxy.close();
    await server.stop();
  });

  /** Number of requests that the server received. */
  const received = (): number => server.log.length;

  it('returns the same response for each of them and asks the storage nothing', async () => {
    const before = received();
    const seen = new Set<string>();
    const send = async (steps: string): Promise<void> => {
      const answer = await exchange(proxy.url, [steps]);
      const { date: _date, connection: _connection, ...headers } = answer!.headers;
      seen.add(JSON.stringify([answer!.status, headers, answer!.text]));
    };
    const host = new URL(origin).host;
    const page = { Origin: 'https://page.example', 'Sec-Fetch-Site': 'cross-site' };
    await send(head(`${origin}/`, 'GET'));
    await send(head(`${origin}${path.slice(0, -1)}`, 'GET'));
    await send(head(`${origin}${path.slice(0, -2)}x/`, 'GET'));
    await send(head(`${origin}${path.toUpperCase()}`, 'GET'));
    await send(head(`${origin}/.lws/sparql?query=ASK{}`, 'GET', page));
    await send(head(`${origin}/a`, 'POST', { ...page, 'Content-Length': '0' }));
    await send(head(`${origin}/a`, 'OPTIONS', { ...page, 'Access-Control-Request-Method': 'PUT' }));
    // DNS rebinding: the name of the page resolves to 127.0.0.1.
    await send(head(proxy.url, 'GET', { Host: 'page.example' }));
    await send(head(proxy.url, 'GET', { Host: `page.example:${new URL(origin).port}` }));
    await send(head(proxy.url, 'GET', { Host: `127.0.0.1.page.example:${new URL(origin).port}` }));
    await send(head(proxy.url, 'GET', { Host: '127.0.0.1' }));
    // Absolute form, as sent to a proxy for any server.
    for (const target of [proxy.url, server.root, 'http://other.example/'])
      await send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await send(`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect([...seen]).to.have.length(1);
    expect([...seen][0]).to.match(/^\[404,.*Not found\./);
    expect([...seen][0]).not.to.match(/access-control/);
    expect(received()).to.equal(before);
  });

  it('reads an upload to its end if the storage rejects it early', async () => {
    const { hostname, port, host } = new URL(origin);
    const size = 20 << 20;
    const socket = connect({ host: hostname, port: Number(port) });
    const sent = head(`${proxy.url}absent/a`, 'PUT', {
      Host: host,
      'Content-Type': 'text/plain',
      'Content-Length': `${size}`,
    });
    // The program sends everything before it reads.
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).write(sent);
      socket.write(Buffer.alloc(size), () => resolve());
    });
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).to.match(/^HTTP\/1\.1 404 [\s\S]*parent-not-found/);
    socket.destroy();
  });

  it('closes the connection of a CONNECT request', async () => {
    const steps = [`CONNECT ${new URL(server.root).host} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`];
    expect(await exchange(proxy.url, steps)).to.equal(undefined);
  });

  it('rejects paths that could leave the storage, with the secret too', async () => {
    const before = received();
    for (const tail of [
      '../',
      'a/../../b',
      '.',
      '%2e%2e/x',
      'a/%2E./b',
      '..\\x',
      './x',
      'a%2f..%2f..%2fb',
      '..%5cx',
      'a%5c..%5cb',
      'a\\b',
    ])
      expect((await request(proxy.url + tail)).status, tail).to.equal(400);
    expect(received()).to.equal(before);
    expect((await request(`${proxy.url}a/...`)).status).to.equal(404);
  });

  it('gives web pages no access to responses, with the secret too', async () => {
    const page = { Origin: 'https://page.example', 'Access-Control-Request-Method': 'PUT' };
    const preflight = await request(`${proxy.url}a`, { method: 'OPTIONS', headers: page });
    const names = Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'));
    expect(names).to.deep.equal([]);
    expect(preflight.headers['cross-origin-resource-policy']).to.equal('same-origin');
  });

  it('is not reachable at other addresses of the machine', async () => {
    const others = [
      '127.0.0.2',
      '::1',
      ...Object.values(networkInterfaces()).flatMap((all) => all!.map(({ address }) => address)),
    ];
    for (const address of others.filter((each) => each !== '127.0.0.1')) {
      const socket = connect(Number(new URL(origin).port), address);
      const code = await new Promise((resolve) => {
        socket.once('connect', () => resolve('connected'));
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      });
      socket.destroy();
      expect(code, address).not.to.equal('connected');
    }
  });
});
