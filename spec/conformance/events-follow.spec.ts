/** issue 6: `quadpod events --follow` and the stream after it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { startRequest } from '../support/http.js';
import type { Activity } from '../support/inbox.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { eventually } from '../support/subscriptions.js';
import { agent, alice, as, inWac, rule, setBareAcl } from '../support/wac.js';

const script = fileURLToPath(new URL('../../components/main.js', import.meta.url));

describeStorage(
  'The stream of events',
  (s) => {
    it('issue 6: it is for controllers alone', async () => {
      const at = `${s.root}.lws/events`;
      expectChallenge(await s.send('GET', at, {}, undefined, 'anonymous'), s);
      for (const who of [as(s, alice), s.stranger])
        expect((await s.send('GET', at, {}, undefined, who)).status).to.be.oneOf([403, 404]);
    });

    it('Rule 4.3: it names what the controller may read, and nothing else', async () => {
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
  },
  inWac(),
);

describe('quadpod events --follow', function () {
  this.timeout(30_000);
  let server: ServerProcess;
  let follower: ChildProcess | undefined;
  before(async () => {
    // The server's own identity is its owner.
    server = await startProcess({ environment: { LWS_DEV_OPEN: 'false', LWS_PUBLIC_READ: 'true' } });
  });
  after(async () => {
    follower?.kill('SIGKILL');
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  it('issue 6: it prints committed events as JSON lines, in order, and ends when the server stops', async () => {
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
    const token = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(output.stderr)?.[0];
    expect(token, 'a credential among what the server prints').to.be.a('string');
    let count = 0;
    const write = async (method: string, iri: string): Promise<string> => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain' };
      const answer = await fetch(iri, { method, headers, ...(method === 'PUT' ? { body: 'x' } : {}) });
      expect(answer.ok, `${method} ${iri}: ${answer.status}`).to.equal(true);
      return `${method === 'PUT' ? 'Create' : 'Delete'} ${iri}`;
    };
    // It follows from some moment on, which is shown by the first event.
    await eventually(async () => {
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
    await eventually(async () => told().length >= wanted.length, 'all are printed');
    expect(told()).to.deep.equal(wanted);
    const started = performance.now();
    expect(await server.stop(), 'exit code of the server').to.equal(0);
    expect(performance.now() - started, 'milliseconds to stop').to.be.below(8000);
    expect(await ended, printed.stderr).to.equal(0);
  });
});
