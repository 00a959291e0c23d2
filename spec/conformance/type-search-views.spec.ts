/** Rules 2.1, 2.7, 13.2: search results of each caller. */
import { expect } from 'chai';
import { describeStorage, lws, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import { credential, ed25519Identity, p256Identity } from '../support/identity.js';
import { clientPart, linksIn, metaOf, putLinks } from '../support/linkset.js';
import {
  type Filter,
  filterBody,
  found,
  indexed,
  indexOf,
  lwsJson,
  lwsQuery,
  pageOf,
  searchFor,
  searchOf,
  uniqueIri,
} from '../support/search.js';

const alice = ed25519Identity();
const bob = p256Identity();

describeStorage(
  'Type search, views',
  (s) => {
    const [shared, hers, his, key, target] = [1, 2, 3, 4, 5].map((i) => uniqueIri(`T${i}`)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const asAlice = (): Sender => ({ token: credential(alice, { aud: s.root.slice(0, -1) }) });
    const at = (path: string): string => s.scratch + path;

    /** Alice and Bob own the storage and create resources. Then Alice is removed as an owner. */
    before(async () => {
      const put = async (as: Sender | undefined, path: string, body?: string): Promise<void> => {
        const headers: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'text/turtle' };
        const answer = await s.send('PUT', at(path), headers, body, as);
        expect(answer.status, path).to.equal(201);
      };
      await put(undefined, 'box/');
      for (const path of ['h1', 'box/h2'])
        await put(asAlice(), path, `<> a <${shared}>, <${hers}> ; <${key}> <${target}> .`);
      for (const path of ['b1', 'box/b2', 'box/b3'])
        await put(undefined, path, `<> a <${shared}>, <${his}> ; <${key}> <${target}> .`);
      await s.restart({ settings: { owners: bob.did, 'search-index.page-size': '2' }, owner: bob });
    });

    const searches: readonly (readonly [string, Filter])[] = [
      ['a type', [['type', shared]]],
      ['a structural type', [['type', `${lws}DataResource`]]],
      ['a relation', [[key, target]]],
      ['no key', []],
    ];
    for (const [what, filter] of searches) {
      it(`by ${what} an owner finds every resource (rule 13.2)`, async () => {
        expect(await found(s, filter)).to.include.members(['h1', 'box/h2', 'b1', 'box/b2', 'box/b3'].map(at));
      });

      it(`by ${what} a creator finds only own resources, also in totalItems and pages (rule 13.2)`, async () => {
        expect(await found(s, filter, asAlice())).to.deep.equal([at('box/h2'), at('h1')]);
        const answer = await s.send('GET', searchFor(s, filter), {}, undefined, asAlice());
        expect(pageOf(answer).totalItems).to.equal(2);
        expect(linked(answer, 'next')).to.deep.equal([]);
        const second = `${searchFor(s, filter)}${filter.length > 0 ? '&' : '?'}page=2`;
        expectProblem(await s.send('GET', second, {}, undefined, asAlice()), 404, s);
      });

      it(`by ${what} unauthorized and anonymous callers find nothing (rule 13.2)`, async () => {
        for (const sender of ['anonymous', s.stranger] as const)
          expect(await found(s, filter, sender)).to.deep.equal([]);
      });
    }

    it('a creator finds nothing by values of other resources (rule 13.2)', async () => {
      expect(await found(s, [['type', his]], asAlice())).to.deep.equal([]);
      expect(await found(s, [['type', `${lws}Container`]], asAlice())).to.deep.equal([]);
      expect(await found(s, [['type', `${his},${hers}`]], asAlice())).to.have.length(2);
      expect(
        await found(
          s,
          [
            ['type', shared],
            ['type', his],
          ],
          asAlice(),
        ),
      ).to.deep.equal([]);
    });

    it('unreadable and nonexistent values get the same response (rule 13.2)', async () => {
      const send = (type: string) => s.send('GET', searchFor(s, [['type', type]]), {}, undefined, asAlice());
      const [hidden, absent] = [await send(his), await send(his.replace('T3', 'T9'))];
      expect(hidden.text).to.equal(absent.text);
      expect(hidden.headers['link']).to.equal(absent.headers['link']?.replaceAll('T9', 'T3'));
    });

    it('the index lists the types of readable resources (rule 13.2)', async () => {
      expect(await indexed(s)).to.include.members([shared, hers, his, `${lws}Container`, `${lws}DataResource`]);
      expect(await indexed(s, asAlice())).to.have.members([shared, hers, `${lws}DataResource`]);
      expect(pageOf(await s.send('GET', indexOf(s), {}, undefined, asAlice())).totalItems).to.equal(3);
      for (const sender of ['anonymous', s.stranger] as const) expect(await indexed(s, sender)).to.deep.equal([]);
    });

    it('POST and QUERY show the same view (rule 13.2)', async () => {
      for (const [method, type] of [
        ['POST', lwsJson],
        ['QUERY', lwsQuery],
      ] as const) {
        const send = (as: Sender) =>
          s.send(method, searchOf(s), { 'Content-Type': type }, filterBody({ type: [shared] }), as);
        const page = pageOf(await send(asAlice()));
        expect(page.totalItems).to.equal(2);
        expect(page.items.map(({ id }) => id)).to.deep.equal([at('box/h2'), at('h1')]);
        expect(pageOf(await send(s.stranger))).to.deep.include({ totalItems: 0, items: [] });
      }
    });

    it('a creator may write the linkset of own resources, and finds them by it (rule 2.8)', async () => {
      const type = uniqueIri();
      const headers = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
      const document = JSON.stringify({ linkset: [{ type: [{ href: type }], author: 'Alice' }] });
      const send = (path: string) => s.send('PUT', metaOf(at(path)), headers, document, asAlice());
      expect((await send('h1')).status).to.equal(204);
      expect(await found(s, [['type', type]], asAlice())).to.deep.equal([at('h1')]);
      expect(await clientPart(s, at('h1'))).to.include({ author: 'Alice' });
      expectProblem(await send('b1'), 404, s);
      expect(await clientPart(s, at('b1'))).to.not.have.property('author');
      const read = await s.send('GET', metaOf(at('h1')), {}, undefined, asAlice());
      expect(linksIn(read)).to.include({ author: 'Alice' });
    });

    it('metadata of an unreadable resource is not found (rule 13.2)', async () => {
      const [type, about] = [uniqueIri(), uniqueIri()];
      await putLinks(s, at('box/b2'), { type: [{ href: type }], describedby: [{ href: about }] });
      expect(await found(s, [['type', type]])).to.deep.equal([at('box/b2')]);
      expect(await found(s, [['type', type]], asAlice())).to.deep.equal([]);
      expect(await found(s, [['describedby', about]], asAlice())).to.deep.equal([]);
      expect(await indexed(s, asAlice())).not.to.include(type);
    });
  },
  { settings: { owners: `${alice.did},${bob.did}`, 'search-index.page-size': '2' }, owner: bob },
);

/** All of them may read every resource. */
function everybodyFinds(s: StorageUnderTest): void {
  it('with lws.public-read every caller finds every resource (rule 13.2)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    for (const sender of ['anonymous', s.stranger] as const) {
      expect(await found(s, [['type', type]], sender)).to.deep.equal([iri]);
      expect(await found(s, [['type', `${lws}Container`]], sender)).to.include.members([s.root, s.scratch]);
      expect(await indexed(s, sender)).to.include(type);
    }
  });

  it('when lws.public-read is disabled, only owners find them (rule 13.2)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    await s.restart({ settings: { 'public-read': 'false' } });
    expect(await found(s, [['type', type]])).to.deep.equal([iri]);
    for (const sender of ['anonymous', s.stranger] as const) {
      expect(await found(s, [['type', type]], sender)).to.deep.equal([]);
      expect(await indexed(s, sender)).to.deep.equal([]);
    }
    await s.restart({ settings: { 'public-read': 'true' } });
  });
}

describeStorage('Type search, public', everybodyFinds, { settings: { 'public-read': 'true' } });
