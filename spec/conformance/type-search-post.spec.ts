/** Rule 13.4: search by POST. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked, listOf } from '../support/expectations.js';
import { putLinks } from '../support/linkset.js';
import {
  allItems,
  filterBody,
  idsOf,
  lwsJson,
  lwsQuery,
  pageOf,
  postFilter,
  queryFilter,
  searchFor,
  searchOf,
  uniqueIri,
} from '../support/search.js';

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `https://e.example/t${i}`);

describeStorage('Type search by POST', (s: StorageUnderTest) => {
  const [a, b, c, rel, target] = [uniqueIri('A'), uniqueIri('B'), uniqueIri('C'), uniqueIri('rel'), uniqueIri('t')];
  const iris: Record<string, string> = {};
  before(async () => {
    for (const name of ['a', 'b', 'c', 'ab', 'bc', 'abc']) {
      const types = [...name].map((letter) => `<> a <${{ a, b, c }[letter]}> .`).join('\n');
      const links = name.includes('b') ? `<#me> <${rel}> <${target}> .` : '';
      iris[name] = (await s.stored('text/turtle', `${types}\n${links}`)).iri;
      if (name.includes('c')) await putLinks(s, iris[name], { describedby: [{ href: target }] });
    }
  });

  const cases: readonly (readonly [
    what: string,
    filter: Readonly<Record<string, unknown>>,
    get: readonly (readonly [string, string])[],
    names: readonly string[],
  ])[] = [
    ['a single term', { type: [a] }, [['type', a]], ['a', 'ab', 'abc']],
    ['an inner array of one', { type: [[a]] }, [['type', a]], ['a', 'ab', 'abc']],
    [
      'the outer array is AND',
      { type: [a, b] },
      [
        ['type', a],
        ['type', b],
      ],
      ['ab', 'abc'],
    ],
    ['an inner array is OR', { type: [[a, b]] }, [['type', `${a},${b}`]], ['a', 'b', 'ab', 'bc', 'abc']],
    [
      '(a OR b) AND c',
      { type: [[a, b], c] },
      [
        ['type', `${a},${b}`],
        ['type', c],
      ],
      ['bc', 'abc'],
    ],
    ['an IRI as key', { [rel]: [target] }, [[rel, target]], ['b', 'ab', 'bc', 'abc']],
    ['a registered relation as key', { describedby: [target] }, [['describedby', target]], ['c', 'bc', 'abc']],
    [
      'several keys',
      { type: [[a, c]], [rel]: [[target, a]], describedby: [target] },
      [
        ['type', `${a},${c}`],
        [rel, `${target},${a}`],
        ['describedby', target],
      ],
      ['bc', 'abc'],
    ],
    ['an empty array is no constraint', { type: [a], describedby: [] }, [['type', a]], ['a', 'ab', 'abc']],
    [
      'a structural relation',
      { type: [a], up: [a] },
      [
        ['type', a],
        ['up', a],
      ],
      [],
    ],
    [
      'a relation that nothing has',
      { type: [a], license: [[a, b]] },
      [
        ['type', a],
        ['license', `${a},${b}`],
      ],
      [],
    ],
  ];
  for (const [what, filter, get, names] of cases)
    it(`${what}, with the same result by GET and QUERY (rule 13.4)`, async () => {
      const answer = await postFilter(s, filterBody(filter));
      expect(idsOf(answer)).to.have.members(names.map((name) => iris[name]!));
      expect(pageOf(answer)).to.include({ type: 'ContainerPage', totalItems: names.length });
      expect(pageOf(await s.get(searchFor(s, get)))).to.deep.equal(pageOf(answer));
      for (const type of [lwsQuery, lwsJson])
        expect(pageOf(await queryFilter(s, filterBody(filter), type)), type).to.deep.equal(pageOf(answer));
    });

  it('no key, or a key without constraint, returns every readable resource (rule 13.5)', async () => {
    for (const filter of [{}, { type: [] }]) {
      const answer = await postFilter(s, filterBody(filter));
      const ids = (await allItems(s, answer, searchOf(s))).map(({ id }) => id);
      expect(ids).to.include.members([s.root, s.scratch, iris['a']!]);
      expect(ids).to.deep.equal([...ids].sort());
    }
  });

  it('Cache-Control and Vary are those of GET (rule 13.1)', async () => {
    const answer = await postFilter(s, filterBody({ type: [a] }));
    expect(listOf(answer, 'cache-control')).to.have.members(['private', 'no-store']);
    expect(listOf(answer, 'vary')).to.include.members(['accept', 'authorization']);
    expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
  });

  it('parameters of the Content-Type are ignored (rule 13.4)', async () => {
    expect((await postFilter(s, filterBody({ type: [a] }), 'application/lws+json; charset=utf-8')).status).to.equal(
      200,
    );
  });

  for (const type of [
    'application/json',
    'application/ld+json',
    'text/turtle',
    'application/x-www-form-urlencoded',
    '',
  ])
    it(`a body of ${type || 'no Content-Type'} is 415 (rule 13.6)`, async () => {
      const headers: Record<string, string> = type ? { 'Content-Type': type } : {};
      expectProblem(await s.send('POST', searchOf(s), headers, filterBody({ type: [a] })), 415, s);
    });

  for (const [what, body] of [
    ['malformed JSON', '{"type":['],
    ['an empty body', ''],
    ['an array', '[]'],
    ['a string', '"type"'],
    ['null', 'null'],
    ['an empty inner group', filterBody({ type: [[]] })],
    ['an empty inner group after a good one', filterBody({ type: [[a], []] })],
    ['a relative IRI', filterBody({ type: ['Person'] })],
    ['a relative IRI in a group', filterBody({ type: [[a, '#Person']] })],
    ['an empty string', filterBody({ type: [''] })],
    ['a relative IRI as the value of a relation', filterBody({ describedby: ['x'] })],
    ['a number', filterBody({ type: [1] })],
    ['a number in a group', filterBody({ type: [[a, 1]] })],
    ['null as a term', filterBody({ type: [null] })],
    ['an object as a term', filterBody({ type: [{ '@id': a }] })],
    ['an object as a filter', filterBody({ type: { '@id': a } })],
    ['a number as a filter', filterBody({ type: 5 })],
    ['a string as a filter', filterBody({ type: a })],
    ['a string as the filter of a relation', filterBody({ describedby: a })],
    ['a group in a group', filterBody({ type: [[[a]]] })],
    ['JSON nested deeper than 64', `{"type":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['33 groups', filterBody({ type: many(33) })],
    ['33 groups of several keys', filterBody({ type: many(17), describedby: many(16) })],
    ['257 values', filterBody({ type: [many(257)] })],
    ['257 values in several groups', filterBody({ type: [many(200), many(57)] })],
  ] as const)
    it(`${what} is 400 (rule 13.6)`, async () => {
      expectProblem(await postFilter(s, body), 400, s);
    });

  it('32 groups and 256 values are accepted (rule 13.6)', async () => {
    for (const filter of [{ type: many(32) }, { type: many(16), describedby: many(16) }, { type: [many(256)] }])
      expect(pageOf(await postFilter(s, filterBody(filter))).totalItems).to.equal(0);
  });

  it('it is public, and a search changes nothing (rule 2.5)', async () => {
    const answer = await s.send(
      'POST',
      searchOf(s),
      { 'Content-Type': lwsJson },
      filterBody({ type: [a] }),
      'anonymous',
    );
    expect(pageOf(answer)).to.deep.include({ totalItems: 0, items: [] });
    expect((await s.get(s.scratch)).status).to.equal(200);
  });

  for (const key of ['__proto__', 'constructor', 'toString'])
    it(`a key "${key}" has no side effect (rule 13.5)`, async () => {
      const answer = await postFilter(s, `{"${key}":["${a}"],"type":["${a}"]}`);
      expect(answer.status, answer.text).to.be.oneOf([200, 400]);
      expect(idsOf(await postFilter(s, filterBody({ type: [a] })))).to.have.length(3);
    });
});
