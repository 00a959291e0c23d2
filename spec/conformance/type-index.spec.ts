/** Rules 13.3, 13.4: the type index. */
import { expect } from 'chai';
import { describeStorage, lws } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked, listOf } from '../support/expectations.js';
import { putLinks } from '../support/linkset.js';
import { mediaType } from '../support/rdf.js';
import { allItems, indexed, indexOf, lwsContext, lwsJson, pageOf, searchOf, uniqueIri } from '../support/search.js';

const update = 'application/sparql-update';
const structural = [`${lws}Container`, `${lws}DataResource`];

describeStorage('Type index', (s) => {
  it('it has context, type, totalItems and items of ids (rule 13.3)', async () => {
    await s.stored('text/plain', 'x');
    const answer = await s.get(indexOf(s));
    const page = pageOf(answer);
    expect([page['@context']].flat()).to.include(lwsContext);
    expect(page.type).to.equal('TypeIndex');
    expect(page.totalItems).to.be.a('number').and.at.least(2);
    for (const item of page.items) expect(item.id).to.match(/^[a-z][a-z0-9+.-]*:/i);
  });

  it('Content-Type, Cache-Control and Vary (rule 13.1)', async () => {
    const answer = await s.get(indexOf(s));
    expect(mediaType(answer)).to.equal(lwsJson);
    expect(listOf(answer, 'cache-control')).to.have.members(['private', 'no-store']);
    expect(listOf(answer, 'vary')).to.include.members(['accept', 'authorization']);
    expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
  });

  it('it lists the structural types (rules 1.1, 13.3)', async () => {
    await s.stored('text/plain', 'x');
    expect(await indexed(s)).to.include.members(structural);
  });

  it('types are listed once, for any number of resources and sources (rule 13.3)', async () => {
    const type = uniqueIri();
    for (let i = 0; i < 3; i++) {
      const { iri } = await s.stored('text/turtle', `<> a <${type}> . <#me> a <${type}> .`);
      await putLinks(s, iri, { type: [{ href: type }] });
    }
    expect((await indexed(s)).filter((each) => each === type)).to.deep.equal([type]);
  });

  it('types come from the representation, its fragments and the linkset (rule 1.2)', async () => {
    const [own, fragment, other, blank, declared] = [1, 2, 3, 4, 5].map(() => uniqueIri());
    const { iri } = await s.stored(
      'text/turtle',
      `<> a <${own}> . <#me> a <${fragment}> . <http://elsewhere.example/> a <${other}> . [] a <${blank}> .`,
    );
    await putLinks(s, iri, { type: [{ href: declared! }] });
    const types = await indexed(s);
    expect(types).to.include.members([own, fragment, declared]);
    expect(types).not.to.include(other).and.not.to.include(blank);
  });

  it('it follows writes: a type is listed while a resource has it (rule 13.7)', async () => {
    const [type, second] = [uniqueIri(), uniqueIri()];
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    expect(await indexed(s)).to.include(type);
    await s.patch(iri, update, `DELETE DATA { <> a <${type}> } ; INSERT DATA { <> a <${second}> }`);
    expect(await indexed(s))
      .to.include(second)
      .and.not.to.include(type);
    await s.put(iri, 'text/plain', 'x', { 'If-Match': '*' });
    expect(await indexed(s)).not.to.include(second);
    await putLinks(s, iri, { type: [{ href: type }] });
    expect(await indexed(s)).to.include(type);
    await s.delete(iri);
    expect(await indexed(s)).not.to.include(type);
  });

  it('a type remains while another resource has it (rule 13.7)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    await s.stored('text/turtle', `<#x> a <${type}> .`);
    await s.delete(iri);
    expect(await indexed(s)).to.include(type);
  });

  it('cannot be filled by one resource: more than 10 000 types of one resource are rejected', async () => {
    const typed = (count: number): string =>
      Array.from({ length: count }, (_, i) => `<#${i}> a <${`urn:many:${i}`}> .`).join('\n');
    const iri = s.fresh();
    const before = pageOf(await s.get(indexOf(s))).totalItems;
    const answer = await s.put(iri, 'text/turtle', typed(10_000));
    expectProblem(answer, 400, s);
    expect(answer.text).to.contain('10000');
    expect((await s.get(iri)).status).to.equal(404);
    expect(pageOf(await s.get(indexOf(s))).totalItems).to.equal(before);
    await s.stored('text/turtle', typed(2_000), iri);
    expectProblem(await s.patch(iri, update, `INSERT DATA { ${typed(10_000)} }`), 400, s);
    expect(pageOf(await s.get(indexOf(s))).totalItems).to.equal(before! + 2_000);
    await s.delete(iri);
  });

  it('it is public and shows types of readable resources (rule 2.5)', async () => {
    const type = uniqueIri();
    await s.stored('text/turtle', `<> a <${type}> .`);
    for (const sender of ['anonymous', s.stranger] as const) {
      const page = pageOf(await s.send('GET', indexOf(s), {}, undefined, sender));
      expect([page.totalItems, page.items]).to.deep.equal([0, []]);
    }
  });

  it('an invalid credential is 401 (rule 4.6)', async () => {
    const wrong = { token: 'a.b.c' };
    for (const iri of [indexOf(s), searchOf(s)])
      expectChallenge(await s.send('GET', iri, {}, undefined, wrong), s, 'invalid_token');
  });

  it('a single page links first and last, but not prev and next (rule 13.1)', async () => {
    const answer = await s.send('GET', indexOf(s), {}, undefined, 'anonymous');
    expect(linked(answer, 'first').concat(linked(answer, 'last'))).to.have.length(2);
    expect(linked(answer, 'prev').concat(linked(answer, 'next'))).to.deep.equal([]);
  });

  it('OPTIONS is 204 with Allow, and other methods are 405 with Allow (rule 6.21)', async () => {
    const options = await s.options(indexOf(s));
    expect(options.status).to.equal(204);
    expect(listOf(options, 'allow')).to.include.members(['get', 'options']);
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const answer = await s.send(method, indexOf(s));
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow'), method).to.include('get').and.not.to.include(method.toLowerCase());
    }
  });

  it('PUT at its path is 409 (rule 1.3)', async () => {
    expectProblem(await s.put(indexOf(s), 'text/plain', 'x'), 409, s);
  });

  for (const page of ['0', '-1', '1.5', 'x', '', '999999999', '99999999999999999999999'])
    it(`?page=${page} is 404 (rule 13.1)`, async () => {
      expectProblem(await s.get(`${indexOf(s)}?page=${page}`), 404, s);
    });
});

describeStorage(
  'Type index, paged',
  (s) => {
    it('its pages contain every type once, and totalItems counts all (rule 13.1)', async () => {
      const types = [1, 2, 3, 4, 5].map(() => uniqueIri());
      await s.stored('text/turtle', types.map((type) => `<> a <${type}> .`).join('\n'));
      const expected = [...structural, ...types];
      const at = `${indexOf(s)}?page=1`;
      const first = await s.get(at);
      expect(pageOf(first)).to.deep.include({ totalItems: 7 });
      expect((await allItems(s, first, at)).map(({ id }) => id)).to.have.members(expected);
      expect((await indexed(s)).sort()).to.deep.equal(expected.sort());
      for (const [page, size, relations] of [
        [1, 3, ['first', 'last', 'next']],
        [2, 3, ['first', 'last', 'prev', 'next']],
        [3, 1, ['first', 'last', 'prev']],
      ] as const) {
        const answer = await s.get(`${indexOf(s)}?page=${page}`);
        expect([pageOf(answer).items.length, pageOf(answer).totalItems]).to.deep.equal([size, 7]);
        const present = ['first', 'last', 'prev', 'next'].filter((rel) => linked(answer, rel).length === 1);
        expect(present, `page ${page}`).to.have.members([...relations]);
      }
      expectProblem(await s.get(`${indexOf(s)}?page=4`), 404, s);
    });

    it('empty pages do not exist, except the first (rule 13.1)', async () => {
      expect((await s.send('GET', `${indexOf(s)}?page=1`, {}, undefined, 'anonymous')).status).to.equal(200);
      expectProblem(await s.send('GET', `${indexOf(s)}?page=2`, {}, undefined, 'anonymous'), 404, s);
    });
  },
  { settings: { 'search-index.page-size': '3' } },
);

describeStorage(
  'Type index disabled',
  (s) => {
    it('with lws.search-index.enabled=false both endpoints are absent (rule 12.5)', async () => {
      for (const iri of [indexOf(s), searchOf(s)])
        for (const method of ['GET', 'HEAD', 'POST', 'QUERY']) {
          const headers: Record<string, string> = method === 'POST' ? { 'Content-Type': lwsJson } : {};
          const answer = await s.send(method, iri, headers, method === 'POST' ? '{}' : undefined);
          expect(answer.status, `${method} ${iri}`).to.equal(404);
        }
    });

    it('neither they nor the capability are advertised (rule 12.5)', async () => {
      const { text } = await s.get(`${s.root}.lws/storage-description`);
      for (const name of ['TypeIndexService', 'TypeSearchService', 'lws10-index', 'type-index', 'type-search'])
        expect(text).not.to.include(name);
      expect(text).to.include('lws10-core').and.to.include('StorageRoot');
    });

    it('metadata is not affected (rule 12.5)', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      expect((await putLinks(s, iri, { type: [{ href: uniqueIri() }] })).status).to.equal(204);
    });
  },
  { settings: { 'search-index.enabled': 'false' } },
);
