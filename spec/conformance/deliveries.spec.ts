/** Rule 16.8: delivery of notifications. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import {
  answering,
  type Behaviour,
  dropping,
  failing,
  garbage,
  after as later,
  silent,
  startInboxHost,
  told,
} from '../support/inbox.js';
import { slowness } from '../support/patience.js';
import {
  cancel,
  expectAllSigned,
  readSubscription,
  subscribe,
  type Watched,
  watchAt,
} from '../support/subscriptions.js';
import { until } from '../support/until.js';

const host = await startInboxHost();
const second = await startInboxHost();
after(() => {
  for (const each of [host, second]) each.close();
});
const backoff = 40;
const settings = {
  'webhook.allowed-hosts': [host, second].map(({ authority }) => authority).join(),
  'webhook.retry-backoff-ms': `${backoff}`,
  'webhook.max-attempts': '3',
  'webhook.max-consecutive-failures': '3',
};

const watch = (s: StorageUnderTest, behaviour?: Behaviour, suffix?: string): Promise<Watched> =>
  watchAt(host, s, behaviour, suffix);
const toldAt = (inbox: string): string[] => host.activities(inbox).map(told);
const first = (list: readonly string[]): string[] => [...new Set(list)];

describeStorage(
  'Deliveries',
  (s) => {
    /** Creates a resource and then another one. @returns the number of attempts for the first, once the second is delivered */
    async function attempts({ inbox, make }: Watched): Promise<number> {
      const [one] = await make();
      const [two] = await make();
      await until(async () => toldAt(inbox).includes(two!), `${two} is told`);
      return toldAt(inbox).filter((each) => each === one).length;
    }

    for (const status of [200, 201, 202, 204, 299])
      it(`${status} is a success (rule 16.8)`, async () => {
        expect(await attempts(await watch(s, answering(status)))).to.equal(1);
      });

    for (const [what, how] of Object.entries({
      500: answering(500),
      503: answering(503, { 'Retry-After': '3600' }),
      599: answering(599),
      429: answering(429),
      'a reset': dropping,
      'no HTTP': garbage,
    }))
      it(`after ${what} it retries with backoff, in order (rule 16.8)`, async () => {
        const watched = await watch(s, failing(2, how));
        const [one, two] = await watched.make(2);
        await until(async () => toldAt(watched.inbox).includes(two!), 'both are told');
        expect(toldAt(watched.inbox)).to.deep.equal([one, one, one, two]);
        const [a, b, c] = host.at(watched.inbox).map(({ at }) => at);
        expect(b! - a!, 'first back-off').to.be.within(backoff - 5, backoff * 20);
        expect(c! - b!, 'second back-off').to.be.within(2 * backoff - 5, backoff * 40);
        const ids = host.activities(watched.inbox).map(({ id }) => id);
        expect(new Set(ids.slice(0, 3)).size, 'ids of the attempts').to.equal(1);
      });

    it('it gives up after lws.webhook.max-attempts attempts (rule 16.8)', async () => {
      expect(await attempts(await watch(s, failing(3)))).to.equal(3);
    });

    for (const status of [400, 401, 403, 404, 408, 413, 422])
      it(`${status} fails immediately (rule 16.8)`, async () => {
        expect(await attempts(await watch(s, failing(1, answering(status))))).to.equal(1);
      });

    for (const status of [300, 301, 302, 303, 304, 307, 308])
      it(`${status} fails immediately and is not followed (rule 16.8)`, async () => {
        const elsewhere = second.inbox();
        expect(await attempts(await watch(s, failing(1, answering(status, { Location: elsewhere }))))).to.equal(1);
        expect(second.at(elsewhere)).to.deep.equal([]);
      });

    it('410 deactivates the subscription (rule 16.8)', async () => {
      const { inbox, subscription, make } = await watch(s, answering(410));
      const [one] = await make();
      await until(async () => !(await readSubscription(s, subscription.id)).active, 'it is inactive');
      host.behave(inbox, answering(202));
      await make(2);
      await attempts(await watch(s));
      expect(toldAt(inbox)).to.deep.equal([one]);
    });

    it('lws.webhook.max-consecutive-failures deactivates; a success resets the count (rule 16.8)', async () => {
      const { inbox, subscription, make } = await watch(s, (res, before) =>
        answering(before === 2 ? 202 : 404)(res, before),
      );
      const made = await make(8);
      await until(async () => !(await readSubscription(s, subscription.id)).active, 'it is inactive');
      expect(toldAt(inbox)).to.deep.equal(made.slice(0, 6));
    });

    it('the owner sees the last success and the last failure (rule 16.8)', async () => {
      const { subscription, make } = await watch(s, (res, before) => answering(before === 0 ? 202 : 404)(res, before));
      const { id } = subscription;
      expect(subscription).to.not.have.any.keys('lastSuccess', 'lastFailure');
      const earliest = Date.now();
      for (const member of ['lastSuccess', 'lastFailure'] as const) {
        await make();
        await until(async () => (await readSubscription(s, id))[member] !== undefined, `${member} is shown`);
        const { [member]: shown, active } = await readSubscription(s, id);
        expect(Date.parse(shown as string)).to.be.within(earliest - 1000, Date.now() + 1000);
        expect(active).to.equal(true);
      }
    });

    it('the last failure is visible while the next delivery is in progress (rule 16.8)', async () => {
      const { subscription, make } = await watch(s, (res, before) =>
        [later(300), answering(404), later(4500)][before]?.(res, before),
      );
      await make(3);
      const shown = async () => (await readSubscription(s, subscription.id)).lastFailure !== undefined;
      await until(shown, 'the failure is shown', 3500);
    });

    it('a cancelled subscription receives nothing more, pending retries included (rule 16.8)', async () => {
      const { inbox, subscription, make } = await watch(s, answering(503));
      await make(3);
      await host.received(inbox);
      await cancel(s, subscription.id);
      // An attempt that is already in flight still arrives.
      await new Promise((resolve) => setTimeout(resolve, backoff));
      const had = host.at(inbox).length;
      await attempts(await watch(s));
      await new Promise((resolve) => setTimeout(resolve, 5 * backoff));
      expect(host.at(inbox).length).to.be.at.most(had);
    });

    it('the signature verifies for inboxes with a query and without a path (rule 16.7)', async () => {
      const watched = [await watch(s, answering(202), '?a=b%20c&d'), await watch(s, answering(202), '/%C3%A9//x;y')];
      const root = `${second.origin}/`;
      second.behave(root, answering(202));
      const container = await s.container();
      await subscribe(s, container, second.origin);
      await s.stored('text/plain', 'x', `${container}r`);
      for (const { inbox, make } of watched) {
        await make();
        await expectAllSigned(s, await host.received(inbox));
      }
      await expectAllSigned(s, (await second.received(root)).slice(-1));
    });

    it('a huge or endless response is a success and is not read to its end (rule 16.8)', async () => {
      let sent = 0;
      const endless: Behaviour = (res) => {
        const more = (): void => {
          while (!res.destroyed && sent < 256 << 20) {
            sent += 1 << 16;
            if (!res.writableNeedDrain && !res.write(Buffer.alloc(1 << 16))) return void res.once('drain', more);
          }
        };
        res.writeHead(202);
        more();
      };
      expect(await attempts(await watch(s, endless))).to.equal(1);
      expect(sent).to.be.below(64 << 20);
    });

    it('order holds per inbox, for several subscriptions and concurrent writes (rule 16.8)', async () => {
      const { inbox, make, container } = await watch(s, failing(1));
      await subscribe(s, [container], inbox);
      const made = await make(10);
      await host.received(inbox, 21);
      expect(first(toldAt(inbox))).to.deep.equal(made);
      for (const each of made.slice(1)) expect(toldAt(inbox).filter((one) => one === each)).to.have.length(2);
    });

    it('an unresponsive inbox delays neither other inboxes nor writes (rule 16.8)', async () => {
      const [slow, quick] = [await watch(s, silent), await watch(s)];
      await slow.make(3);
      await host.received(slow.inbox);
      const started = performance.now();
      const made = await quick.make(20);
      await host.received(quick.inbox, 20);
      expect(performance.now() - started).to.be.below(5000 * slowness);
      expect(toldAt(quick.inbox)).to.deep.equal(made);
      expect(host.at(slow.inbox)).to.have.length(1);
      await cancel(s, slow.subscription.id);
      host.closeConnections();
    });
  },
  { settings },
);
