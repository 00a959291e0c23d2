/** `quadpod events --follow` and its stream. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { type Answer, startRequest } from '../support/http.js';
import type { Activity } from '../support/inbox.js';
import { slowness } from '../support/patience.js';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';
import { agent, alice, as, inWac, rule, setBareAcl } from '../support/wac.js';

const script = fileURLToPath(new URL('../../components/main.js', import.meta.url));

describeStorage(
  'Event stream for controllers',
  (s) => {
    it('requires control', async () => {
      const at = `${s.root}.lws/events`;
      expectChallenge(await s.send('GET', at, {}, undefined, 'anonymous'), s);
      for (const who of [as(s, alice), s.stranger])
        expect((await s.send('GET', at, {}, undefined, who)).status).to.be.oneOf([403, 404]);
    });

    it('contains only resources that the controller may read (rule 4.3)', async () => {
      const open = await s.container();
      const hidden = await s.container();
      await setBareAcl(s, hidden, [rule('Read Write', agent(alice))]);
      const headers = { Authorization: `Bearer ${s.token}` };
      const heard = await new Promise<string>((resolve, reject) => {
        let text = '';
        startRequest(`${s.root}.lws/events`, { headers }, (answer) => {
          answer.on('data', (chunk) => {
            text += chunk;
            if (!text.includes(`${open}last`)) return;
            answer.destroy();
            resolve(text);
          });
          void (async () => {
            await s.send('PUT', `${hidden}secret`, { 'Content-Type': 'text/plain' }, 'x', as(s, alice));
            await s.send('DELETE', `${hidden}secret`, {}, undefined, as(s, alice));
            await s.stored('text/plain', 'x', `${open}first`);
            await s.delete(`${open}first`);
            await s.stored('text/plain', 'x', `${open}last`);
          })().catch(reject);
        })
          .once('error', reject)
          .end();
      });
      expect(heard).not.to.contain('secret');
      expect(heard.split(`${open}first`).length - 1).to.equal(2);
    });

    const eventsSince = async (since: string | number, follow = 'false'): Promise<Answer> =>
      s.get(`${s.root}.lws/events?since=${encodeURIComponent(since)}&follow=${follow}`);
    const linesOf = ({ text }: Answer): (Activity & { position: number })[] =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    const told = (events: readonly Activity[]): string[] => events.map(({ type, object }) => `${type} ${object.id}`);

    it('since a position or a time, delivers each currently readable event once (rule 16.11)', async () => {
      const began = Date.now();
      const [open, hidden] = [await s.container(), await s.container()];
      await setBareAcl(s, hidden, [rule('Read Write', agent(alice))]);
      await s.send('PUT', `${hidden}secret`, { 'Content-Type': 'text/plain' }, 'x', as(s, alice));
      await s.send('DELETE', `${hidden}secret`, {}, undefined, as(s, alice));
      await s.stored('text/plain', 'x', `${open}a`);
      await s.delete(`${open}a`);
      await s.stored('text/plain', 'x', `${open}b`);
      const all = linesOf(await eventsSince(new Date(began).toISOString()));
      expect(told(all)).to.deep.equal([`Create ${open}`, `Create ${open}a`, `Delete ${open}a`, `Create ${open}b`]);
      for (const [at, { position }] of all.entries())
        expect(linesOf(await eventsSince(position))).to.deep.equal(all.slice(at + 1));
      expect(linesOf(await eventsSince(0)).slice(-4)).to.deep.equal(all);
    });

    it('leaves out all but the newest past events on request (rule 16.11)', async () => {
      const container = await s.container();
      for (let at = 0; at < 6; at++) await s.stored('text/plain', 'x', `${container}n${at}`);
      const all = linesOf(await eventsSince(0));
      for (const newest of [1, 2, 5])
        expect(linesOf(await eventsSince(0, `false&newest=${newest}`))).to.deep.equal(all.slice(-newest));
      expect(linesOf(await eventsSince(0, 'false&newest=9999'))).to.deep.equal(all);
      expect(linesOf(await eventsSince(all.at(-2)!.position, 'false&newest=5'))).to.deep.equal(all.slice(-1));
      for (const newest of ['0', '-1', '10000', 'many', ''])
        expect((await eventsSince(0, `false&newest=${newest}`)).status, newest).to.equal(400);
      expect((await s.get(`${s.root}.lws/events?newest=5`)).status).to.equal(400);
    });

    it('stored and new events form one stream without a gap (rule 16.11)', async () => {
      const container = await s.container();
      const { position } = linesOf(await eventsSince(0)).at(-1)!;
      let count = 0;
      const write = async (): Promise<void> => {
        await s.stored('text/plain', 'x', `${container}n${count++}`);
      };
      await write();
      const seen = await new Promise<(Activity & { position: number })[]>((resolve, reject) => {
        const headers = { Authorization: `Bearer ${s.token}` };
        startRequest(`${s.root}.lws/events?since=${position}`, { headers }, (answer) => {
          let text = '';
          answer.on('data', (chunk) => {
            text += chunk;
            if (!text.includes(`${container}n60"`)) return;
            answer.destroy();
            resolve(linesOf({ text: text.slice(0, text.lastIndexOf('\n')) } as Answer));
          });
        })
          .once('error', reject)
          .end();
        const writing = async (): Promise<void> => {
          while (count < 64) await write();
        };
        Promise.all([writing(), writing()]).catch(reject);
      });
      const stored = linesOf(await eventsSince(position));
      expect(seen).to.deep.equal(stored.slice(0, seen.length));
    });

    it('410 before the start of the log, 400 for an invalid position (rule 16.11)', async () => {
      const ahead = await eventsSince('9'.repeat(15));
      expect(ahead.status).to.equal(410);
      expect(JSON.parse(ahead.text)).to.include({ type: 'urn:problem-type:quadpod:gone' });
      expect(JSON.parse(ahead.text).detail).to.match(/continue after \d+\.$/);
      for (const since of ['', 'yesterday', '-1', '1.5', '9'.repeat(16), '2026-01-31', '9999-01-01T00:00:00Z'])
        expect((await eventsSince(since)).status, since).to.equal(400);
      expect((await eventsSince(0, 'maybe')).status).to.equal(400);
      expect((await s.get(`${s.root}.lws/events?follow=false`)).status).to.equal(400);
      expect((await s.send('GET', `${s.root}.lws/events?since=0`, {}, undefined, as(s, alice))).status).to.equal(404);
    });
  },
  inWac(),
);

describe('quadpod events --follow', function () {
  this.timeout(30_000);
  const environment = { LWS_DEV_OPEN: 'false', LWS_PUBLIC_READ: 'true' };
  let server: ServerProcess;
  let follower: ChildProcess | undefined;
  before(async () => {
    // The server's own identity is an owner.
    server = await startProcess({ environment });
  });
  after(async () => {
    follower?.kill('SIGKILL');
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  it('prints committed events as JSON lines, in order, and exits when the server stops', async () => {
    const { root, dataDir, output } = server;
    const child = spawn(process.execPath, [script, 'events', '--follow'], {
      env: { PATH: process.env['PATH'], LWS_BASE_URI: root.slice(0, -1), LWS_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    follower = child;
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text;
      });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const lines = (): string[] => printed.stdout.split('\n').slice(0, -1);
    const token = /\bTOKEN=(eyJ[\w-]+\.[\w-]+\.[\w-]+)/.exec(output.stderr)?.[1];
    expect(token, 'a credential among what the server prints').to.be.a('string');
    let count = 0;
    const write = async (method: string, iri: string): Promise<string> => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain' };
      const answer = await fetch(iri, { method, headers, ...(method === 'PUT' ? { body: 'x' } : {}) });
      expect(answer.ok, `${method} ${iri}: ${answer.status}`).to.equal(true);
      return `${method === 'PUT' ? 'Create' : 'Delete'} ${iri}`;
    };
    // It follows from an unknown moment on. The first event shows that it is connected.
    await until(async () => {
      expect(child.exitCode, printed.stderr).to.equal(null);
      await write('PUT', `${root}probe${count++}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return lines().length > 0;
    }, 'an event is printed');
    const wanted: string[] = [];
    for (let i = 0; i < 20; i++) wanted.push(await write('PUT', `${root}f${i}`));
    wanted.push(await write('DELETE', `${root}f0`));
    const told = (): string[] =>
      lines()
        .map((line) => JSON.parse(line) as Activity)
        .filter(({ object }) => /\/f\d+$/.test(object.id))
        .map(({ type, object }) => `${type} ${object.id}`);
    await until(async () => told().length >= wanted.length, 'all are printed');
    expect(told()).to.deep.equal(wanted);
    const positionOf = (iri: string): number =>
      lines()
        .map((line) => JSON.parse(line))
        .find(({ object }) => object.id === iri).position;
    const since = await runProcess(['events', '--since', String(positionOf(`${root}f18`))], {
      dataDir,
      root,
      environment,
    });
    expect([since.code, since.stderr]).to.deep.equal([0, '']);
    expect(since.stdout).to.equal(`${lines().slice(-2).join('\n')}\n`);
    const away = await runProcess(['events', '--since', '9'.repeat(15)], { dataDir, root, environment });
    expect(away.code).to.equal(1);
    expect(away.stderr).to.match(/answered 410\. The log of changes does not have/);
    const started = performance.now();
    expect(await server.stop(), 'exit code of the server').to.equal(0);
    expect(performance.now() - started, 'milliseconds to stop').to.be.below(8000 * slowness);
    expect(await ended, printed.stderr).to.equal(0);
  });
});
