/**
 * A server of many storages is killed during writes to all of them, with more storages in use than may be open. Each storage has
 * every acknowledged write, and pending notifications are delivered without another request to it (rule 21.4). Commands are run
 * with a running and a stopped server (rule 21.3).
 */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { type InboxHost, startInboxHost, told } from '../support/inbox.js';
import { type Ended, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 2);
const names = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('Storages of a deployment and kill -9', function () {
  this.timeout(120_000);
  const owner = ed25519Identity();
  const acknowledged: string[] = [];
  let host: InboxHost;
  let server: ServerProcess;
  let origin: string;
  let environment: Record<string, string>;
  const tokens = new Map<string, string>();
  let count = 0;

  const send = (name: string, method: string, path: string, body?: string, type = 'text/turtle'): Promise<Response> => {
    const claims = { exp: Math.floor(Date.now() / 1000) + 3000 };
    const token = tokens.get(name) ?? credential(owner, { aud: `${origin}/${name}`, claims });
    tokens.set(name, token);
    const headers = { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': type }) };
    return fetch(`${origin}/${name}/${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  };
  const command = (...words: string[]): Promise<Ended> =>
    runProcess(words, { dataDir: server.dataDir, root: server.root, environment, seconds: 60 });
  const begin = async (): Promise<ServerProcess> =>
    startProcess({ root: server.root, dataDir: server.dataDir, environment });

  before(async () => {
    host = await startInboxHost();
    origin = `http://localhost:${await freePort()}`;
    environment = {
      LWS_OWNERS: owner.did,
      LWS_DEV_OPEN: 'false',
      LWS_STORAGES_ADDRESS: `${origin}/{name}/`,
      LWS_STORAGES_MAX_OPEN: '3',
      LWS_WEBHOOK_ALLOWED_HOSTS: host.authority,
      LWS_WEBHOOK_RETRY_BACKOFF_MS: '50',
    };
    server = await startProcess({ root: `${origin}/home/`, environment });
    for (const name of names) {
      const { code, stderr } = await command('storage', 'add', name, '--owner', owner.did);
      expect(code, stderr).to.equal(0);
      expect((await send(name, 'GET', '')).status).to.equal(200);
    }
    const inbox = host.inbox();
    const subscription = JSON.stringify({ type: 'WebhookSubscription', topic: [`${origin}/a/`], inbox });
    const answer = await send('a', 'POST', '.lws/subscriptions', subscription, 'application/lws+json');
    expect(answer.status, await answer.text()).to.equal(201);
  });
  after(async () => {
    await server.kill();
    host.close();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  async function write(name: string): Promise<void> {
    for (;;) {
      const path = `r${count++}`;
      const status = await send(name, 'PUT', path, '<#a> <#p> 1 .').then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 0) return;
      // With three slots and six writers, some are asked to retry.
      if (status === 201) acknowledged.push(`${origin}/${name}/${path}`);
      else expect(status).to.equal(503);
    }
  }

  for (let round = 1; round <= rounds; round++)
    it(`every acknowledged write is present and notified, round ${round}`, async () => {
      const before = acknowledged.length;
      const writing = names.map(write);
      await until(() => acknowledged.length !== before);
      await sleep(Math.random() * 700);
      await server.kill();
      await Promise.all(writing);
      expect(acknowledged.length).to.be.above(before);
      server = await begin();
      const owed = acknowledged.filter((iri) => iri.startsWith(`${origin}/a/`)).map((iri) => `Create ${iri}`);
      // No request is sent to it.
      const heard = (): string[] =>
        host.deliveries.map((delivery) => told(JSON.parse(delivery.bytes.toString()).activity));
      const isHeard = (): boolean => {
        const all = new Set(heard());
        return owed.every((event) => all.has(event));
      };
      await until(isHeard).catch(() => expect(heard()).to.include.members(owed));
      for (const iri of acknowledged) {
        const [, name, path] = iri.slice(origin.length).split('/');
        let status = 503;
        await until(async () => {
          ({ status } = await send(name!, 'GET', path!));
          return status !== 503;
        });
        expect(status, iri).to.equal(200);
      }
    });

  it('check finds each in order after a stop, and each can be served as a single storage', async () => {
    expect(await server.stop()).to.equal(0);
    for (const name of names) {
      const { code, stdout, stderr } = await command('check', '--storage', name);
      expect(code, stdout + stderr).to.equal(0);
      expect(stdout).to.include('all in order');
    }
    const list = await command('storage', 'list');
    expect(list.stdout.trim().split('\n')).to.have.length(names.length);
    const alone = await startProcess({
      root: `${origin}/b/`,
      dataDir: join(server.dataDir, 'storages/b'),
      environment: { LWS_OWNERS: owner.did },
    });
    expect((await send('b', 'GET', '')).status).to.equal(200);
    await alone.stop();
  });

  it('several are created concurrently, and an invitation by the running server', async () => {
    const { stdout } = await command('storage', 'add', 'm1', 'm2', 'public-read=true');
    expect(stdout.match(/^m[12] {2}ready/gm)).to.have.length(2);
    const home = await startProcess({ root: `${origin}/home/`, dataDir: server.dataDir, environment });
    const key = join(server.dataDir, 'operator.key');
    writeFileSync(key, JSON.stringify(owner.privateKey.export({ format: 'jwk' })), { mode: 0o600 });
    const invited = await command('storage', 'invite', '--days', '2', '--key', key, 'quota.max-bytes=5000');
    expect(invited.stdout, invited.stderr).to.match(
      /^http:\S+\/home\/app#\/storages\?invitation=\S+\nValid for one storage, until 20/,
    );
    const refused = await command('storage', 'invite', '--days', '99', '--key', key);
    expect([refused.code, refused.stderr.includes('a number up to 30')], refused.stderr).to.deep.equal([2, true]);
    await home.stop();
  });

  for (let round = 1; round <= rounds; round++)
    it(`template import is atomic, at any interruption, round ${round}`, async () => {
      await server.kill();
      const templates = join(server.dataDir, 'templates');
      mkdirSync(join(templates, 'many'), { recursive: true });
      for (let each = 0; each < 600; each++)
        writeFileSync(join(templates, `many/n${each}.ttl`), `<#it> <urn:p> ${each} ; <urn:of> <{{storage}}> .`);
      environment = { ...environment, LWS_STORAGES_TEMPLATES: templates };
      const name = `t${round}`;
      const { code, stderr } = await command('storage', 'add', name, '--owner', owner.did, '--template', 'many');
      expect(code, stderr).to.equal(0);
      server = await begin();
      const isOwed = (): boolean => existsSync(join(server.dataDir, `storages/${name}/.quadpod-template`));
      for (let kills = 0; isOwed() && kills < 4; kills++) {
        const asked = send(name, 'GET', '').catch(() => undefined);
        await sleep(40 * round + 150 * kills);
        await server.kill();
        await asked;
        server = await begin();
      }
      // It returns 503 if a template takes longer than a request waits.
      await until(async () => !isOwed() || !(await send(name, 'GET', '').then(isOwed)));
      for (let each = 0; each < 600; each++)
        expect((await send(name, 'HEAD', `n${each}.ttl`)).status, `${each}`).to.equal(200);
      const last = await (await send(name, 'GET', 'n599.ttl')).text();
      expect(last).to.contain('599');
      expect(await server.stop()).to.equal(0);
      const checked = await command('check', '--storage', name);
      expect(checked.code, checked.stdout).to.equal(0);
    });

  for (const [what, words, wanted] of [
    ['a name that is taken', ['storage', 'add', 'a'], 'The storage a already exists'],
    ['a name that is none', ['storage', 'add', 'A'], 'is not a valid storage name'],
    ['an action that is none', ['storage', 'frob', 'a'], 'Use storage list'],
    ['no name', ['storage', 'add'], 'Use storage list'],
    ['a pair that is none', ['storage', 'set', 'a', 'public-read'], 'expected KEY=VALUE'],
    ['a setting of the operator', ['storage', 'set', 'a', 'data-dir=/'], 'cannot be set per storage'],
    ['a storage that is not there', ['check', '--storage', 'nobody'], 'contains no storage nobody'],
    [
      'a storage that is not there, to be suspended',
      ['storage', 'suspend', 'nobody'],
      'The storage nobody does not exist',
    ],
  ] as const)
    it(`the command line rejects ${what} with a message`, async () => {
      const { code, stderr } = await command(...words);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.include(wanted);
    });

  it('without an address there are no storages, and the command explains how to enable them', async () => {
    const { LWS_STORAGES_ADDRESS: _, ...others } = environment;
    // A new directory. A used one remembers its address (rule 18.3).
    const dataDir = mkdtempSync(join(tmpdir(), 'quadpod-alone-'));
    const plain = (words: string[]): Promise<Ended> =>
      runProcess(words, { dataDir, root: server.root, environment: others });
    const { code, stderr } = await plain(['storage', 'list']);
    expect([code, stderr.includes('lws.storages.address')], stderr).to.deep.equal([2, true]);
    expect((await plain(['check', '--storage', 'a'])).stderr).to.include('lws.storages.address');
    rmSync(dataDir, { recursive: true, force: true });
  });
});
