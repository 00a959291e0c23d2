/**
 * The server is killed right after it acknowledged writes, repeatedly on the same directory: every event of an acknowledged write
 * reaches its inbox after the restart, in order. The spec must not know how pending notifications are stored.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { credential, ed25519Identity } from '../support/identity.js';
import { failing, type InboxHost, after as later, startInboxHost, told } from '../support/inbox.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { below } from './contents.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 2);
const subscriber = ed25519Identity();

/** Client that writes into its own container until the connection breaks, and an inbox subscribed to it. */
class Writer {
  readonly events: string[] = [];
  inDoubt: string | undefined;
  inbox = '';
  private count = 0;
  private readonly present: string[] = [];

  constructor(readonly container: string) {}

  async run(writes: number): Promise<void> {
    for (let i = 0; i < writes; i++) {
      const dice = below(4);
      const [old] = this.present;
      if (dice === 0 && old) {
        if (!(await this.write('Delete', old, { method: 'DELETE' }))) return;
        this.present.shift();
      } else if (dice === 1 && old) {
        const body = `INSERT DATA { <#a> <#updated> ${this.count++} }`;
        const headers = { 'Content-Type': 'application/sparql-update' };
        if (!(await this.write('Update', old, { method: 'PATCH', headers, body }))) return;
      } else {
        const iri = `${this.container}r${this.count++}`;
        const headers = { 'Content-Type': 'text/turtle' };
        if (!(await this.write('Create', iri, { method: 'PUT', headers, body: '<#a> <#p> 1 .' }))) return;
        this.present.push(iri);
      }
    }
  }

  private async write(type: string, iri: string, init: RequestInit): Promise<boolean> {
    this.inDoubt = `${type} ${iri}`;
    try {
      const answer = await fetch(iri, init);
      await answer.arrayBuffer();
      expect(answer.ok, `${init.method} ${iri}: ${answer.status}`).to.equal(true);
    } catch (error) {
      if ((error as Error).name === 'AssertionError') throw error;
      return false;
    }
    this.events.push(this.inDoubt);
    this.inDoubt = undefined;
    return true;
  }

  /** Creates a resource in a running server. @returns its IRI */
  async mark(): Promise<string> {
    const iri = `${this.container}mark${this.count++}`;
    expect((await fetch(iri, { method: 'PUT', headers: { 'Content-Type': 'text/plain' }, body: 'x' })).status).to.equal(
      201,
    );
    return iri;
  }

  /** Unconfirmed writes are taken from the current state. */
  async settle(heard: readonly string[]): Promise<void> {
    const { inDoubt } = this;
    this.inDoubt = undefined;
    if (inDoubt === undefined) return;
    const [type, iri] = inDoubt.split(' ') as [string, string];
    const there = (await fetch(iri, { method: 'HEAD' })).status === 200;
    if (type === 'Delete' && !there) this.present.shift();
    if (type === 'Create' && there) this.present.push(iri);
    if (type === 'Update' ? heard.length > this.events.length + 1 : there === (type === 'Create'))
      this.events.push(inDoubt);
  }
}

const firsts = (host: InboxHost, inbox: string): string[] => {
  const all = host.activities(inbox);
  const ids = all.map(({ id }) => id);
  return all.filter(({ id }, index) => ids.indexOf(id) === index).map(told);
};

describe('The outbox and kill -9', function () {
  this.timeout(60_000);
  let host: InboxHost;
  let server: ServerProcess;
  let writers: Writer[];
  let environment: Record<string, string>;
  before(async () => {
    host = await startInboxHost();
    environment = { LWS_WEBHOOK_ALLOWED_HOSTS: host.authority, LWS_WEBHOOK_RETRY_BACKOFF_MS: '50' };
    server = await startProcess({ environment });
    const { root } = server;
    const token = credential(subscriber, {
      aud: root.slice(0, -1),
      claims: { exp: Math.floor(Date.now() / 1000) + 3000 },
    });
    writers = [0, 1, 2].map((number) => new Writer(`${root}w${number}/`));
    for (const [number, writer] of writers.entries()) {
      await fetch(writer.container, { method: 'PUT' });
      writer.inbox = host.inbox([failing(2), later(30), later(3)][number]);
      const answer = await fetch(`${root}.lws/subscriptions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/lws+json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ type: 'WebhookSubscription', topic: [writer.container], inbox: writer.inbox }),
      });
      expect(answer.status, await answer.text()).to.equal(201);
    }
  });
  after(async () => {
    await server.kill();
    host.close();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  for (let round = 1; round <= rounds; round++)
    it(`every event of an acknowledged write arrives, in order per inbox, round ${round} (rule 16.8)`, async () => {
      const before = host.deliveries.length;
      const runs = writers.map((writer) => writer.run(round % 2 === 0 ? 1000 : 3 + below(20)));
      // Right after the last acknowledgement, or during writes and deliveries.
      await Promise.race([Promise.all(runs), sleep(round % 2 === 0 ? 200 + below(300) : 5000)]);
      await server.kill();
      await Promise.all(runs);
      server = await startProcess({ ...server, environment });
      if (round % 2 === 1) {
        await sleep(below(100));
        await server.kill();
        server = await startProcess({ ...server, environment });
      }
      for (const writer of writers) {
        const heard = (): string[] => firsts(host, writer.inbox);
        // Notifications after this one are not from the previous process.
        const mark = await writer.mark();
        await host.receivedAbout(writer.inbox, mark, 20_000);
        await writer.settle(heard());
        writer.events.push(`Create ${mark}`);
        expect(heard()).to.deep.equal(writer.events);
      }
      expect(host.deliveries.length).to.be.above(before);
      expect(server.output.stdout, 'warnings and errors in the log').to.equal('');
    });
});
