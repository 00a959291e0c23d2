/** Rule 2.8 (the principal that created a resource), rule 2.3 (recursive deletion) and the filtered listing. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { credential, ed25519Identity, p256Identity } from '../support/identity.js';

const alice = ed25519Identity();
const bob = p256Identity();

/** Alice and Bob own the storage and create resources. Then Alice is removed as an owner. */
async function build(s: StorageUnderTest, as: (name: 'alice' | 'bob') => Sender): Promise<void> {
  const put = async (who: 'alice' | 'bob', path: string): Promise<void> => {
    const body = path.endsWith('/') ? undefined : '<> a <#C> .';
    const fields: Record<string, string> = body ? { 'Content-Type': 'text/turtle' } : {};
    expect((await s.send('PUT', s.scratch + path, fields, body, as(who))).status, path).to.equal(201);
  };
  for (const path of ['alices/', 'alices/hers', 'mixed/', 'hers', 'mixed/hers']) await put('alice', path);
  for (const path of ['bobs/', 'bobs/his', 'mixed/his', 'his']) await put('bob', path);
}

describeStorage(
  'Creators',
  (s) => {
    const as = (name: 'alice' | 'bob'): Sender => ({
      token: credential(name === 'alice' ? alice : bob, { aud: s.root.slice(0, -1) }),
    });
    const byAlice = (method: string, path: string, headers = {}, body?: string) =>
      s.send(method, s.scratch + path, headers, body, as('alice'));
    before(async () => {
      await build(s, as);
      await s.restart({ settings: { 'dev.open': 'true' } });
      expect((await s.send('PUT', `${s.scratch}mixed/anybodys`, {}, 'x', 'anonymous')).status).to.equal(201);
      expect((await s.send('PUT', `${s.scratch}bobs/anybodys`, {}, 'x', 'anonymous')).status).to.equal(201);
      await s.restart({ settings: { owners: bob.did }, owner: bob });
    });

    it('Owner mode: the creator of a resource may read, replace, patch and delete it', async () => {
      expect((await byAlice('GET', 'hers')).status).to.equal(200);
      expect((await byAlice('GET', 'hers.meta')).status).to.equal(200);
      const turtle = { 'Content-Type': 'text/turtle', 'If-Match': '*' };
      expect((await byAlice('PUT', 'hers', turtle, '<> a <#D> .')).status).to.equal(204);
      const update = { 'Content-Type': 'application/sparql-update' };
      expect((await byAlice('PATCH', 'hers', update, 'INSERT DATA { <> a <#E> }')).status).to.equal(204);
      expect((await byAlice('DELETE', 'hers')).status).to.equal(204);
    });

    it('Owner mode: the creator of a container may append to it', async () => {
      expect((await byAlice('POST', 'alices/', { Slug: 'posted' }, 'x')).status).to.equal(201);
      expect((await byAlice('PUT', 'alices/put', {}, 'x')).status).to.equal(201);
      expect((await byAlice('GET', 'alices/put')).status).to.equal(200);
    });

    it('Owner mode: a creator has no access to resources of other creators', async () => {
      expectProblem(await byAlice('GET', 'his'), 404, s);
      expectProblem(await byAlice('DELETE', 'his'), 404, s);
      expectProblem(await byAlice('PUT', 'his', { 'If-Match': '*' }, 'x'), 404, s);
      expectProblem(await byAlice('POST', 'bobs/', {}, 'x'), 404, s);
      expectProblem(await byAlice('GET', ''), 404, s);
    });

    it('Owner mode, rule 2.8: an anonymous creation belongs to the owner of its parent', async () => {
      expect((await byAlice('GET', 'mixed/anybodys')).status).to.equal(200);
      expectProblem(await byAlice('GET', 'bobs/anybodys'), 404, s);
    });

    it('Owner mode: owners have full access to the resources of a creator', async () => {
      const { status } = await s.get(`${s.scratch}alices/hers`);
      expect(status).to.equal(200);
    });

    it('Container listing: it is filtered, and totalItems counts readable members', async () => {
      const answer = await byAlice('GET', 'mixed/', { Accept: 'application/lws+json' });
      const { items, totalItems } = JSON.parse(answer.text) as { items: { id: string }[]; totalItems: number };
      expect(items.map(({ id }) => id)).to.deep.equal([`${s.scratch}mixed/anybodys`, `${s.scratch}mixed/hers`]);
      expect(totalItems).to.equal(2);
      expect((await s.members(`${s.scratch}mixed/`)).length).to.equal(3);
    });

    for (const Accept of ['text/turtle', 'application/rdf+xml', 'application/ld+json'])
      it(`Container listing: it is filtered as ${Accept} too`, async () => {
        const { status, text } = await byAlice('GET', 'mixed/', { Accept });
        expect(status).to.equal(200);
        expect(text)
          .to.include('hers')
          .and.not.to.match(/\bhis\b/);
      });

    it('Container listing: an unreadable member does not change the ETag of the filtered view', async () => {
      const tag = async () => (await byAlice('GET', 'mixed/', { Accept: 'text/turtle' })).headers['etag'];
      const before = await tag();
      await s.stored('text/plain', 'x', `${s.scratch}mixed/secret`);
      expect(await tag()).to.equal(before);
      await s.delete(`${s.scratch}mixed/secret`);
    });

    it('a recursive deletion that an unreadable descendant forbids is 403 without names (rules 2.3, 4.5)', async () => {
      const answer = await byAlice('DELETE', 'mixed/', { Depth: 'infinity' });
      expectProblem(answer, 403, s);
      expect(answer.text).not.to.match(/\bhis\b/);
      for (const path of ['mixed/', 'mixed/hers', 'mixed/his'])
        expect((await s.get(s.scratch + path)).status).to.equal(200);
    });

    it('a recursive deletion of resources of one creator succeeds (rule 2.3)', async () => {
      expect((await byAlice('DELETE', 'alices/', { Depth: 'infinity' })).status).to.equal(204);
    });

    it('an unreadable existing name cannot be distinguished from a free one (rule 4.3)', async () => {
      const [taken, free] = [await byAlice('PUT', 'bobs/his', {}, 'x'), await byAlice('PUT', 'bobs/not', {}, 'x')];
      expectProblem(taken, 404, s);
      expect(free.status).to.equal(taken.status);
    });
  },
  { settings: { owners: `${alice.did},${bob.did}` }, owner: bob },
);
