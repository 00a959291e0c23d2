/** Rule 13.1: pages of a search. */
import { expect } from 'chai';
import { describeStorage, lws } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import {
  allItems,
  type Filter,
  filterBody,
  idsOf,
  lwsJson,
  pageOf,
  postFilter,
  queryFilter,
  searchFor,
  searchOf,
  uniqueIri,
} from '../support/search.js';

const relations = ['first', 'prev', 'next', 'last'] as const;

describeStorage(
  'Type search, paged',
  (s) => {
    const type = uniqueIri('T#paged');
    const [key, target] = [uniqueIri('rel#x'), uniqueIri('t?a=b&c=d')];
    const filter: Filter = [
      ['type', `${type},${uniqueIri()}`],
      ['type', `${lws}DataResource`],
      [key, target],
    ];
    const body = filterBody({ type: [[type, uniqueIri()], `${lws}DataResource`], [key]: [target] });
    let iris: string[] = [];
    before(async () => {
      const container = await s.container();
      iris = [1, 2, 3, 4, 5, 6, 7].map((i) => `${container}m${i}`);
      for (const iri of iris) await s.stored('text/turtle', `<> a <${type}> ; <${key}> <${target}> .`, iri);
      await s.stored('text/turtle', `<> a <${type}> .`, `${container}x`);
    });

    const linkOf = (answer: Answer, rel: string, base = searchOf(s)): string | undefined => {
      const [uri] = linked(answer, rel);
      return uri && new URL(uri, base).href;
    };

    it('without a number it returns the first page, and totalItems counts all (rule 13.1)', async () => {
      const answer = await s.get(searchFor(s, filter));
      expect(idsOf(answer)).to.deep.equal(iris.slice(0, 3));
      expect(pageOf(answer).totalItems).to.equal(7);
      expect(linked(answer, 'next')).to.have.length(1);
    });

    it('next and prev links reach every match once, in order (rule 13.1)', async () => {
      const seen: string[] = [];
      const visited: string[] = [];
      let url: string | undefined = `${searchFor(s, filter)}&page=1`;
      for (let n = 1; url && n < 9; n++) {
        const answer: Answer = await s.get(url);
        expect(pageOf(answer).totalItems).to.equal(7);
        seen.push(...idsOf(answer));
        visited.push(url);
        url = linkOf(answer, 'next', url);
      }
      expect(seen).to.deep.equal(iris);
      expect(visited).to.have.length(3);
      const back = linkOf(await s.get(visited[2]!), 'prev');
      expect(idsOf(await s.get(back!))).to.deep.equal(iris.slice(3, 6));
    });

    for (const [n, present] of [
      [1, ['first', 'next', 'last']],
      [2, ['first', 'prev', 'next', 'last']],
      [3, ['first', 'prev', 'last']],
    ] as const)
      it(`page ${n} links ${present.join(', ')}, for the same filter (rule 13.1)`, async () => {
        const answer = await s.get(`${searchFor(s, filter)}&page=${n}`);
        expect(relations.filter((rel) => linked(answer, rel).length === 1)).to.deep.equal(present);
        expect(idsOf(await s.get(linkOf(answer, 'first')!))).to.deep.equal(iris.slice(0, 3));
        expect(idsOf(await s.get(linkOf(answer, 'last')!))).to.deep.equal(iris.slice(6));
      });

    it('first and last are linked for one page and for an empty result (rule 13.1)', async () => {
      for (const one of [
        [
          [key, `${target},${iris[0]}`],
          ['type', uniqueIri()],
        ],
        [['type', uniqueIri()]],
      ] as Filter[]) {
        const answer = await s.get(searchFor(s, one));
        expect(pageOf(answer).totalItems).to.equal(0);
        expect(relations.filter((rel) => linked(answer, rel).length === 1)).to.deep.equal(['first', 'last']);
        for (const rel of ['first', 'last']) expect((await s.get(linkOf(answer, rel)!)).status).to.equal(200);
      }
    });

    for (const page of ['0', '-1', '1.5', 'x', '', '1e3', '4', '999999999', '99999999999999999999999'])
      it(`?page=${page}, invalid or after the last, is 404 (rule 13.1)`, async () => {
        expectProblem(await s.get(`${searchFor(s, filter)}&page=${page}`), 404, s);
      });

    it('page 2 of an empty result is 404 (rule 13.1)', async () => {
      expectProblem(await s.get(`${searchFor(s, [['type', uniqueIri()]])}&page=2`), 404, s);
    });

    for (const [method, send] of [
      ['POST', () => postFilter(s, body)],
      ['QUERY', () => queryFilter(s, body)],
      ['QUERY with application/lws+json', () => queryFilter(s, body, lwsJson)],
    ] as const)
      it(`the page links of a ${method} are GET links with the same items (rule 13.1)`, async () => {
        const answer = await send();
        expect(idsOf(answer)).to.deep.equal(iris.slice(0, 3));
        expect(relations.filter((rel) => linked(answer, rel).length === 1)).to.deep.equal(['first', 'next', 'last']);
        expect((await allItems(s, answer, searchOf(s))).map(({ id }) => id)).to.deep.equal(iris);
        expect(pageOf(await s.get(linkOf(answer, 'first')!))).to.deep.equal(pageOf(answer));
        expect(idsOf(await s.get(linkOf(answer, 'last')!))).to.deep.equal(iris.slice(6));
      });

    it('the page links of a QUERY without keys return every resource (rule 13.1)', async () => {
      const all = (await allItems(s, await queryFilter(s, '{}'), searchOf(s))).map(({ id }) => id);
      expect(all).to.include.members([s.root, s.scratch, ...iris]);
      expect(all).to.deep.equal([...new Set(all)].sort());
    });

    const filler = (count: number): string[] => Array.from({ length: count }, (_, i) => `https://v.example/t${i}`);

    it('the page links of a POST with many values return the same items (rule 13.1)', async () => {
      const answer = await postFilter(s, filterBody({ type: [[type, ...filler(60)]], [key]: [target] }));
      expect((await allItems(s, answer, searchOf(s))).map(({ id }) => id)).to.deep.equal(iris);
    });

    // A link with 256 values may exceed the maximum length of a header field, so it may be omitted.
    it('the page links of a POST with 256 values, if present, work (rule 13.1)', async () => {
      const answer = await postFilter(s, filterBody({ type: [[type, ...filler(254)]], [key]: [target] }));
      expect(idsOf(answer)).to.deep.equal(iris.slice(0, 3));
      expect(pageOf(answer).totalItems).to.equal(7);
      for (const rel of relations)
        for (const uri of linked(answer, rel))
          expect(pageOf(await s.get(new URL(uri, searchOf(s)).href)).totalItems, rel).to.equal(7);
    });

    // A comma is OR in a GET unless the client escapes it.
    it('a POST finds an IRI with a comma, and its page links return the same (rule 13.1)', async () => {
      const comma = uniqueIri('a,b');
      const container = await s.container();
      for (const name of ['1', '2', '3', '4']) await s.stored('text/turtle', `<> a <${comma}> .`, container + name);
      const answer = await postFilter(s, filterBody({ type: [comma] }));
      expect(pageOf(answer)).to.include({ totalItems: 4 });
      expect(idsOf(answer)).to.deep.equal(['1', '2', '3'].map((name) => container + name));
      for (const rel of relations)
        for (const uri of linked(answer, rel))
          expect(pageOf(await s.get(new URL(uri, searchOf(s)).href)).totalItems, rel).to.equal(4);
    });
  },
  { settings: { 'search-index.page-size': '3' } },
);

describeStorage(
  'Type search, default page size',
  (s) => {
    it('lws.search-index.page-size is 100 (rule 13.1)', async () => {
      const type = uniqueIri();
      const iris = Array.from({ length: 101 }, (_, i) => `${s.scratch}n${i}`);
      for (const iri of iris) await s.stored('text/turtle', `<> a <${type}> .`, iri);
      const answer = await s.get(searchFor(s, [['type', type]]));
      expect(idsOf(answer)).to.deep.equal(iris.sort().slice(0, 100));
      expect((await allItems(s, answer, searchOf(s))).map(({ id }) => id)).to.deep.equal(iris);
    });
  },
  { settings: {} },
);
