/** Rules 16.5, 17.1: notifications in owner mode, their actor, and notifications of access requests and grants. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { documentOf, file, grant, grantsOf, policy, postDocument, requestsOf, revoke } from '../support/grants.js';
import { notificationOf, startInboxHost, told } from '../support/inbox.js';
import { expectAllSigned, subscribe } from '../support/subscriptions.js';
import { alice, as, bob, owner } from '../support/wac.js';

const host = await startInboxHost();
const controllers = host.inbox();
after(() => host.close());
const settings = { 'webhook.allowed-hosts': host.authority };

describeStorage(
  'Notifications in owner mode',
  (s) => {
    it('a creator is notified only of their own resources; the actor is included if configured (rules 2.8, 16.3)', async () => {
      const container = await s.container();
      await grant(s, policy(alice, ['create', 'read'], container));
      const [inbox, owners] = [host.inbox(), host.inbox()];
      await subscribe(s, container, inbox, as(s, alice));
      await subscribe(s, container, owners);
      const made = await s.send('PUT', `${container}a`, { 'Content-Type': 'text/turtle' }, '', as(s, alice));
      expect(made.status, made.text).to.equal(201);
      expect((await s.delete(`${container}a`)).status).to.equal(204);
      for (const at of [inbox, owners]) {
        const [create, remove] = (await host.received(at, 2)).map((delivery) => notificationOf(delivery).activity);
        expect([create, remove].map((each) => told(each!))).to.deep.equal([
          `Create ${container}a`,
          `Delete ${container}a`,
        ]);
        expect([create!.actor, remove!.actor]).to.deep.equal([alice.did, owner.did]);
      }
    });

    it('a request notifies the controllers, and its own inbox only when it is answered (rules 16.2, 17.8)', async () => {
      const inbox = host.inbox();
      const document = documentOf(s, 'AccessRequest', [policy(alice, 'read', s.scratch)], { inbox });
      const answer = await postDocument(s, requestsOf(s), document, as(s, alice));
      const id = new URL(answer.headers['location']!, s.root).href;
      const activity = (await host.receivedAbout(controllers, id)).at(-1)!;
      expect(activity.type).to.deep.equal(['Create']);
      expect(activity.object).to.deep.equal({ id, type: ['DataResource', 'AccessRequest'] });
      const answered = documentOf(s, 'AccessGrant', [policy(alice, 'read', s.scratch)], { request: id });
      expect((await postDocument(s, grantsOf(s), answered)).status).to.equal(201);
      const [first] = await host.received(inbox, 1);
      const at = notificationOf(first!);
      expect(at).to.include({ type: 'Notification', storage: s.root });
      expect(at.activity.object.type).to.deep.equal(['DataResource', 'AccessGrant']);
    });

    it('a grant notifies its inbox, the controllers, and the inbox of its request, once each (rule 17.8)', async () => {
      const [asking, granted] = [host.inbox(), host.inbox()];
      const wish = documentOf(s, 'AccessRequest', [policy(bob, 'read', s.scratch)], { inbox: asking });
      const request = new URL((await postDocument(s, requestsOf(s), wish, as(s, bob))).headers['location']!, s.root)
        .href;
      for (const inbox of [granted, asking]) {
        const document = documentOf(s, 'AccessGrant', [policy(bob, 'read', s.scratch)], { inbox, request });
        const answer = await postDocument(s, grantsOf(s), document);
        expect(answer.status, answer.text).to.equal(201);
        const id = new URL(answer.headers['location']!, s.root).href;
        for (const at of [asking, controllers, inbox]) {
          const activities = (await host.receivedAbout(at, id)).filter(({ object }) => object.id === id);
          expect(activities.map(({ object }) => object.type)).to.deep.equal([['DataResource', 'AccessGrant']]);
        }
        await revoke(s, id);
      }
      await expectAllSigned(s, [...host.at(asking), ...host.at(granted)]);
    });

    it('subscribers of the root are not notified of requests and grants; rejected ones notify no inbox (rule 17.8)', async () => {
      const inbox = host.inbox();
      await subscribe(s, s.root, inbox);
      await file(s, policy(alice, 'read', s.scratch), as(s, alice));
      const target = { type: 'Container', value: ['https://other.example/'] };
      const refused = documentOf(s, 'AccessGrant', [{ ...policy(alice, 'read', s.scratch), target }], { inbox });
      expect((await postDocument(s, grantsOf(s), refused)).status).to.equal(400);
      const { iri } = await s.stored('text/plain', 'x');
      expect((await host.receivedAbout(inbox, iri)).map(told)).to.deep.equal([`Create ${iri}`]);
    });
  },
  {
    settings: {
      ...settings,
      owners: owner.did,
      'notifications.include-actor': 'true',
      'access-requests.controller-inbox': controllers,
    },
    owner,
  },
);
