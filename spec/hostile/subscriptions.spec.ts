/** Rules 10.3, 16.1, 16.12: subscriptions of unauthorized callers do not slow writes, and the server does not notify itself. */
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { notificationOf, startInboxHost } from '../support/inbox.js';
import type { ServerProcess } from '../support/process.js';
import { lwsContext, lwsJson } from '../support/search.js';

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
  /** Median duration of a write, in milliseconds. */
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
  let settings: Readonly<Record<string, string>> = { LWS_SUBSCRIPTIONS_MAX_OF_STRANGERS: '1000' };

  beforeEach(async () => {
    const { authority } = await host;
    server = await startOwned(owner, { LWS_WEBHOOK_ALLOWED_HOSTS: authority, ...settings });
  });
  afterEach(() => server?.kill());
  after(async () => (await host).close());

  it('the limit per address applies, and writes do not become slower (rule 10.3)', async () => {
    const inbox = (await host).inbox();
    const before = await takes();
    const impact = await measureImpact(server, async () => {
      const statuses: number[] = [];
      for (let at = 0; at < perAddress + 20; at++) statuses.push((await subscribe(inbox)).status);
      return { statuses, after: await takes() };
    });
    expect(impact.result.statuses.slice(0, perAddress).every((status) => status === 201)).to.equal(true);
    expect(impact.result.statuses.slice(perAddress).every((status) => status === 429)).to.equal(true);
    // Controllers can still subscribe.
    expect((await subscribe(inbox, owner)).status).to.equal(201);
    // Without the limit this was half a second more.
    expect(impact.result.after).to.be.below(3 * before + 250);
    expectNoImpact(impact);
  });

  it('a few writes with many subscribers notify each once and in order (rule 16.8)', async () => {
    await server.kill();
    server = await startOwned(owner, {
      LWS_WEBHOOK_ALLOWED_HOSTS: (await host).authority,
      LWS_WEBHOOK_MAX_PER_SECOND_OF_STRANGERS: '1000',
    });
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

  describe('unauthorized callers (rule 16.12)', () => {
    before(() => {
      settings = { LWS_SUBSCRIPTIONS_MAX_PER_ADDRESS: '1000' };
    });

    it('have a total of 200, with additional slots for owners', async () => {
      const inbox = (await host).inbox();
      const friend = ed25519Identity();
      const policies = [
        {
          type: ['AccessPolicy'],
          action: ['create'],
          assignee: friend.did,
          target: { type: 'StorageResource', value: [server.root] },
        },
      ];
      const grant = { '@context': lwsContext, type: ['AccessGrant'], storage: server.root, access: policies };
      const granted = await request(`${server.root}.lws/access-grants`, {
        method: 'POST',
        headers: { ...by(server, owner), 'Content-Type': lwsJson },
        body: JSON.stringify(grant),
      });
      expect(granted.status, granted.text).to.equal(201);
      const who = [ed25519Identity(), ed25519Identity(), ed25519Identity()];
      for (let at = 0; at < 200; at++) expect((await subscribe(inbox, who[at % 3])).status).to.equal(201);
      const refused = await subscribe(inbox);
      expect(refused.status).to.equal(429);
      expect(refused.text).to.include('lws.subscriptions.max-of-strangers');
      expect((await subscribe(inbox, friend)).status).to.equal(201);
    });

    it('are notified at a limited rate, and controllers meanwhile', async () => {
      const [theirs, own] = [(await host).inbox(), (await host).inbox()];
      const who = [ed25519Identity(), ed25519Identity()];
      for (let at = 0; at < 150; at++) expect((await subscribe(theirs, who[at % 2])).status).to.equal(201);
      expect((await subscribe(own, owner)).status).to.equal(201);
      const made: string[] = [];
      for (let at = 0; at < 6; at++) made.push(await put());
      const told = await (await host).received(own, made.length);
      expect(told.map((delivery) => notificationOf(delivery).activity.object.id)).to.deep.equal(made);
      // 900 notifications are pending for unauthorized callers, for a minute and a half.
      expect((await host).at(theirs).length).to.be.below(600);
      await (await host).received(theirs, 10);
    });
  });

  it('an inbox on the storage itself is 400 (rule 16.2)', async () => {
    for (const inbox of [`${server.root}in/`, server.root.replace('http:', 'HTTP:')])
      expect((await subscribe(inbox, owner)).status).to.equal(400);
  });
});
