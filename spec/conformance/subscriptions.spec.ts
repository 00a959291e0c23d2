/** Rule 16.3: creating, listing, reading and cancelling subscriptions. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { startInboxHost } from '../support/inbox.js';
import { visible } from '../support/masking.js';
import { mediaType } from '../support/rdf.js';
import { lwsContext, lwsJson } from '../support/search.js';
import {
  ask,
  cancel,
  readSubscription,
  type Subscription,
  subscribe,
  subscriptionIn,
  subscriptionsOf,
} from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { agent, alice, as, bob, inWac, owner, rule, setAcl } from '../support/wac.js';

const host = await startInboxHost();
after(() => host.close());
const settings = { 'webhook.allowed-hosts': host.authority };
const day = 86_400_000;
const inDays = (count: number): string => new Date(Date.now() + count * day).toISOString();

async function listed(s: StorageUnderTest, by?: Parameters<typeof s.send>[4]): Promise<string[]> {
  const answer = await s.send('GET', subscriptionsOf(s), {}, undefined, by);
  expect(answer.status, answer.text).to.equal(200);
  return (JSON.parse(answer.text) as { items: { id: string }[] }).items.map(({ id }) => id);
}

describeStorage(
  'Subscriptions',
  (s) => {
    it('POST returns 201, Location and the document (rule 16.1)', async () => {
      const inbox = host.inbox();
      const answer = await ask(s, [s.scratch], inbox);
      const made = subscriptionIn(answer, 201);
      expect(mediaType(answer)).to.equal(lwsJson);
      const id = new URL(answer.headers['location']!, subscriptionsOf(s)).href;
      expect(id.startsWith(`${subscriptionsOf(s)}/`), id).to.equal(true);
      expect([made['@context']].flat()).to.include(lwsContext);
      const { id: named, type, subscription, topic, inbox: where, active } = made;
      expect({ named, type: [type].flat(), subscription, topic, where, active }).to.deep.equal({
        named: id,
        type: ['WebhookSubscription'],
        subscription: id,
        topic: [s.scratch],
        where: inbox,
        active: true,
      });
    });

    it('GET and HEAD return the document of POST (rule 16.1)', async () => {
      const made = await subscribe(s, [s.scratch], host.inbox());
      const answer = await s.get(made.id);
      expect(mediaType(answer)).to.equal(lwsJson);
      const { '@context': _, ...read } = subscriptionIn(answer);
      const { '@context': __, ...wanted } = made;
      expect(read).to.include({ ...wanted, type: read.type, topic: read.topic });
      expect([read.topic].flat()).to.deep.equal(made.topic);
      const head = await s.head(made.id);
      expect([head.status, head.text, mediaType(head)]).to.deep.equal([200, '', lwsJson]);
    });

    it('the context may be an array, the type an array, a single topic a string (rule 16.1)', async () => {
      const inbox = host.inbox();
      const made = await subscribe(s, s.scratch, inbox, undefined, {
        '@context': [lwsContext, 'https://www.w3.org/ns/activitystreams'],
        type: ['WebhookSubscription'],
      });
      expect(made.topic).to.deep.equal([s.scratch]);
    });

    it('the type is returned as sent (rule 16.5)', async () => {
      for (const type of [
        'WebhookSubscription',
        ['WebhookSubscription'],
        ['WebhookSubscription', 'https://e.example/T'],
      ]) {
        const made = await subscribe(s, s.scratch, host.inbox(), undefined, { type });
        expect(made.type).to.deep.equal(type);
        expect(JSON.parse((await s.get(made.id)).text).type).to.deep.equal(type);
      }
    });

    for (const type of [lwsJson, 'application/ld+json', 'application/json', `${lwsJson}; charset=utf-8`])
      it(`a subscription in ${type} is accepted (rule 16.1)`, async () => {
        await subscribe(s, [s.scratch], host.inbox(), undefined, {}, type);
      });

    it('a subscription has 1 to 64 topics (rule 16.1)', async () => {
      const topics: string[] = [];
      for (let i = 0; i < 65; i++) topics.push((await s.stored('text/plain', 'x')).iri);
      const made = await subscribe(s, topics.slice(0, 64), host.inbox());
      expect(made.topic).to.deep.equal(topics.slice(0, 64));
      expectProblem(await ask(s, topics, host.inbox()), 400, s);
      expectProblem(await ask(s, [], host.inbox()), 400, s);
    });

    it('without expires a subscription lasts 30 days, and never longer (rule 16.2)', async () => {
      const far = async (expires: string | undefined): Promise<number> =>
        (Date.parse((await subscribe(s, [s.scratch], host.inbox(), undefined, { expires })).expires) - Date.now()) /
        day;
      expect(await far(undefined)).to.be.closeTo(30, 0.01);
      expect(await far(inDays(31))).to.be.closeTo(30, 0.01);
      expect(await far('9999-12-31T23:59:59Z')).to.be.closeTo(30, 0.01);
      expect(await far(inDays(3))).to.be.closeTo(3, 0.01);
    });

    it('expires is parsed with its time zone (rule 16.2)', async () => {
      const at = Math.floor(Date.now() / 1000) * 1000 + 2 * day;
      const shifted = new Date(at + 5.5 * 3_600_000).toISOString().replace(/\.\d+Z$/, '+05:30');
      const { expires } = await subscribe(s, [s.scratch], host.inbox(), undefined, { expires: shifted });
      expect(Date.parse(expires), shifted).to.equal(at);
      expect(expires, 'in UTC').to.match(/Z$/);
    });

    it('the endpoint lists the subscriptions of a caller as a container, and all for a controller (rule 16.3)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', agent(alice, bob)));
      const [hers, his] = [
        await subscribe(s, iri, host.inbox(), as(s, alice)),
        await subscribe(s, iri, host.inbox(), as(s, bob)),
      ];
      const own = await subscribe(s, iri, host.inbox());
      expect(await listed(s, as(s, alice))).to.deep.equal([hers.id]);
      expect(await listed(s, as(s, bob))).to.deep.equal([his.id]);
      expect(await listed(s)).to.include.members([hers.id, his.id, own.id]);
      expect(await listed(s, s.stranger)).to.deep.equal([]);
      const answer = await s.get(subscriptionsOf(s));
      expect(mediaType(answer)).to.equal(lwsJson);
      const page = JSON.parse(answer.text) as {
        '@context': unknown;
        id: string;
        type: unknown;
        totalItems: number;
        items: unknown[];
      };
      expect(page).to.include({ id: subscriptionsOf(s), type: 'Container', totalItems: page.items.length });
      expect([page['@context']].flat()).to.include(lwsContext);
      expectChallenge(await s.send('GET', subscriptionsOf(s), {}, undefined, 'anonymous'), s);
      for (const made of [hers, his]) await cancel(s, made.id);
    });

    it('its creator and a controller read and cancel it; other callers get 404, anonymous ones 401 (rule 16.3)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', agent(alice, bob)));
      for (const who of [as(s, alice), undefined]) {
        const made = await subscribe(s, iri, host.inbox(), as(s, alice));
        for (const method of ['GET', 'DELETE']) {
          for (const other of [as(s, bob), s.stranger])
            expectProblem(await s.send(method, made.id, {}, undefined, other), 404, s);
          expectChallenge(await s.send(method, made.id, {}, undefined, 'anonymous'), s);
        }
        expect((await readSubscription(s, made.id, who)).id).to.equal(made.id);
        await cancel(s, made.id, who);
        for (const method of ['GET', 'DELETE'])
          expectProblem(await s.send(method, made.id, {}, undefined, who), 404, s);
        expect(await listed(s)).not.to.include(made.id);
      }
    });

    it('a subscription of another caller gets the response of a nonexistent one (rules 4.3, 16.1)', async () => {
      const { id } = await subscribe(s, s.scratch, host.inbox());
      const absent = id.replace(/[^/]{6}$/, 'absent');
      for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'PROPFIND'])
        for (const who of [s.stranger, 'anonymous'] as const)
          for (const end of ['', '.meta', '.acl', '/', '?page=2']) {
            const answer = visible(await s.send(method, id + end, {}, undefined, who), id);
            const wanted = visible(await s.send(method, absent + end, {}, undefined, who), absent);
            expect(answer, `${method} ${id}${end}`).to.deep.equal(wanted);
          }
      await readSubscription(s, id);
    });

    it('read on every topic is sufficient, also on a container (rule 16.1)', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(alice), 'accessTo'));
      await subscribe(s, container, host.inbox(), as(s, alice));
    });
  },
  inWac(settings),
);

describeStorage(
  'Subscriptions that expire',
  (s) => {
    it('lws.subscriptions.max-lifetime-seconds is the maximum and the default (rule 16.1)', async () => {
      const lasts = ({ expires }: Subscription): number => Date.parse(expires) - Date.now();
      expect(lasts(await subscribe(s, s.scratch, host.inbox()))).to.be.within(0, 1000);
      expect(lasts(await subscribe(s, s.scratch, host.inbox(), undefined, { expires: inDays(1) }))).to.be.within(
        500,
        3000,
      );
    });

    it('an expired subscription receives nothing more and is purged (rule 16.3)', async () => {
      const [short, kept] = [host.inbox(), host.inbox()];
      const made = await subscribe(s, s.scratch, short);
      await new Promise((resolve) => setTimeout(resolve, Date.parse(made.expires) - Date.now() + 50));
      await subscribe(s, s.scratch, kept);
      const { iri } = await s.stored('text/plain', 'late');
      await host.receivedAbout(kept, iri);
      expect(host.activities(short)).to.deep.equal([]);
      await until(async () => (await s.get(made.id)).status === 404, 'it is purged');
      expect(await listed(s)).not.to.include(made.id);
    });
  },
  {
    settings: {
      ...settings,
      'subscriptions.max-lifetime-seconds': '1',
      'subscription.purge-interval-seconds': '1',
      owners: owner.did,
    },
    owner,
  },
);

describeStorage(
  'Subscriptions, after a restart',
  (s) => {
    it('a subscription survives a restart (rule 16.1)', async () => {
      const inbox = host.inbox();
      const made = await subscribe(s, s.scratch, inbox);
      await s.restart({ settings });
      expect(await readSubscription(s, made.id)).to.deep.equal({ ...made, ...(await readSubscription(s, made.id)) });
      const { iri } = await s.stored('text/plain', 'x');
      expect((await host.receivedAbout(inbox, iri)).length).to.equal(1);
      await cancel(s, made.id);
      await s.restart({ settings });
      expectProblem(await s.get(made.id), 404, s);
    });
  },
  { settings },
);
