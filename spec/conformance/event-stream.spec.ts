/** Rule 16.9: live updates as text/event-stream: authorization, lifetime and resumption. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { type EventStream, openStream } from '../support/event-stream.js';
import { credential, nowSeconds } from '../support/identity.js';
import { type Activity, startInboxHost } from '../support/inbox.js';
import { slowness } from '../support/patience.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { agent, alice, anybody, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const at = (s: StorageUnderTest, ...topics: readonly string[]): string =>
  `${s.root}.lws/subscriptions/stream?${topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')}`;

const fieldsOf = (sender: Sender): Record<string, string> =>
  sender === 'anonymous' ? {} : { Authorization: `Bearer ${sender.token}` };

const open: EventStream[] = [];
async function listen(
  s: StorageUnderTest,
  sender: Sender,
  topics: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const stream = await openStream(at(s, ...topics), { ...fieldsOf(sender), ...headers });
  open.push(stream);
  return stream;
}

const heard = ({ events }: EventStream): string[] =>
  events.map(({ type, data }) => {
    if (type !== 'message') return type;
    const { activity } = JSON.parse(data) as { activity: Activity };
    return `${activity.type} ${activity.object.id}`;
  });

const text = { 'Content-Type': 'text/plain' };
const bounds = { 'streams.max-per-subject': '2', 'streams.max-of-strangers': '3' };
const host = await startInboxHost();
after(() => host.close());

describeStorage(
  'Live updates',
  (s) => {
    afterEach(() => {
      for (const stream of open.splice(0)) stream.close();
    });
    const owner = (): Sender => ({ token: s.token! });

    it('delivers the events of a webhook, with ids', async () => {
      const container = await s.container();
      const inbox = host.inbox();
      await subscribe(s, container, inbox);
      const stream = await listen(s, owner(), [container]);
      expect(stream.headers['content-type']).to.equal('text/event-stream');
      expect(stream.headers['cache-control']).to.contain('no-store');
      const { iri } = await s.stored('text/plain', 'x', `${container}deep`);
      await s.delete(iri);
      await stream.until(() => stream.events.length === 2, 'two events');
      expect(heard(stream)).to.deep.equal([`Create ${iri}`, `Delete ${iri}`]);
      const told = await host.receivedAbout(inbox, iri);
      const activities = stream.events.map(({ data }) => JSON.parse(data).activity);
      expect(activities[0]).to.deep.equal(told[0]);
      expect(JSON.parse(stream.events[0]!.data)).to.include({ type: 'Notification', storage: s.root });
      expect(new Set(stream.events.map(({ lastEventId }) => lastEventId)).size).to.equal(2);
    });

    it('several topics: delivers each event once, and no events of other resources', async () => {
      const [one, two, other] = [await s.container(), await s.container(), await s.container()];
      const stream = await listen(s, owner(), [one, `${one}`, two]);
      await s.stored('text/plain', 'x', `${other}c`);
      await s.container(`${one}below/`);
      await s.stored('text/plain', 'x', `${one}below/a`);
      await s.stored('text/plain', 'x', `${two}b`);
      await stream.until(() => heard(stream).includes(`Create ${two}b`), 'the last');
      expect(heard(stream)).to.deep.equal([`Create ${one}below/`, `Create ${one}below/a`, `Create ${two}b`]);
    });

    it('an unreadable topic is rejected like a nonexistent one (rule 4.1)', async () => {
      const hidden = await s.container();
      const readable = await s.container();
      await setAcl(s, readable, rule('Read', agent(bob)));
      for (const topics of [[hidden], [s.fresh('/')], [readable, hidden]]) {
        const statuses = await Promise.all(
          ['anonymous' as const, as(s, bob)].map(
            async (by) => (await s.send('GET', at(s, ...topics), {}, undefined, by)).status,
          ),
        );
        expect(statuses, topics.join()).to.deep.equal([401, 404]);
      }
      expect((await s.get(at(s))).status, 'no topic').to.equal(400);
      expect((await s.get(at(s, 'no IRI'))).status, 'no IRI').to.equal(400);
      const many = Array.from({ length: 65 }, (_, i) => `${readable}${i}`);
      expect((await s.get(at(s, ...many))).status, 'too many').to.equal(400);
      expect((await s.get(at(s, readable), { Accept: 'text/html' })).status).to.equal(406);
      expect((await s.send('POST', at(s, readable), text, 'x')).status).to.equal(405);
      const head = await s.head(at(s, readable), { Accept: 'text/event-stream' });
      expect([head.status, head.headers['content-type'], head.text]).to.deep.equal([200, 'text/event-stream', '']);
    });

    it('authorizes each event at its time: changes of unreadable members are not delivered', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', anybody));
      await s.container(`${container}secret/`);
      await setAcl(s, `${container}secret/`, rule('Read', agent(alice)));
      const streams = [await listen(s, 'anonymous', [container]), await listen(s, as(s, alice), [container])];
      await s.stored('text/plain', 'x', `${container}secret/a`);
      await s.delete(`${container}secret/a`);
      await s.stored('text/plain', 'x', `${container}last`);
      for (const stream of streams)
        await stream.until(() => heard(stream).includes(`Create ${container}last`), 'the last');
      expect(heard(streams[0]!)).to.deep.equal([`Create ${container}last`]);
      expect(heard(streams[1]!)).to.have.length(3);
    });

    it('ends when read access to one of its topics is revoked', async () => {
      const [kept, lost] = [await s.container(), await s.container()];
      for (const topic of [kept, lost]) await setAcl(s, topic, rule('Read', agent(bob)));
      const stream = await listen(s, as(s, bob), [kept, lost]);
      const other = await listen(s, as(s, bob), [kept]);
      await setAcl(s, lost);
      await stream.untilEnd();
      expect(other.ended).to.equal(false);
      expect((await s.send('GET', at(s, kept, lost), {}, undefined, as(s, bob))).status).to.equal(404);
    });

    it('ends with its topic, after the event of its deletion', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const stream = await listen(s, owner(), [iri]);
      await s.delete(iri);
      await stream.untilEnd();
      expect(heard(stream)).to.deep.equal([`Delete ${iri}`]);
    });

    it('Last-Event-ID: delivers missed events of readable and of deleted resources first', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(bob)));
      const first = await listen(s, as(s, bob), [container]);
      await first.until(() => first.lastEventId !== '', 'an id before any event');
      const start = first.lastEventId;
      await s.stored('text/plain', 'x', `${container}a`);
      await first.until(() => first.events.length === 1, 'an event');
      first.close();
      await s.delete(`${container}a`);
      // Alice may read only the first, Bob only the second.
      for (const [name, who] of [
        ['hidden', alice],
        ['own', bob],
      ] as const) {
        await s.container(`${container}${name}/`);
        await setAcl(s, `${container}${name}/`, rule('Read', agent(who)));
        await s.stored('text/plain', 'x', `${container}${name}/b`);
        await s.delete(`${container}${name}/b`);
      }
      const names = (...told: string[]): string[] => told.map((name) => name.replace(' ', ` ${container}`));
      const ofOwn = names('Create own/', 'Create own/b', 'Delete own/b');
      const later = [...names('Delete a'), ...ofOwn];
      for (const [id, missed] of [
        [first.lastEventId, later],
        [start, [...names('Create a'), ...later]],
      ] as const) {
        const again = await listen(s, as(s, bob), [container], { 'Last-Event-ID': id });
        await again.until(() => again.events.length >= missed.length, 'what was missed');
        expect(heard(again)).to.deep.equal(missed);
        await again.until(() => again.lastEventId !== '', 'where it stands');
        const upToDate = await listen(s, as(s, bob), [container], { 'Last-Event-ID': again.lastEventId });
        await upToDate.until(() => upToDate.lastEventId !== '', 'where it stands');
        expect(heard(upToDate)).to.deep.equal([]);
        for (const stream of [again, upToDate]) stream.close();
      }
      // Their ACLs are deleted too: the previous readers are notified, other callers are not.
      for (const name of ['hidden', 'own']) await s.delete(`${container}${name}/`);
      const atEnd = await listen(s, as(s, bob), [container], { 'Last-Event-ID': first.lastEventId });
      const all = [...names('Delete a', 'Create hidden/'), ...ofOwn, ...names('Delete own/')];
      await atEnd.until(() => atEnd.events.length >= all.length, 'what was missed');
      expect(heard(atEnd)).to.deep.equal(all);
      atEnd.close();
      const ofAlice = await listen(s, { token: s.token! }, [container], { 'Last-Event-ID': first.lastEventId });
      await ofAlice.until(() => heard(ofAlice).includes(`Delete ${container}hidden/`), 'what the owner may read');
    });

    it('Last-Event-ID: omits events of resources that are no longer readable', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(bob)));
      const first = await listen(s, as(s, bob), [container]);
      await first.until(() => first.lastEventId !== '', 'an id before any event');
      await s.stored('text/plain', 'x', `${container}a`);
      await s.stored('text/plain', 'x', `${container}b`);
      await first.until(() => first.events.length === 2, 'two events');
      const { lastEventId: start } = first.events[0]!;
      await setAcl(s, `${container}b`, rule('Read', agent(alice)));
      await s.stored('text/plain', 'x', `${container}c`);
      const again = await listen(s, as(s, bob), [container], { 'Last-Event-ID': start });
      await again.until(() => again.events.length > 0, 'what was missed');
      expect(heard(again)).to.deep.equal([`Create ${container}c`]);
    });

    it('Last-Event-ID: an unknown or expired id is answered with a reset', async () => {
      const container = await s.container();
      for (const id of ['', 'x.1', '9'.repeat(15), '9'.repeat(16), '-1', 'y'.repeat(5000)]) {
        const stream = await listen(s, owner(), [container], { 'Last-Event-ID': id });
        await stream.until(() => stream.events.length > 0, 'a reset');
        expect(heard(stream), id).to.deep.equal(['reset']);
        expect(stream.lastEventId).not.to.equal(id);
        await s.stored('text/plain', 'x', `${container}${Math.random()}`);
        await stream.until(() => stream.events.length > 1, 'what happens then');
        stream.close();
      }
    });

    it('Last-Event-ID: concurrent writes cause neither lost nor duplicate events', async () => {
      const container = await s.container();
      const first = await listen(s, owner(), [container]);
      await first.until(() => first.lastEventId !== '', 'an id before any event');
      let going = true;
      let count = 0;
      const writing = Promise.all(
        Array.from({ length: 4 }, async () => {
          while (going) await s.stored('text/plain', 'x', `${container}n${count++}`);
        }),
      );
      const [all, parts]: [string[], string[]] = [[], []];
      let id = first.lastEventId;
      for (let round = 0; round < 15; round++) {
        const again = await listen(s, owner(), [container], { 'Last-Event-ID': id });
        await again.until(() => again.events.length >= 3 + (round % 5), 'some events');
        again.close();
        parts.push(...again.events.map(({ data }) => JSON.parse(data).activity.id as string));
        id = again.lastEventId;
      }
      going = false;
      await writing;
      const last = await listen(s, owner(), [container], { 'Last-Event-ID': id });
      await s.stored('text/plain', 'x', `${container}last`);
      const isLast = ({ events }: EventStream): boolean => events.some(({ data }) => data.includes(`${container}last`));
      for (const stream of [first, last]) await stream.until(() => isLast(stream), 'the last event');
      parts.push(...last.events.map(({ data }) => JSON.parse(data).activity.id as string));
      all.push(...first.events.map(({ data }) => JSON.parse(data).activity.id as string));
      expect(parts).to.deep.equal(all);
    });

    it('ends when its credential expires', async () => {
      const container = await s.container();
      // The server tolerates a clock skew of one minute.
      const aud = s.root.slice(0, -1);
      await setAcl(s, container, rule('Read', agent(alice)));
      const now = nowSeconds();
      const token = credential(alice, { aud, claims: { iat: now - 120, exp: now - 58 } });
      const stream = await listen(s, { token }, [container]);
      await stream.untilEnd();
      expect((await s.send('GET', at(s, container), {}, undefined, { token })).status).to.equal(401);
    });
  },
  inWac({ 'webhook.allowed-hosts': host.authority }),
);

describeStorage(
  'Live updates, limits',
  (s) => {
    it('per subject, per address and for unauthorized callers; a closed stream releases its slot', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', anybody));
      const status = async (by: Sender): Promise<number> =>
        (await s.send('HEAD', at(s, container), {}, undefined, by)).status;
      const streams = [await listen(s, as(s, bob), [container]), await listen(s, as(s, bob), [container])];
      expect(await status(as(s, bob)), 'of a subject').to.equal(429);
      streams.push(await listen(s, 'anonymous', [container]));
      expect(await status(s.stranger), 'of strangers').to.equal(429);
      expect(await status({ token: s.token! }), 'a controller').to.equal(200);
      for (const stream of streams) stream.close();
      await until(async () => (await status(as(s, bob))) === 200, 'the places are back');
    });

    it('the server stops while streams are open', async () => {
      const container = await s.container();
      const stream = await listen(s, { token: s.token! }, [container]);
      const started = performance.now();
      await s.server!.stop(true);
      await stream.untilEnd();
      expect(performance.now() - started).to.be.below(8_000 * slowness);
      await s.restart(inWac(bounds));
    });
  },
  inWac(bounds),
);

describeStorage(
  'Live updates, disabled',
  (s) => {
    it('are neither routed nor advertised', async () => {
      expect((await s.get(at(s, s.root))).status).to.equal(404);
      expect((await s.get(`${s.root}.lws/storage-description`)).text).not.to.contain('EventStream');
    });
  },
  { settings: { 'streams.max': '0' } },
);

describeStorage('Live updates, advertised', (s) => {
  it('the storage description lists streams and webhooks', async () => {
    const { service } = JSON.parse((await s.get(`${s.root}.lws/storage-description`)).text);
    expect(service).to.deep.include({
      type: 'https://www.w3.org/ns/lws#EventStreamService',
      serviceEndpoint: `${s.root}.lws/subscriptions/stream`,
    });
  });
});
