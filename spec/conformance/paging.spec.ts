/** Rules 7.2, 8.1, 8.4, 9.1. */
import { expect } from 'chai';
import { describeStorage, lws } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { graphOf } from '../support/rdf.js';

const ids = ({ text }: Answer): string[] => (JSON.parse(text) as { items: { id: string }[] }).items.map(({ id }) => id);
const totalItems = ({ text }: Answer): number => (JSON.parse(text) as { totalItems: number }).totalItems;

describeStorage(
  'Paging',
  (s) => {
    let container = '';
    let names: string[] = [];
    const page = (answer: Answer, rel: string): string | undefined => {
      const [target] = linked(answer, rel);
      return target && new URL(target, container).href;
    };

    before(async () => {
      container = await s.container();
      names = [1, 2, 3, 4, 5, 6, 7].map((i) => `${container}m${i}`);
      for (const iri of names) await s.stored('text/plain', 'x', iri);
    });

    it('Paging: pages hold at most page-size members, in order, without duplicates, and totalItems counts all', async () => {
      const seen: string[] = [];
      for (const n of [1, 2, 3]) {
        const answer = await s.get(`${container}?page=${n}`);
        expect(answer.status).to.equal(200);
        expect(totalItems(answer)).to.equal(7);
        expect(ids(answer)).to.have.length(n < 3 ? 3 : 1);
        seen.push(...ids(answer));
      }
      expect(seen).to.deep.equal(names);
    });

    for (const [n, prev, next] of [
      [1, undefined, 2],
      [2, 1, 3],
      [3, 2, undefined],
    ] as const)
      it(`Paging: page ${n} links first, last, prev and next if they exist`, async () => {
        const answer = await s.get(`${container}?page=${n}`);
        const at = (number: number | undefined) => number && `${container}?page=${number}`;
        expect(page(answer, 'first')).to.equal(at(1));
        expect(page(answer, 'last')).to.equal(at(3));
        expect(page(answer, 'prev')).to.equal(at(prev));
        expect(page(answer, 'next')).to.equal(at(next));
      });

    it('Paging: without a number returns the first page with its links', async () => {
      const answer = await s.get(container);
      expect(ids(answer)).to.deep.equal(names.slice(0, 3));
      expect(totalItems(answer)).to.equal(7);
      expect(page(answer, 'next')).to.equal(`${container}?page=2`);
      expect(page(answer, 'first')).to.equal(`${container}?page=1`);
      expect(page(answer, 'last')).to.equal(`${container}?page=3`);
    });

    it('Paging: next links reach every member', async () => {
      const seen: string[] = [];
      for (let url: string | undefined = container, i = 0; url && i < 9; i++) {
        const answer: Answer = await s.get(url, { Accept: 'application/json' });
        seen.push(...ids(answer));
        url = page(answer, 'next');
      }
      expect(seen).to.deep.equal(names);
    });

    it('Paging: a container of page-size members is not paginated', async () => {
      const small = await s.container();
      for (const name of ['a', 'b', 'c']) await s.stored('text/plain', 'x', small + name);
      const answer = await s.get(small);
      expect(ids(answer)).to.have.length(3);
      expect(linked(answer, 'next')).to.deep.equal([]);
      await s.stored('text/plain', 'x', `${small}d`);
      expect(linked(await s.get(small), 'next')).to.have.length(1);
    });

    it('Conditional requests rule 5: the RDF form is the full listing, never paginated', async () => {
      const answer = await s.get(container, { Accept: 'text/turtle' });
      const items = (await graphOf(answer, container)).filter(({ predicate }) => predicate.value === `${lws}items`);
      expect(items.map(({ object }) => object.value)).to.have.members(names);
      expect(linked(answer, 'next')).to.deep.equal([]);
    });

    it('Conditional requests rule 5: each page has its own ETag', async () => {
      const urls = [container, `${container}?page=1`, `${container}?page=2`, `${container}?page=3`];
      const tags = await Promise.all(urls.map((url) => s.tag(url)));
      expect(new Set(tags).size).to.equal(4);
      expect((await s.get(`${container}?page=2`, { 'If-None-Match': tags[2]! })).status).to.equal(304);
      expect((await s.get(`${container}?page=3`, { 'If-None-Match': tags[2]! })).status).to.equal(200);
    });

    it('Conditional requests rule 5: the ETag of a page does not satisfy If-Match on the container', async () => {
      for (const n of [1, 2, 3]) {
        const tag = await s.tag(`${container}?page=${n}`);
        expectProblem(await s.delete(container, { Depth: 'infinity', 'If-Match': tag }), 412, s);
      }
      expect((await s.get(container)).status).to.equal(200);
    });

    for (const Accept of ['application/lws+json', 'application/json', 'text/turtle', 'application/rdf+xml'])
      it(`the ETag of the container without a page number as ${Accept} satisfies If-Match (rule 8.4)`, async () => {
        const other = await s.container();
        for (let i = 0; i < 4; i++) await s.stored('text/plain', 'x', `${other}m${i}`);
        const tag = await s.tag(other, { Accept });
        expect((await s.delete(other, { Depth: 'infinity', 'If-Match': tag })).status).to.equal(204);
      });

    it('Conditional requests rule 5: the ETag of a paginated container changes with a member on its last page', async () => {
      const other = await s.container();
      for (let i = 0; i < 7; i++) await s.stored('text/plain', 'x', `${other}m${i}`);
      const before = [await s.tag(other), await s.tag(other, { Accept: 'text/turtle' })];
      await s.delete(`${other}m6`);
      expect(await s.tag(other)).not.to.equal(before[0]);
      expect(await s.tag(other, { Accept: 'text/turtle' })).not.to.equal(before[1]);
    });

    it('Errors, rule 9.4: a page after the last is 404', async () => {
      for (const number of ['4', '9999999999', '9'.repeat(400)])
        for (const Accept of ['application/lws+json', 'text/turtle'])
          expectProblem(await s.get(`${container}?page=${number}`, { Accept }), 404, s);
    });

    it('Conditional requests 5: the ETag of a page as RDF never satisfies If-Match', async () => {
      const Accept = 'text/turtle';
      for (const number of [1, 2]) {
        const answer = await s.get(`${container}?page=${number}`, { Accept });
        const tag = answer.headers['etag']!;
        expect(tag).not.to.equal(await s.tag(container, { Accept }));
        expect((await s.get(`${container}?page=${number}`, { Accept, 'If-None-Match': tag })).status).to.equal(304);
        expectProblem(await s.post(container, 'text/plain', 'x', { 'If-Match': tag }), 412, s);
        expectProblem(await s.delete(container, { Depth: 'infinity', 'If-Match': tag }), 412, s);
      }
    });

    it('Storage root: a parameter name that only ends in "page" is ignored', async () => {
      const answer = await s.get(`${s.root}?spage=1`);
      expect(answer.headers['content-type']).to.match(/^application\/lws\+cid/);
    });

    it('Paging: HEAD has the links of GET', async () => {
      const url = `${container}?page=2`;
      expect((await s.head(url)).headers['link']).to.equal((await s.get(url)).headers['link']);
    });

    it('Storage root: the listing of the root is paginated too', async () => {
      for (let i = 0; i < 4; i++) await s.send('POST', s.root, { Slug: `page${i}/` });
      const answer = await s.get(`${s.root}?page=1`, { Accept: 'application/lws+json' });
      expect(ids(answer)).to.have.length(3);
      expect(linked(answer, 'next')).to.have.length(1);
    });
  },
  { settings: { 'container.page-size': '3' } },
);
