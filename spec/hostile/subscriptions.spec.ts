/** Rules 10.3, 16.1: subscriptions of strangers do not make the writes of others slow, nor the server tell itself. */
import { expect } from 'chai';
import { by, expectUnnoticed, notice, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { notificationOf, startInboxHost } from '../support/inbox.js';
import type { ServerProcess } from '../support/process.js';
import { lwsJson } from '../support/search.js';

const owner = ed25519Identity();
const perAddress = 400;

describe('Subscriptions under attack', function () {
  this.timeout(60_000);
  this.retries(1);
  let server: ServerProcess;
  let count = 0;
  const subscribe = (inbox: string, who = ed25519Identity()): Promise<Answer> =>
    request(`${server.root}.lws/subscriptions`, {
      method: 'POST',
      headers: { ...by(server, who), 'Content-Type': lwsJson },
      body: JSON.stringify({ type: ['WebhookSubscription'], topic: [server.root], inbox }),
    });
  const put = async (): Promise<string> => {
    const iri = `${server.root}r${count++}`;
    const headers = { ...by(server, owner), 'Content-Type': 'text/plain', 'If-None-Match': '*' };
    const { status } = await request(iri, { method: 'PUT', headers, body: 'x' });
    expect(status).to.equal(201);
    return iri;
  };
  /** The median of what writes take, in milliseconds. */
  const takes = async (): Promise<number> => {
    const all: number[] = [];
    for (let at = 0; at < 9; at++) {
      const began = performance.now();
      await put();
      all.push(performance.now() - began);
    }
    return all.sort((a, b) => a - b)[4]!;
  };
  const host = startInboxHost();

  beforeEach(async () => {
    const { authority } = await host;
    server = await startOwned(owner, { LWS_WEBHOOK_ALLOWED_HOSTS: authority });
  });
  afterEach(() => server?.kill());
  after(async () => (await host).close());

  it('Rule 10.3: one address has as many as the setting says, and a write takes as long as before', async () => {
    const inbox = (await host).inbox();
    const before = await takes();
    const noticed = await notice(server, async () => {
      const statuses: number[] = [];
      for (let at = 0; at < perAddress + 20; at++) statuses.push((await subscribe(inbox)).status);
      return { statuses, after: await takes() };
    });
    expect(noticed.result.statuses.slice(0, perAddress).every((status) => status === 201)).to.equal(true);
    expect(noticed.result.statuses.slice(perAddress).every((status) => status === 429)).to.equal(true);
    // Those who control the storage have room nevertheless.
    expect((await subscribe(inbox, owner)).status).to.equal(201);
    // Half a second more, before there was a bound.
    expect(noticed.result.after).to.be.below(3 * before + 250);
    expectUnnoticed(noticed);
  });

  it('Rule 16.8: what many are told of a few writes, each is told once and in order', async () => {
    const inboxes = await Promise.all(Array.from({ length: 130 }, async () => (await host).inbox()));
    for (const inbox of inboxes) expect((await subscribe(inbox)).status).to.equal(201);
    const made = [await put(), await put(), await put()];
    for (const inbox of inboxes) {
      const told = (await (await host).received(inbox, 3)).map(
        (delivery) => notificationOf(delivery).activity.object.id,
      );
      expect(told).to.deep.equal(made);
    }
  });

  it('Rule 16.2: an inbox on the storage itself is 400', async () => {
    for (const inbox of [`${server.root}in/`, server.root.replace('http:', 'HTTP:')])
      expect((await subscribe(inbox, owner)).status).to.equal(400);
  });
});
