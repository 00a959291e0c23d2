/** Rules 12.1, 16.5: notifications in the storage description, and the setting that disables them. */
import { expect } from 'chai';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { describeStorage } from '../support/conformance.js';
import { startInboxHost } from '../support/inbox.js';
import { ask, subscribe, subscriptionsOf } from '../support/subscriptions.js';
import { owner } from '../support/wac.js';

const host = await startInboxHost();
after(() => host.close());
const settings = { 'webhook.allowed-hosts': host.authority };

describeStorage('Subscriptions, advertised', (s) => {
  it('the description lists the service, the capability and the key (rules 12.4, 16.5)', async () => {
    const description = JSON.parse((await s.get(`${s.root}.lws/storage-description`)).text);
    expect(description.service).to.deep.include({
      type: 'NotificationService',
      serviceEndpoint: subscriptionsOf(s),
      subscriptionType: ['WebhookSubscription'],
    });
    const type = 'https://w3c.github.io/lws-protocol/lws10-notifications-webhook/';
    expect(description.capability.map((each: { type: string }) => each.type)).to.include(type);
    const [method] = description.verificationMethod;
    expect(description.authentication).to.include(method.id);
    expect(method.id).to.equal(`${s.root}#${method.publicKeyJwk.kid}`);
    expect(method.publicKeyJwk).to.include({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' });
  });
});

describeStorage(
  'Subscriptions, disabled',
  (s) => {
    it('with lws.notifications.enabled=false they are not routed, advertised or recorded (rule 12.5)', async () => {
      const inbox = host.inbox();
      const { id } = await subscribe(s, s.scratch, inbox);
      const off = { owners: owner.did, ...settings, 'notifications.enabled': 'false' };
      await s.restart({ settings: off, owner });
      for (const at of [id, subscriptionsOf(s)])
        for (const method of ['GET', 'DELETE', 'OPTIONS']) expect((await s.send(method, at)).status, at).to.equal(404);
      expect((await ask(s, s.scratch, inbox)).status).to.be.oneOf([404, 409]);
      const { text } = await s.get(`${s.root}.lws/storage-description`);
      for (const word of ['NotificationService', 'WebhookSubscription', '/subscriptions', 'lws10-notifications'])
        expect(text).not.to.include(word);
      const { iri } = await s.stored('text/plain', 'while it is off');
      await s.server!.stop(true);
      const level = await openLevel(`${s.server!.dataDir}/level`);
      const written = (await level.iterator({ valueEncoding: 'utf8' }).all()).filter(([, value]) =>
        `${value}`.includes(iri),
      );
      await level.close();
      for (const [key] of written) expect(`${key}`).not.to.match(/outbox|event|notif/i);
      await s.restart({ settings: { owners: owner.did, ...settings }, owner });
      const later = await s.stored('text/plain', 'while it is on');
      const heard = await host.receivedAbout(inbox, later.iri);
      expect(heard.map(({ object }) => object.id)).to.deep.equal([later.iri]);
    });
  },
  { settings: { owners: owner.did, ...settings }, owner },
);
