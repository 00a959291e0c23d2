/** Rule 2.10: a storage in open mode rejects pages of other sites. */
import { expect } from 'chai';
import { expectProblem } from '../support/expectations.js';
import { exchange, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';

const form = { 'Content-Type': 'text/plain' };
const listed = 'https://app.example';

describe('Open mode and other web sites', () => {
  let server: SpecServer;
  before(async () => {
    server = await startSpecServer({ settings: { 'dev.open': 'true', 'cors.allowed-origins': listed }, path: '/p' });
  });
  after(() => server.stop());
  const get = (headers: Record<string, string>) => request(server.root, { headers });
  const post = (headers: Record<string, string>) =>
    request(server.root, { method: 'POST', headers: { ...form, ...headers }, body: 'x' });

  it('RFC 9110 7.4: accepts its own host and all local host names', async () => {
    const { host, port } = new URL(server.root);
    for (const name of [
      host,
      host.toUpperCase(),
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      'localhost',
      `localhost:${port}`,
    ])
      expect((await get({ Host: name })).status).to.equal(200);
  });

  it('RFC 9110 15.5.20: is 421 for a foreign name that resolves to this host', async () => {
    const { port } = new URL(server.root);
    for (const name of [
      'evil.example',
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      '127.0.0.1.evil.example',
    ])
      for (const answer of [await get({ Host: name }), await post({ Host: name })]) expectProblem(answer, 421);
  });

  it('uses the host of an absolute-form target instead of the Host field (RFC 9112 3.2.2)', async () => {
    const { host, pathname } = new URL(server.root);
    const ask = async (target: string, field: string) =>
      exchange(server.root, [`GET ${target} HTTP/1.1\r\nHost: ${field}\r\nConnection: close\r\n\r\n`]);
    expect((await ask(`http://${host}${pathname}`, 'evil.example'))?.status).to.equal(200);
    expectProblem(await ask(`http://evil.example${pathname}`, host), 421);
    expectProblem(await ask(`http://evil.example?${pathname}`, host), 421);
    expectProblem(await ask(`http://${host}@evil.example${pathname}`, host), 400);
    expectProblem(await ask(`http://user@${host}${pathname}`, host), 400);
  });

  it('rejects writes from pages of other sites', async () => {
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
    ]) {
      const { status, text } = await post(headers as Record<string, string>);
      expect(status).to.equal(403);
      expect(text).to.contain('lws.cors.allowed-origins');
      for (const method of ['PUT', 'PATCH', 'DELETE'])
        expect((await request(`${server.root}x`, { method, headers: headers as never })).status).to.equal(403);
    }
  });

  it('accepts writes from programs, its own site, and listed origins', async () => {
    for (const headers of [
      {},
      { 'Sec-Fetch-Site': 'same-origin', Origin: new URL(server.root).origin },
      { 'Sec-Fetch-Site': 'same-site', Origin: 'http://localhost:5173' },
      { 'Sec-Fetch-Site': 'none' },
      { Origin: 'http://localhost:5173' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: listed },
    ])
      expect((await post(headers as Record<string, string>)).status).to.equal(201);
  });

  it('accepts requests from other sites if they cannot read the response', async () => {
    expect((await get({ Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' })).status).to.equal(200);
  });
});
