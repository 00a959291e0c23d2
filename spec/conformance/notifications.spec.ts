/** Rule 16.5: events, recipients and payloads. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { grant, policy, revoke } from '../support/grants.js';
import { type Activity, notificationOf, startInboxHost, told } from '../support/inbox.js';
import { linksetOf, linksetType, metaOf } from '../support/linkset.js';
import { expectAllSigned, subscribe } from '../support/subscriptions.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const host = await startInboxHost();
after(() => host.close());
const settings = { 'webhook.allowed-hosts': host.authority };
const update = (text: string): [string, string] => ['application/sparql-update', `INSERT DATA { <#a> <#p> "${text}" }`];

/** Notifications below a container, up to a last resource created as a marker. */
async function heard(s: StorageUnderTest, inbox: string, container = s.scratch, by?: Parameters<typeof s.send>[4]) {
  const last = `${container}last-${Math.random()}`;
  expect((await s.send('PUT', last, { 'Content-Type': 'text/plain' }, 'x', by)).status).to.equal(201);
  return (await host.receivedAbout(inbox, last)).slice(0, -1);
}
const toldOf = (activities: readonly Activity[]): string[] => activities.map(told);
const remove = (s: StorageUnderTest, iri: string, headers = {}) => s.delete(iri, headers);

describeStorage(
  'Notifications',
  (s) => {
    /** Container with a subscribed inbox and optional readers. */
    async function watched(...topics: string[]): Promise<{ container: string; inbox: string }> {
      const container = await s.container();
      const inbox = host.inbox();
      await subscribe(s, [container, ...topics], inbox);
      return { container, inbox };
    }

    it('the payload and fields of a Create (rule 16.5)', async () => {
      const { container, inbox } = await watched();
      const earliest = Date.now();
      const { iri } = await s.stored('text/plain', 'x', `${container}a`);
      const [delivery] = await host.received(inbox);
      expect(delivery).to.include({ method: 'POST', to: inbox });
      expect(delivery!.headers['content-type']).to.equal('application/lws+json');
      expect(delivery!.headers).to.not.have.any.keys('authorization', 'cookie');
      const { activity, ...envelope } = notificationOf(delivery!);
      expect(envelope).to.deep.equal({
        '@context': ['https://www.w3.org/ns/lws/v1', 'https://www.w3.org/ns/activitystreams'],
        type: 'Notification',
        storage: s.root,
      });
      const { id, published, ...rest } = activity;
      expect(id).to.match(/^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(published).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
      expect(Date.parse(published)).to.be.within(earliest - 1000, Date.now() + 1000);
      expect(rest).to.deep.equal({ type: ['Create'], object: { id: iri, type: ['DataResource'] }, target: container });
    });

    it('an Update and a Delete; a Delete names its origin (rule 16.5)', async () => {
      const { container, inbox } = await watched();
      const { iri, etag } = await s.stored('text/turtle', '', `${container}a`);
      expect((await s.put(iri, 'text/turtle', '<#a> <#p> 1 .', { 'If-Match': etag })).status).to.equal(204);
      expect((await s.patch(iri, ...update('2'))).status).to.equal(204);
      await remove(s, iri);
      const activities = await heard(s, inbox, container);
      expect(toldOf(activities)).to.deep.equal([`Create ${iri}`, `Update ${iri}`, `Update ${iri}`, `Delete ${iri}`]);
      expect(activities.map(({ origin }) => origin)).to.deep.equal([undefined, undefined, undefined, container]);
      for (const { target, type } of activities) if (type[0] === 'Delete') expect(target).to.equal(undefined);
      expect(new Set(activities.map(({ id }) => id)).size, 'ids').to.equal(4);
    });

    it('containers created by PUT and POST have events with their types (rule 16.5)', async () => {
      const { container, inbox } = await watched();
      const made = await s.container(`${container}c/`);
      const posted = new URL((await s.post(made, 'text/plain', 'x', { Slug: 'p' })).headers['location']!, s.root).href;
      await remove(s, made, { Depth: 'infinity' });
      const activities = await heard(s, inbox, container);
      expect(toldOf(activities).slice(0, 2)).to.deep.equal([`Create ${made}`, `Create ${posted}`]);
      expect(toldOf(activities).slice(2)).to.have.members([`Delete ${made}`, `Delete ${posted}`]);
      for (const { object, target, origin } of activities) {
        expect(object.type).to.deep.equal([object.id === made ? 'Container' : 'DataResource']);
        expect(target ?? origin).to.equal(object.id === made ? container : made);
      }
    });

    it('a linkset write is an Update of the resource, with its declared types (rules 11.8, 16.6)', async () => {
      const { container, inbox } = await watched();
      const { iri } = await s.stored('text/plain', 'x', `${container}a`);
      const links = { type: [{ href: 'https://e.example/T' }], title: 'x' };
      expect((await s.put(metaOf(iri), linksetType, linksetOf(links), { 'If-Match': '*' })).status).to.equal(204);
      const merge = ['application/merge-patch+json', '{"title":"y"}'] as const;
      expect((await s.patch(metaOf(iri), ...merge, { 'If-Match': '*' })).status).to.be.oneOf([200, 204]);
      const of = await s.put(metaOf(container), linksetType, linksetOf({ title: 'c' }), { 'If-Match': '*' });
      expect(of.status).to.equal(204);
      const activities = await heard(s, inbox, container);
      const wanted = [`Create ${iri}`, `Update ${iri}`, `Update ${iri}`, `Update ${container}`];
      expect(toldOf(activities)).to.deep.equal(wanted);
      expect(activities[1]!.object.type).to.deep.equal(['DataResource', 'https://e.example/T']);
      expect(activities[3]!.object.type).to.deep.equal(['Container']);
    });

    it('unchanged, failed and rejected writes cause no event (rule 16.5)', async () => {
      const { container, inbox } = await watched();
      const { iri } = await s.stored('text/turtle', '<#a> <#p> "1" .', `${container}a`);
      await s.container(`${container}c/`);
      await s.stored('text/plain', 'x', `${container}c/d`);
      expect((await s.patch(iri, ...update('1'))).status).to.equal(204);
      for (const [failed, status] of [
        [await s.put(iri, 'text/turtle', '', { 'If-Match': '"no"' }), 412],
        [await s.put(iri, 'text/turtle', ''), 428],
        [await s.put(`${container}b`, 'text/turtle', '<a'), 400],
        [await s.put(`${container}b`, 'text/plain', 'x', { 'Content-Digest': `sha-256=:${'A'.repeat(43)}=:` }), 400],
        [await remove(s, `${container}c/`), 409],
        [await s.send('DELETE', iri, {}, undefined, s.stranger), 404],
        [await s.get(iri), 200],
      ] as const)
        expect(failed.status, failed.text).to.equal(status);
      const activities = toldOf(await heard(s, inbox, container));
      expect(activities).to.deep.equal([`Create ${iri}`, `Create ${container}c/`, `Create ${container}c/d`]);
    });

    it('a recursive delete sends an event for every descendant (rule 16.6)', async () => {
      const { container, inbox } = await watched();
      const inside = ['t/', 't/a', 't/u/', 't/u/b', 't/u/v/', 't/u/v/c'].map((name) => container + name);
      for (const iri of inside) await (iri.endsWith('/') ? s.container(iri) : s.stored('text/plain', 'x', iri));
      await remove(s, inside[0]!, { Depth: 'infinity' });
      const activities = toldOf(await heard(s, inbox, container));
      expect(activities.slice(6)).to.have.members(inside.map((iri) => `Delete ${iri}`));
      expect(activities).to.have.length(12);
    });

    it('an event covered by several topics is sent once per subscription (rule 16.5)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const [inbox, second] = [host.inbox(), host.inbox()];
      await subscribe(s, [s.root, s.scratch, iri, iri], inbox);
      await subscribe(s, [iri], second);
      await subscribe(s, [s.scratch], second);
      await s.patch(iri, ...update('1'));
      expect(toldOf(await heard(s, inbox))).to.deep.equal([`Update ${iri}`]);
      expect(toldOf(await heard(s, second)).filter((each) => each === `Update ${iri}`)).to.have.length(2);
    });

    it('a data resource covers only itself, a container only its descendants and itself (rule 16.4)', async () => {
      const { container } = await watched();
      const [file, sub] = [`${container}a`, `${container}b/`];
      await s.stored('text/turtle', '', file);
      await s.container(sub);
      const [ofFile, ofSub] = [host.inbox(), host.inbox()];
      await subscribe(s, file, ofFile);
      await subscribe(s, sub, ofSub);
      await s.stored('text/turtle', '', `${container}ab`);
      await s.container(`${container}bc/`);
      await s.stored('text/turtle', '', `${sub}inside`);
      await s.patch(file, ...update('1'));
      await host.received(ofFile);
      expect(toldOf(host.activities(ofFile))).to.deep.equal([`Update ${file}`]);
      await host.received(ofSub);
      expect(toldOf(await heard(s, ofSub, sub))).to.deep.equal([`Create ${sub}inside`]);
    });

    it('only events readable by the subscriber at their time are delivered (rule 16.4)', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(alice)));
      const inbox = host.inbox();
      await subscribe(s, container, inbox, as(s, alice));
      const { iri } = await s.stored('text/turtle', '', `${container}a`);
      await setAcl(s, iri);
      await s.patch(iri, ...update('hidden'));
      await setAcl(s, iri, rule('Read', agent(alice)));
      await s.patch(iri, ...update('shown'));
      await setAcl(s, iri);
      await remove(s, iri);
      const wanted = [`Create ${iri}`, `Update ${iri}`];
      expect(toldOf(await heard(s, inbox, container)).filter((each) => each.endsWith(iri))).to.deep.equal(wanted);
    });

    it('a Delete is authorized by the previous access, also for a tree (rule 16.4)', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(alice)));
      const inbox = host.inbox();
      await subscribe(s, container, inbox, as(s, alice));
      await s.container(`${container}t/`);
      const [shown, hidden] = [`${container}t/shown`, `${container}t/hidden`];
      for (const iri of [shown, hidden]) await s.stored('text/turtle', '', iri);
      await setAcl(s, hidden);
      await remove(s, `${container}t/`, { Depth: 'infinity' });
      const deleted = toldOf(await heard(s, inbox, container)).filter((each) => each.startsWith('Delete'));
      expect(deleted).to.have.members([`Delete ${shown}`, `Delete ${container}t/`]);
    });

    it('a subscriber may read by a group, or by a grant until it ends (rules 3.6, 16.5)', async () => {
      const container = await s.container();
      const { iri: group } = await s.stored(
        'text/turtle',
        `<#g> <http://www.w3.org/2006/vcard/ns#hasMember> <${alice.did}> .`,
      );
      await setAcl(s, container, rule('Read', `acl:agentGroup <${group}#g>`));
      const given = await grant(s, policy(bob, 'read', container));
      const [hers, his] = [host.inbox(), host.inbox()];
      await subscribe(s, container, hers, as(s, alice));
      await subscribe(s, container, his, as(s, bob));
      const { iri } = await s.stored('text/turtle', '', `${container}a`);
      expect(toldOf(await heard(s, hers, container))).to.deep.equal([`Create ${iri}`]);
      expect((await host.receivedAbout(his, iri)).map(told)).to.include(`Create ${iri}`);
      await revoke(s, given);
      await s.patch(iri, ...update('1'));
      expect(toldOf(await heard(s, hers, container))).to.include(`Update ${iri}`);
      expect(toldOf(host.activities(his))).not.to.include(`Update ${iri}`);
    });

    it('the actor is omitted by default, and every delivery is signed (rules 16.5, 16.7)', async () => {
      for (const activity of host.deliveries.map((delivery) => notificationOf(delivery).activity))
        expect(activity).not.to.have.property('actor');
      await expectAllSigned(
        s,
        host.deliveries.filter((each) => notificationOf(each)['storage'] === s.root),
      );
    });
  },
  inWac(settings),
);
