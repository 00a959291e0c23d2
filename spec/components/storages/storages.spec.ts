/** The operator's endpoint `{prefix}/storages`, and its effect on storages of a running server (rules 21.1, 21.3, 12.6). */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { readIdentity, signCredential } from '../../../lib/server/storage/owner-credential.js';
import { type Pod, type SpecDeployment, startDeployment } from '../../support/deployments.js';
import { type Answer, exchange, head } from '../../support/http.js';
import { ed25519Identity } from '../../support/identity.js';
import { activityOf, startInboxHost, told } from '../../support/inbox.js';
import { until } from '../../support/until.js';

const json = { 'Content-Type': 'application/json' };

describe('Storages of a deployment', function () {
  this.timeout(60_000);
  let deployment: SpecDeployment;
  let home: Pod;
  before(async () => {
    deployment = await startDeployment('host', { 'storages.kept-days': '1' });
    ({ home } = deployment);
  });
  after(() => deployment.stop());

  const post = (body: unknown, token?: string | null): Promise<Answer> =>
    home.ask('POST', '.lws/storages', json, JSON.stringify(body), token);
  const patch = (name: string, body: unknown, fields = {}): Promise<Answer> =>
    home.ask('PATCH', `.lws/storages/${name}`, { ...json, ...fields }, JSON.stringify(body));

  it('an operator creates a storage, which responds immediately', async () => {
    const answer = await post({ name: 'alice' });
    expect(answer.status, answer.text).to.equal(201);
    expect(answer.headers['location']).to.equal(`${home.root}.lws/storages/alice`);
    const record = JSON.parse(answer.text) as Record<string, unknown>;
    expect(record).to.deep.include({ name: 'alice', state: 'ready', owners: [home.owner.did], isOpen: false });
    expect(record).not.to.have.any.keys('id', 'revision');
    const again = await home.ask('GET', '.lws/storages/alice');
    expect(again.headers['etag']).to.equal(answer.headers['etag']);
    const { pathname, host } = new URL(String(record['address']));
    expect([pathname, host]).to.deep.equal(['/', `alice.localhost:${deployment.port}`]);
  });

  it('callers other than operators see the storages that they own, and create none (rule 12.6)', async () => {
    const bob = await deployment.add('bob');
    const token = home.token(bob.owner);
    const list = await home.ask('GET', '.lws/storages', {}, undefined, token);
    const { totalItems, storages } = JSON.parse(list.text) as { totalItems: number; storages: { name: string }[] };
    expect([totalItems, storages.map(({ name }) => name)]).to.deep.equal([1, ['bob']]);
    expect((await home.ask('GET', '.lws/storages/bob', {}, undefined, token)).status).to.equal(200);
    expect((await home.ask('GET', '.lws/storages/alice', {}, undefined, token)).status).to.equal(404);
    expect((await home.ask('GET', '.lws/storages/nobody', {}, undefined, token)).status).to.equal(404);
    expect((await home.ask('GET', '.lws/storages', {}, undefined, null)).status).to.equal(401);
    expect((await post({ name: 'carol' }, token)).status).to.be.oneOf([403, 404]);
    const removal = await home.ask('DELETE', '.lws/storages/bob', { 'If-Match': '*' }, undefined, token);
    expect(removal.status).to.be.oneOf([403, 404]);
    expect((await bob.ask('GET', '')).status).to.equal(200);
  });

  it('selects names that contain a text, and lists the used bytes (rule 21.3)', async () => {
    const list = async (query: string) =>
      JSON.parse((await home.ask('GET', `.lws/storages${query}`)).text) as {
        totalItems: number;
        defaults: object;
        storages: { name: string; usedBytes?: number }[];
      };
    const { totalItems, storages, defaults } = await list('?q=BO');
    expect([totalItems, storages.map(({ name }) => name)]).to.deep.equal([1, ['bob']]);
    expect(storages[0]!.usedBytes, 'an empty storage').to.equal(0);
    expect(defaults).to.deep.equal({ 'lws.quota.max-bytes': 0 });
    expect(await list('?q=o%26b')).to.deep.include({ totalItems: 0, storages: [] });
    const { headers } = await home.ask('GET', '.lws/storages?q=b%26');
    expect(headers['link']).to.include('?q=b%26&page=1');
  });

  for (const [what, body, status] of [
    ['a taken name', { name: 'alice' }, 409],
    ['an invalid name', { name: 'A b' }, 409],
    ['no name', {}, 400],
    ['an unknown member', { name: 'x1', quota: 5 }, 400],
    ['invalid owners', { name: 'x1', owners: 'me' }, 400],
    ['an invalid owner', { name: 'x1', owners: ['me'] }, 400],
    ['invalid settings', { name: 'x1', settings: [] }, 400],
    ['a setting of the operator', { name: 'x1', settings: { 'lws.data-dir': '/' } }, 400],
    ['an invalid state', { name: 'x1', state: 'deleted' }, 400],
  ] as const)
    it(`POST of ${what} returns ${status}, and creates nothing`, async () => {
      const answer = await post(body);
      expect(answer.status, answer.text).to.equal(status);
      expect((await home.ask('GET', '.lws/storages/x1')).status).to.equal(404);
    });

  it('returns 415 or 400 for another body', async () => {
    expect((await home.ask('POST', '.lws/storages', { 'Content-Type': 'text/plain' }, '{}')).status).to.equal(415);
    expect((await home.ask('POST', '.lws/storages', json, '[]')).status).to.equal(400);
    expect((await home.ask('POST', '.lws/storages', json, '{')).status).to.equal(400);
  });

  it('a change requires the current state (rule 6.9)', async () => {
    expect((await patch('alice', { state: 'suspended' })).status).to.equal(428);
    expect((await patch('alice', { state: 'suspended' }, { 'If-Match': '"x"' })).status).to.equal(412);
    const { headers } = await home.ask('GET', '.lws/storages/alice');
    const changed = await patch('alice', { settings: { 'lws.public-read': true } }, { 'If-Match': headers['etag']! });
    expect(changed.status, changed.text).to.equal(200);
    expect(changed.headers['etag']).not.to.equal(headers['etag']);
    expect((await patch('alice', { state: 'suspended' }, { 'If-Match': headers['etag']! })).status).to.equal(412);
  });

  it('a setting applies from the next request on', async () => {
    const pod = await deployment.add('carol');
    await pod.put('x', '<a:b> <a:c> <a:d> .');
    expect((await pod.ask('GET', 'x', {}, undefined, null)).status).to.equal(401);
    expect((await patch('carol', { settings: { 'lws.public-read': true } }, { 'If-Match': '*' })).status).to.equal(200);
    expect((await pod.ask('GET', 'x', {}, undefined, null)).status).to.equal(200);
    await deployment.change('carol', { settings: { 'lws.public-read': null } });
    await until(async () => (await pod.ask('GET', 'x', {}, undefined, null)).status === 401);
  });

  it('a suspended storage returns 503 to all callers, and resumes unchanged', async () => {
    const pod = await deployment.add('dora');
    await pod.put('x', '<a:b> <a:c> <a:d> .');
    await patch('dora', { state: 'suspended' }, { 'If-Match': '*' });
    const answer = await pod.ask('GET', 'x');
    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('3600');
    await patch('dora', { state: 'ready' }, { 'If-Match': '*' });
    expect((await pod.ask('GET', 'x')).status).to.equal(200);
  });

  it('a removed storage returns 404, keeps its name, and can be restored', async () => {
    const pod = await deployment.add('emil');
    await pod.put('x', '<a:b> <a:c> <a:d> .');
    expect((await home.ask('DELETE', '.lws/storages/emil')).status).to.equal(428);
    expect((await home.ask('DELETE', '.lws/storages/emil', { 'If-Match': '*' })).status).to.equal(204);
    expect((await pod.ask('GET', 'x')).status).to.equal(404);
    expect((await post({ name: 'emil' })).status).to.equal(409);
    await patch('emil', { state: 'ready' }, { 'If-Match': '*' });
    expect((await pod.ask('GET', 'x')).status).to.equal(200);
  });

  it('a permanently deleted storage leaves no directory, and the next of its name starts empty', async () => {
    const pod = await deployment.add('fritz');
    await pod.put('x', '<a:b> <a:c> <a:d> .');
    const folder = join(deployment.dataDir, 'storages/fritz');
    expect(existsSync(folder)).to.equal(true);
    await deployment.change('fritz', { state: 'deleted', isForGood: true });
    await until(async () => !existsSync(folder) && (await home.ask('GET', '.lws/storages/fritz')).status === 404);
    const next = await deployment.add('fritz');
    expect((await next.ask('GET', 'x')).status).to.equal(404);
  });

  it('returns a credential for a storage to operators with a key of this server only (rule 21.9)', async () => {
    const ask = async (from: SpecDeployment, name: string, token?: string | null): Promise<Answer> =>
      from.home.ask('POST', `.lws/storages/${name}/sign-in`, {}, undefined, token);
    await deployment.add('olga');
    // This server does not have the key of this operator.
    expect(JSON.parse((await ask(deployment, 'olga')).text)).to.deep.equal({});
    expect((await ask(deployment, 'olga', null)).status).to.equal(401);
    expect((await ask(deployment, 'olga', home.token(ed25519Identity()))).status).to.be.oneOf([403, 404]);
    const own = await startDeployment('host', { owners: '' });
    try {
      const identity = readIdentity(join(own.dataDir, 'owner.key'));
      const token = await signCredential(identity, own.home.base, 600);
      const body = JSON.stringify({ name: 'olga' });
      const made = await own.home.ask('POST', '.lws/storages', json, body, token);
      expect(made.status, made.text).to.equal(201);
      const { credential } = JSON.parse((await ask(own, 'olga', token)).text) as { credential: string };
      expect(decodeProtectedHeader(credential).typ).to.equal('sign-in+jwt');
      expect(decodeJwt(credential)).to.include({ sub: identity.did, aud: `http://olga.localhost:${own.port}` });
      expect((await ask(own, 'nobody', token)).status).to.equal(404);
    } finally {
      await own.stop();
    }
  });

  it('a client that disconnects while its storage is opened is no longer counted', async () => {
    const small = await startDeployment('path', { 'storages.max-open': '1' });
    try {
      const [one, other] = [await small.add('one'), await small.add('other')];
      const folder = join(small.dataDir, 'storages/one');
      const socket = connect(small.port, '127.0.0.1');
      socket.write(`GET /one/ HTTP/1.1\r\nHost: localhost:${small.port}\r\n\r\n`);
      while (!existsSync(folder)) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
      await until(async () => (await other.ask('GET', '')).status === 200);
      expect((await one.ask('GET', '')).status).to.equal(200);
    } finally {
      await small.stop();
    }
  });

  it('queued responses on a connection hold no slot of a storage and do not keep it open', async () => {
    const small = await startDeployment('path', { 'storages.max-open': '1' });
    try {
      const [one, other] = [await small.add('one'), await small.add('other')];
      expect((await one.ask('GET', '')).status).to.equal(200);
      const socket = connect(small.port, '127.0.0.1');
      const host = `Host: localhost:${small.port}\r\n`;
      const first = `GET /home/.lws/events HTTP/1.1\r\n${host}Authorization: Bearer ${small.home.token()}\r\n\r\n`;
      const before = small.log.length;
      socket.write(first);
      socket.write(`GET /one/pipelined HTTP/1.1\r\n${host}\r\n`.repeat(300));
      await until(async () => small.log.slice(before).filter(({ path }) => path === '/one/pipelined').length > 256);
      expect((await one.ask('GET', '')).status).to.equal(200);
      socket.destroy();
      await until(async () => (await other.ask('GET', '')).status === 200);
    } finally {
      await small.stop();
    }
  });

  it('pending notifications are delivered after a change of the record and after a restart, without a request (rule 21.4)', async () => {
    const host = await startInboxHost();
    const owing = await startDeployment('path', {
      'webhook.allowed-hosts': host.authority,
      'webhook.retry-backoff-ms': '600000',
    });
    try {
      const pod = await owing.add('ida');
      let isUp = false;
      const inbox = host.inbox((res) => void res.writeHead(isUp ? 202 : 503).end());
      const lws = { 'Content-Type': 'application/lws+json' };
      const subscription = { type: 'WebhookSubscription', topic: [pod.root], inbox };
      const made = await pod.ask('POST', '.lws/subscriptions', lws, JSON.stringify(subscription));
      expect(made.status, made.text).to.equal(201);
      expect((await pod.put('x', '<a:b> <a:c> <a:d> .')).status).to.equal(201);
      await until(async () => host.deliveries.length === 1);
      await owing.change('ida', { settings: { 'lws.container.page-size': 7 } });
      await until(async () => host.deliveries.length === 2);
      await owing.change('ida', { state: 'suspended' });
      await until(async () => (await pod.ask('GET', 'x')).status === 503);
      await owing.change('ida', { state: 'ready' });
      await until(async () => host.deliveries.length === 3);
      isUp = true;
      await owing.restart();
      await until(async () => host.deliveries.length === 4);
      expect(told(activityOf(host.deliveries[3]!))).to.equal(`Create ${pod.root}x`);
    } finally {
      await owing.stop();
      host.close();
    }
  });

  it('a damaged record does not stop or prevent a server', async () => {
    const pod = await deployment.add('hanna');
    const file = join(deployment.dataDir, 'storages/hanna.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.slice(0, 20));
    await until(async () => deployment.log.some(({ level, msg }) => level === 50 && /record/.test(String(msg))));
    expect((await pod.ask('GET', '')).status).to.equal(200);
    await deployment.restart();
    expect((await pod.ask('GET', '')).status).to.equal(404);
    expect((await home.ask('GET', '')).status).to.equal(200);
    expect((await post({ name: 'hanna' })).status).to.equal(409);
    writeFileSync(file, text);
    await until(async () => (await pod.ask('GET', '')).status === 200);
  });

  it('a target in absolute form selects the storage (RFC 9112 3.2.2), and WebSockets are refused like requests', async () => {
    const iri = `http://carol.localhost:${deployment.port}/`;
    const host = `localhost:${deployment.port}`;
    const asked = await exchange(home.root, [`GET ${iri} HTTP/1.1\r\nHost: ${host}\r\n\r\n`]);
    expect(asked?.text).to.include(iri);
    const elsewhere = await exchange(home.root, [
      `GET http://carol.evil.example/ HTTP/1.1\r\nHost: carol.${host}\r\n\r\n`,
    ]);
    expect(elsewhere?.status).to.equal(421);
    const misnamed = await exchange(home.root, [
      `GET http://carol.${host}@evil.example/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ]);
    expect(misnamed?.status).to.equal(421);
    await patch('dora', { state: 'suspended' }, { 'If-Match': '*' });
    const upgrade = head(`http://dora.${host}/`, 'GET', { Connection: 'Upgrade', Upgrade: 'websocket' });
    expect((await exchange(home.root, [upgrade]))?.status).to.equal(503);
  });

  it('lists them in pages', async () => {
    for (let each = 0; each < 101; each++)
      await deployment.change(`page${each}`, { revision: null, owners: [home.owner.did] });
    await until(async () => JSON.parse((await home.ask('GET', '.lws/storages')).text).totalItems > 100);
    const second = await home.ask('GET', '.lws/storages?page=2');
    expect(second.status, second.text).to.equal(200);
    expect(second.headers['link']).to.include('rel="prev"');
    expect((await home.ask('GET', '.lws/storages?page=9')).status).to.equal(404);
    expect((await home.ask('GET', '.lws/storages?page=0')).status).to.equal(400);
  });

  it('stored content is available after a restart', async () => {
    const pod = await deployment.add('greta');
    await pod.put('x', '<a:b> <a:c> <a:d> .');
    await deployment.restart();
    expect((await pod.ask('GET', 'x')).status).to.equal(200);
  });

  it('anonymous callers open at most thirty storages a minute', async () => {
    const statuses: Record<number, number> = {};
    for (let each = 0; each < 60; each++) {
      const { status } = await home.ask('GET', `http://page${each}.localhost:${deployment.port}/`, {}, undefined, null);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    expect(statuses[200]).to.be.at.most(30);
    expect(statuses[429]).to.be.at.least(30);
    // Open storages of owners do not count.
    expect((await home.ask('GET', '')).status).to.equal(200);
  });

  it('the log names the storage of each line', () => {
    expect(deployment.log.some(({ storage, path }) => storage === 'greta' && path === '/x')).to.equal(true);
  });
});
