/** Rules 16.1, 17.1: the containers of subscriptions, access requests and grants behave like other containers. */
import { expect } from 'chai';
import { describeStorage, ldp, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked, listOf } from '../support/expectations.js';
import { file, grant, grantsOf, policy, requestsOf } from '../support/grants.js';
import { startInboxHost } from '../support/inbox.js';
import { graphOf, mediaType } from '../support/rdf.js';
import { lwsJson } from '../support/search.js';
import { subscribe, subscriptionsOf } from '../support/subscriptions.js';
import { alice, as, bob, owner } from '../support/wac.js';

const host = await startInboxHost();
after(() => host.close());

interface Kind {
  readonly at: (s: StorageUnderTest) => string;
  readonly type: string;
  /** Creates a member. @returns its IRI */
  readonly make: (s: StorageUnderTest) => Promise<string>;
}
const kinds: Readonly<Record<string, Kind>> = {
  'access requests': { at: requestsOf, type: 'AccessRequest', make: (s) => file(s, policy(alice, 'read', s.scratch)) },
  'access grants': { at: grantsOf, type: 'AccessGrant', make: (s) => grant(s, policy(alice, 'read', s.scratch)) },
  subscriptions: {
    at: subscriptionsOf,
    type: 'WebhookSubscription',
    make: async (s) => (await subscribe(s, s.scratch, host.inbox())).id,
  },
};

describeStorage(
  'System containers',
  (s) => {
    for (const [title, { at, type, make }] of Object.entries(kinds)) {
      it(`Container listing: ${title} have types, links, an ETag, pages, and members with size and date`, async () => {
        const made = [await make(s), await make(s), await make(s)].sort();
        for (const method of ['GET', 'HEAD']) {
          const answer = await s.send(method, at(s));
          expect([answer.status, mediaType(answer)]).to.deep.equal([200, lwsJson]);
          expect(linked(answer, 'type')).to.include.members([`${ldp}BasicContainer`, `${lws}Container`]);
          expect(linked(answer, 'up')).to.deep.equal([s.root]);
          expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
          expect(answer.headers['etag']).to.match(/^"[^"]+"$/);
          expect(answer.headers['cache-control']).to.equal('private, no-store');
          expect(listOf(answer, 'allow')).to.have.members(['get', 'head', 'post', 'options']);
          expect(linked(answer, 'next')).to.have.length(1);
        }
        const first = JSON.parse((await s.get(at(s))).text);
        expect(first).to.include({ id: at(s), type: 'Container', totalItems: 3 });
        const second = JSON.parse((await s.get(`${at(s)}?page=2`)).text);
        const items = [...first.items, ...second.items];
        expect(items.map(({ id }) => id)).to.deep.equal(made);
        for (const item of items) {
          const member = await s.get(item.id);
          expect(item).to.include({ format: lwsJson, size: member.bytes.length });
          expect(item.type).to.deep.equal(['DataResource', type]);
          expect(new Date(item.modified).toUTCString()).to.equal(member.headers['last-modified']);
          expect(linked(member, 'type')).to.include.members([`${lws}DataResource`, lws + type]);
          expect(linked(member, 'up')).to.deep.equal([at(s)]);
        }
        expectProblem(await s.get(`${at(s)}?page=3`), 404, s);
        expectProblem(await s.get(`${at(s)}?page=x`), 400, s);
        for (const iri of made) expect((await s.delete(iri)).status).to.equal(204);
      });

      it(`Content negotiation: ${title} are listed in all JSON types and in RDF`, async () => {
        const made = await make(s);
        for (const Accept of ['application/ld+json', 'application/json']) {
          const answer = await s.get(at(s), { Accept });
          expect([answer.headers['content-type'], JSON.parse(answer.text).totalItems]).to.deep.equal([Accept, 1]);
        }
        const quads = await graphOf(await s.get(at(s), { Accept: 'text/turtle' }), at(s));
        const said = quads.map(({ subject, predicate, object }) => [subject.value, predicate.value, object.value]);
        expect(said).to.deep.include([at(s), `${lws}items`, made]);
        expect(said).to.deep.include([made, 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type', lws + type]);
        expect((await s.delete(made)).status).to.equal(204);
      });

      it(`Conditional requests: ${title} and their members have ETags and support conditions`, async () => {
        const before = await s.tag(at(s));
        const made = await make(s);
        const tag = await s.tag(at(s));
        expect(tag).not.to.equal(before);
        expect((await s.get(at(s), { 'If-None-Match': tag })).status).to.equal(304);
        expect((await s.get(at(s), { 'If-None-Match': before })).status).to.equal(200);
        expectProblem(await s.get(at(s), { 'If-Match': before }), 412, s);
        const { etag } = (await s.get(made)).headers;
        expect((await s.get(made, { 'If-None-Match': etag! })).status).to.equal(304);
        for (const fields of [{ 'If-Match': '"other"' }, { 'If-None-Match': '*' }, { 'If-Match': tag }])
          expectProblem(await s.delete(made, fields), 412, s);
        expectProblem(await s.delete(made, { 'If-Match': 'nonsense' }), 400, s);
        expect((await s.delete(made, { 'If-Match': etag! })).status).to.equal(204);
        expect(await s.tag(at(s))).to.equal(before);
      });

      it(`unauthorized callers see no members of ${title}, and the ETag of an empty container (rule 4.3)`, async () => {
        const empty = (await s.send('GET', at(s), {}, undefined, as(s, bob))).headers['etag'];
        const made = await make(s);
        const seen = await s.send('GET', at(s), {}, undefined, as(s, bob));
        expect([JSON.parse(seen.text).totalItems, seen.headers['etag']]).to.deep.equal([0, empty]);
        expectProblem(await s.send('DELETE', made, { 'If-Match': '*' }, undefined, as(s, bob)), 404, s);
        expect((await s.delete(made)).status).to.equal(204);
      });
    }
  },
  {
    settings: { owners: owner.did, 'container.page-size': '2', 'webhook.allowed-hosts': host.authority },
    owner,
  },
);
