/** Rule 16.8: limit of concurrent deliveries per host. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { after as later, startInboxHost } from '../support/inbox.js';
import { cancel, type Watched, watchAt } from '../support/subscriptions.js';

const narrow = await startInboxHost();
const single = await startInboxHost();
after(() => {
  for (const host of [narrow, single]) host.close();
});
const settings = { 'webhook.allowed-hosts': `${narrow.authority},${single.authority}` };

describeStorage(
  'Deliveries to one host',
  (s) => {
    it('respects lws.webhook.max-in-flight-per-host (4) (rule 16.8)', async () => {
      const several: Watched[] = [];
      for (let i = 0; i < 9; i++) several.push(await watchAt(narrow, s, later(30)));
      for (let round = 0; round < 3; round++) for (const { make } of several) await make();
      for (const { inbox } of several) await narrow.received(inbox, 3);
      expect(narrow.maxOpen).to.be.within(2, 4);
    });
  },
  { settings },
);

describeStorage(
  'Deliveries, one at a time per host',
  (s) => {
    it('respects lws.webhook.max-in-flight-per-host=1 and serves every inbox (rule 16.8)', async () => {
      single.maxOpen = 0;
      const several: Watched[] = [];
      for (let i = 0; i < 2; i++) several.push(await watchAt(single, s, later(20)));
      for (let round = 0; round < 4; round++) for (const { make } of several) await make();
      for (const { inbox } of several) await single.received(inbox, 4);
      expect(single.maxOpen).to.equal(1);
    });

    it('does not deliver to a subscription that is cancelled while it is queued (rule 16.8)', async () => {
      const [slow, waiting] = [await watchAt(single, s, later(600)), await watchAt(single, s)];
      await slow.make();
      await single.received(slow.inbox);
      await waiting.make();
      await cancel(s, waiting.subscription.id);
      await slow.make();
      await single.received(slow.inbox, 2);
      expect(single.activities(waiting.inbox)).to.deep.equal([]);
      expectProblem(await s.get(waiting.subscription.id), 404, s);
    });
  },
  { settings: { ...settings, 'webhook.max-in-flight-per-host': '1' } },
);
