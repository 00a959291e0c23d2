/** Rule 9.1. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { graphOf, mediaType, rdfTypes } from '../support/rdf.js';

interface Item {
  readonly id: string;
  readonly type: string | string[];
  readonly format?: string;
  readonly size?: number;
  readonly modified: string;
}
interface Listing {
  readonly id: string;
  readonly type: string | string[];
  readonly totalItems: number;
  readonly items: Item[];
}
const listing = ({ text }: Answer): Listing => JSON.parse(text) as Listing;
const first = (type: string | string[]): string => [type].flat()[0]!;

/** A container with one member of each kind. */
async function filled(s: StorageUnderTest): Promise<string> {
  const container = await s.container();
  await s.stored('text/plain; charset=utf-8', 'hällo', `${container}b.txt`);
  await s.stored('application/json', '{"a":1}', `${container}a.json`);
  await s.stored('text/turtle', '<> a <#C> .', `${container}Z`);
  await s.container(`${container}sub/`);
  return container;
}

describeStorage(
  'Container listing',
  (s) => {
    it('Container listing: it is application/lws+json by default, with context, id, type and totalItems', async () => {
      const container = await filled(s);
      const answer = await s.get(container);
      expect(mediaType(answer)).to.equal('application/lws+json');
      const document = JSON.parse(answer.text) as Record<string, unknown>;
      expect(document).to.include({ '@context': 'https://www.w3.org/ns/lws/v1', id: container, totalItems: 4 });
      expect(first(listing(answer).type)).to.equal('Container');
    });

    it('Container listing, rule 9.1: items are ordered by IRI', async () => {
      const container = await filled(s);
      const ids = listing(await s.get(container)).items.map(({ id }) => id);
      expect(ids).to.deep.equal(['Z', 'a.json', 'b.txt', 'sub/'].map((name) => container + name));
    });

    it('Container listing, rule 9.1: an item has type, format, size and modified', async () => {
      const container = await filled(s);
      const items = new Map(
        listing(await s.get(container)).items.map((item) => [item.id.slice(container.length), item]),
      );
      const turtle = await s.get(`${container}Z`, { Accept: 'text/turtle' });
      expect(items.get('a.json')).to.include({ format: 'application/json', size: 7 });
      expect(items.get('b.txt')!.format).to.match(/^text\/plain(?:; ?charset="?utf-8"?)?$/i);
      expect(items.get('b.txt')!.size).to.equal(6);
      expect(items.get('Z')).to.include({ format: 'text/turtle', size: turtle.bytes.length });
      for (const name of ['a.json', 'b.txt', 'Z']) expect(first(items.get(name)!.type), name).to.equal('DataResource');
      for (const { modified } of items.values()) {
        expect(modified).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
        expect(Math.abs(Date.parse(modified) - Date.now())).to.be.below(60_000);
      }
    });

    it('Container listing, rule 9.1: a container has no format and no size', async () => {
      const container = await filled(s);
      const item = listing(await s.get(container)).items.find(({ id }) => id.endsWith('sub/'))!;
      expect(first(item.type)).to.equal('Container');
      expect(item).not.to.have.any.keys('format', 'size');
    });

    it('Container listing: an empty container has no items', async () => {
      expect(listing(await s.get(await s.container()))).to.deep.include({ totalItems: 0, items: [] });
    });

    it('Container listing: only direct members are listed', async () => {
      const container = await filled(s);
      await s.stored('text/plain', 'x', `${container}sub/deep`);
      expect(listing(await s.get(container)).totalItems).to.equal(4);
      expect(await s.members(`${container}sub/`)).to.deep.equal([`${container}sub/deep`]);
    });

    it('Container listing: size and modified reflect a replacement', async () => {
      const container = await filled(s);
      await s.get(container);
      await s.put(`${container}b.txt`, 'text/markdown', 'longer than before', { 'If-Match': '*' });
      const item = listing(await s.get(container)).items.find(({ id }) => id.endsWith('b.txt'));
      expect(item).to.include({ format: 'text/markdown', size: 18 });
    });

    it('Container listing: size reflects a patch', async () => {
      const container = await filled(s);
      await s.get(container);
      await s.patch(`${container}Z`, 'application/sparql-update', 'INSERT DATA { <> <http://e.example/p> "more" }');
      const size = (await s.get(`${container}Z`)).bytes.length;
      expect(listing(await s.get(container)).items.find(({ id }) => id.endsWith('Z'))!.size).to.equal(size);
    });

    it('size is that of the default Turtle after every small change (rule 9.1)', async () => {
      const container = await s.container();
      const lines = Array.from({ length: 40 }, (_, i) => `<#s${i % 4}> <#p${i % 3}> "${i}" .`).join('');
      const { iri } = await s.stored(
        'text/turtle',
        `@prefix e: <http://e.example/> . [] e:has [ e:p () ] . ${lines}`,
        `${container}g`,
      );
      for (const update of [
        'INSERT DATA { <#s1> <#p1> "é\\n", <#it>, <http://e.example/x> ; a <#T> . <#new> <#p0> 1, 2.5, "x"@en }',
        'DELETE DATA { <#new> <#p0> 1 . <#s1> <#p1> "1" }',
        'DELETE DATA { <#new> <#p0> 2.5, "x"@en }',
        'INSERT DATA { <#s1> <#p1> _:b . _:b <#p> 1 }',
        'PREFIX f: <http://f.example/> INSERT DATA { <#s1> f:p1 f:x }',
        'DELETE DATA { <#s1> <http://f.example/p1> <http://f.example/x> }',
      ]) {
        expect((await s.patch(iri, 'application/sparql-update', update)).status, update).to.equal(204);
        const { size } = listing(await s.get(container)).items[0]!;
        expect(size, update).to.equal((await s.get(iri, { Accept: 'text/turtle' })).bytes.length);
      }
    });

    for (const Accept of ['application/ld+json', 'application/json'])
      it(`Resource endpoints, GET of a container: ${Accept} returns the same document with that type`, async () => {
        const container = await filled(s);
        const answer = await s.get(container, { Accept });
        expect(answer.headers['content-type']).to.equal(Accept);
        expect(listing(answer)).to.deep.equal(listing(await s.get(container)));
      });

    it('application/ld+json with any profile is JSON-LD, on containers and resources (rule 7.1)', async () => {
      const container = await filled(s);
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      for (const profile of ['http://www.w3.org/ns/json-ld#compacted', 'https://www.w3.org/ns/lws/v1', 'x'])
        for (const target of [container, iri]) {
          const answer = await s.get(target, { Accept: `application/ld+json; profile="${profile}", text/html;q=0.9` });
          expect(mediaType(answer), `${profile} of ${target}`).to.equal('application/ld+json');
          expect(answer.headers['content-type']).to.be.oneOf([
            'application/ld+json',
            'application/ld+json; profile="https://www.w3.org/ns/lws/v1"',
          ]);
        }
    });

    it('application/ld+json with the LWS profile equals application/lws+json (rule 7.1)', async () => {
      const container = await filled(s);
      const answer = await s.get(container, { Accept: 'application/ld+json; profile="https://www.w3.org/ns/lws/v1"' });
      expect(mediaType(answer)).to.be.oneOf(['application/ld+json', 'application/lws+json']);
      expect(listing(answer)).to.deep.equal(listing(await s.get(container)));
    });

    for (const Accept of rdfTypes.filter((type) => type !== 'application/ld+json'))
      it(`Container listing, rule 9.2: the ${Accept} form has the same content`, async () => {
        const container = await filled(s);
        const answer = await s.get(container, { Accept });
        expect(mediaType(answer)).to.equal(Accept);
        const quads = await graphOf(answer, container);
        const values = (subject: string, predicate: string): string[] =>
          quads
            .filter((q) => q.subject.value === subject && q.predicate.value === predicate)
            .map(({ object }) => object.value);
        const names = ['Z', 'a.json', 'b.txt', 'sub/'].map((name) => container + name);
        expect(values(container, `${lws}items`)).to.have.members(names);
        expect(values(container, `${lws}totalItems`)).to.deep.equal(['4']);
        expect(values(container, 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type')).to.include(`${lws}Container`);
        expect(values(names[1]!, 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type')).to.include(`${lws}DataResource`);
        expect(values(names[1]!, 'http://purl.org/dc/terms/format')).to.deep.equal(['application/json']);
        expect(values(names[1]!, 'http://schema.org/size')).to.deep.equal(['7']);
        expect(values(names[1]!, 'http://purl.org/dc/terms/modified')[0]).to.match(/^\d{4}-\d\d-\d\dT/);
      });

    it('Content negotiation, rule 7.1: an unsupported Accept returns application/lws+json, never 406', async () => {
      const answer = await s.get(s.scratch, { Accept: 'image/png' });
      expect([answer.status, mediaType(answer)]).to.deep.equal([200, 'application/lws+json']);
    });

    for (const page of ['0', '-1', '1.5', 'x', '', '%31x', '1e3', '+1'])
      it(`?page=${page} is not a positive integer: 400 (rule 9.4)`, async () => {
        expectProblem(await s.get(`${s.scratch}?page=${page}`), 400, s);
      });

    for (const page of ['2', '999999999', '99999999999999999999999'])
      it(`?page=${page} is after the last page: 4xx (rule 9.4)`, async () => {
        await s.stored('text/plain', 'x');
        expectProblem(await s.get(`${s.scratch}?page=${page}`), page.length > 9 ? [400, 404] : 404, s);
      });
  },
  { isOverHttp2: true },
);
