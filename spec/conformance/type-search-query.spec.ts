/** Rule 13.4: search by QUERY. Its results are compared with those of POST in type-search-post.spec.ts. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked, listOf } from '../support/expectations.js';
import {
  filterBody,
  idsOf,
  lwsContext,
  lwsJson,
  lwsQuery,
  pageOf,
  queryFilter,
  searchOf,
  uniqueIri,
} from '../support/search.js';

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `https://e.example/t${i}`);

describeStorage('Type search by QUERY', (s: StorageUnderTest) => {
  const type = uniqueIri();
  let iri = '';
  before(async () => {
    iri = (await s.stored('text/turtle', `<> a <${type}> .`)).iri;
  });

  for (const format of [lwsQuery, lwsJson, `${lwsQuery}; charset=utf-8`])
    it(`QUERY with ${format} (rule 13.4)`, async () => {
      const answer = await queryFilter(s, filterBody({ type: [type] }), format);
      expect(idsOf(answer)).to.deep.equal([iri]);
      expect(listOf(answer, 'cache-control')).to.have.members(['private', 'no-store']);
      expect(listOf(answer, 'vary')).to.include.members(['accept', 'authorization']);
      expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
    });

  for (const extra of [{ '@id': 'x' }, { '@context': { a: 'b' } }, { '@type': 5, '@anything': [[]] }, {}])
    it(`keys that begin with @ are ignored: ${JSON.stringify(extra)} (rule 13.5)`, async () => {
      expect(idsOf(await queryFilter(s, JSON.stringify({ ...extra, type: [type] })))).to.deep.equal([iri]);
    });

  for (const [what, filter] of [
    ['33 groups', { type: many(33) }],
    ['33 groups of several keys', { type: many(17), describedby: many(16) }],
    ['257 values', { type: [many(257)] }],
    ['257 values in several groups', { type: [many(200), many(57)] }],
  ] as const)
    it(`${what} are 422 (rule 13.6)`, async () => {
      expectProblem(await queryFilter(s, filterBody(filter)), 422, s);
    });

  it('32 groups and 256 values are accepted (rule 13.6)', async () => {
    for (const filter of [{ type: many(32) }, { type: [many(256)] }])
      expect((await queryFilter(s, filterBody(filter))).status).to.equal(200);
  });

  for (const [what, body] of [
    ['malformed JSON', '{'],
    ['an empty body', ''],
    ['an array', '[]'],
    ['an empty inner group', filterBody({ type: [[]] })],
    ['a relative IRI', filterBody({ type: ['Person'] })],
    ['a number', filterBody({ type: [1] })],
    ['a string as a filter', filterBody({ type })],
    ['a group in a group', filterBody({ type: [[[type]]] })],
  ] as const)
    it(`${what} is 400 (rule 13.6)`, async () => {
      expectProblem(await queryFilter(s, body), 400, s);
    });

  it('a QUERY without Content-Type is 400 (rule 13.6)', async () => {
    expectProblem(await s.send('QUERY', searchOf(s), {}, filterBody({ type: [type] })), 400, s);
  });

  for (const format of ['application/json', 'application/ld+json', 'text/turtle', 'application/sparql-query'])
    it(`a QUERY with ${format} is 415 with Accept-Query (rule 13.6)`, async () => {
      const answer = await queryFilter(s, filterBody({ type: [type] }), format);
      expectProblem(answer, 415, s);
      expect(answer.headers['accept-query']).to.include('application/lws-query+json');
    });

  it('a QUERY with an unsupported Accept is 406 (rules 7.1, 13.4)', async () => {
    for (const Accept of ['text/html', 'image/png', 'application/lws+json;q=0, text/html']) {
      const headers = { 'Content-Type': lwsQuery, Accept };
      expectProblem(await s.send('QUERY', searchOf(s), headers, filterBody({ type: [type] })), 406, s);
    }
    for (const Accept of ['*/*', 'application/*', 'application/lws+json', 'text/html, */*;q=0.1']) {
      const headers = { 'Content-Type': lwsQuery, Accept };
      const answer = await s.send('QUERY', searchOf(s), headers, filterBody({ type: [type] }));
      expect(answer.status, Accept).to.equal(200);
    }
  });

  it('it is public, but an invalid credential is 401 (rule 2.5)', async () => {
    const send = (sender: 'anonymous' | { token: string }) =>
      s.send('QUERY', searchOf(s), { 'Content-Type': lwsQuery }, filterBody({ type: [type] }), sender);
    for (const sender of ['anonymous', s.stranger] as const)
      expect(pageOf(await send(sender))).to.deep.include({ totalItems: 0, items: [] });
    expectChallenge(await send({ token: 'a.b.c' }), s, 'invalid_token');
  });

  it('it is a ContainerPage (rule 13.3)', async () => {
    const page = pageOf(await queryFilter(s, filterBody({ type: [type] })));
    expect([page['@context']].flat()).to.include(lwsContext);
    expect(page).to.include({ type: 'ContainerPage', totalItems: 1 });
  });
});
