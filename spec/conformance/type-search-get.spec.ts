/** Rules 13.1, 13.3: search by GET. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked, listOf } from '../support/expectations.js';
import { putLinks } from '../support/linkset.js';
import { mediaType } from '../support/rdf.js';
import { found, lwsContext, lwsJson, pageOf, searchFor, searchOf, uniqueIri } from '../support/search.js';

const turtle = (s: StorageUnderTest, text: string, iri?: string): Promise<string> =>
  s.stored('text/turtle', text, iri).then((stored) => stored.iri);

function results(s: StorageUnderTest): void {
  it('it is a ContainerPage of the matches (rule 13.3)', async () => {
    const type = uniqueIri();
    const iri = await turtle(s, `<> a <${type}> .`);
    const answer = await s.get(searchFor(s, [['type', type]]));
    const page = pageOf(answer);
    expect([page['@context']].flat()).to.include(lwsContext);
    expect(page).to.include({ type: 'ContainerPage', totalItems: 1 });
    expect(page.items.map(({ id }) => id)).to.deep.equal([iri]);
  });

  it('Content-Type, Cache-Control and Vary (rule 13.1)', async () => {
    const answer = await s.get(searchFor(s, [['type', uniqueIri()]]));
    expect([answer.status, mediaType(answer)]).to.deep.equal([200, lwsJson]);
    expect(listOf(answer, 'cache-control')).to.have.members(['private', 'no-store']);
    expect(listOf(answer, 'vary')).to.include.members(['accept', 'authorization']);
    expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
  });

  it('an item shows every type of rule 1.2: declared ones and those of its own RDF (rule 13.3)', async () => {
    const [own, fragment, declared, foreign] = [uniqueIri(), uniqueIri(), uniqueIri(), uniqueIri()];
    const iri = await turtle(s, `<> a <${own}> . <#it> a <${fragment}> . <http://other.example/> a <${foreign}> .`);
    await putLinks(s, iri, { type: [{ href: declared }] });
    for (const type of [own, fragment, declared]) {
      const [item] = pageOf(await s.get(searchFor(s, [['type', type]]))).items as unknown as { type: string[] }[];
      expect(item!.type[0]).to.equal('DataResource');
      expect(item!.type.slice(1)).to.have.members([own, fragment, declared]);
    }
  });

  it('an item has the description of its container listing (rule 13.3)', async () => {
    const type = uniqueIri();
    const container = await s.container();
    await s.stored('text/plain', 'hällo', `${container}text`);
    await s.stored('application/json', '{"a":1}', `${container}json`);
    await turtle(s, '<#me> <#p> "x" .', `${container}rdf`);
    await s.container(`${container}sub/`);
    for (const name of ['text', 'json', 'rdf', 'sub/']) await putLinks(s, container + name, { type: [{ href: type }] });
    const listing = await s.get(container, { Accept: lwsJson });
    const { items } = JSON.parse(listing.text) as { items: Record<string, unknown>[] };
    const results = pageOf(await s.get(searchFor(s, [['type', type]]))).items;
    expect(results).to.have.length(4);
    for (const [i, { id, format, size, modified, type: types }] of results.entries()) {
      expect({ id, format, size, modified }).to.deep.equal({
        id: items[i]!['id'],
        format: items[i]!['format'],
        size: items[i]!['size'],
        modified: items[i]!['modified'],
      });
      const short = id.endsWith('/') ? 'Container' : 'DataResource';
      expect([types].flat()[0]).to.be.oneOf([short, lws + short]);
    }
  });

  it('items are ordered by IRI (rule 13.3)', async () => {
    const type = uniqueIri();
    const container = await s.container();
    const names = ['b', 'Z', 'a', 'a-b', 'a.b', 'sub/', 'sub-x', '10', '9', 'é'].map(encodeURI);
    for (const name of names) {
      if (name.endsWith('/')) await s.container(container + name);
      else await s.stored('text/plain', 'x', container + name);
      await putLinks(s, container + name, { type: [{ href: type }] });
    }
    expect(await found(s, [['type', type]])).to.deep.equal(names.map((name) => container + name).sort());
  });

  it('without keys it returns every readable resource (rule 13.5)', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x');
    expect(await found(s, [])).to.include.members([s.root, container, iri]);
  });

  it('an unsupported Accept returns the result, never 406 (rule 7.1)', async () => {
    const answer = await s.get(searchFor(s, [['type', uniqueIri()]]), { Accept: 'image/png' });
    expect([answer.status, mediaType(answer)]).to.deep.equal([200, lwsJson]);
  });
}

function logic(s: StorageUnderTest): void {
  const [a, b, c] = [uniqueIri('A'), uniqueIri('B'), uniqueIri('C')];
  const iris: Record<string, string> = {};
  before(async () => {
    for (const name of ['a', 'b', 'c', 'ab', 'ac', 'bc', 'abc']) {
      const types = [...name].map((letter) => `<> a <${{ a, b, c }[letter]}> .`);
      iris[name] = await turtle(s, types.join('\n'));
    }
  });

  const cases: readonly (readonly [what: string, groups: readonly string[], names: readonly string[]])[] = [
    ['one type', [a], ['a', 'ab', 'ac', 'abc']],
    ['a comma is OR', [`${a},${b}`], ['a', 'b', 'ab', 'ac', 'bc', 'abc']],
    ['repetition is AND', [a, b], ['ab', 'abc']],
    ['(a OR b) AND c', [`${a},${b}`, c], ['ac', 'bc', 'abc']],
    ['(a OR b) AND (b OR c)', [`${a},${b}`, `${b},${c}`], ['b', 'ab', 'ac', 'bc', 'abc']],
    ['three groups', [a, b, c], ['abc']],
    ['a group twice', [a, a], ['a', 'ab', 'ac', 'abc']],
    ['a value twice', [`${a},${a}`], ['a', 'ab', 'ac', 'abc']],
    ['nothing has it', [uniqueIri()], []],
    ['an unknown type in OR', [`${uniqueIri()},${a}`], ['a', 'ab', 'ac', 'abc']],
    ['an unknown type in AND', [uniqueIri(), a], []],
  ];
  for (const [what, groups, names] of cases)
    it(`${what} (rule 13.4)`, async () => {
      const actual = await found(
        s,
        groups.map((group) => ['type', group] as const),
      );
      expect(actual).to.have.members(names.map((name) => iris[name]!));
      expect(actual).to.deep.equal([...actual].sort());
    });

  it('values need no escapes unless a query does (rule 13.4)', async () => {
    const answer = await s.get(`${searchOf(s)}?type=${a},${b}&type=${c}`);
    expect(pageOf(answer).items.map(({ id }) => id)).to.have.members(['ac', 'bc', 'abc'].map((name) => iris[name]!));
  });

  it('types are compared exactly, including case (rule 13.4)', async () => {
    for (const other of [`${a.slice(0, -1)}a`, `${a}/`, a.slice(0, -1), `${a}#`])
      expect(await found(s, [['type', other]]), other).to.deep.equal([]);
  });

  it('structural types are searchable and combinable (rule 13.3)', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x');
    const containers = await found(s, [['type', `${lws}Container`]]);
    expect(containers).to.include.members([s.root, container]).and.not.to.include(iri);
    for (const each of containers) expect(each.endsWith('/'), each).to.equal(true);
    const data = await found(s, [['type', `${lws}DataResource`]]);
    expect(data).to.include.members([iri, iris['a']!]).and.not.to.include(container);
    const both = [
      ['type', `${lws}DataResource`],
      ['type', a],
    ] as const;
    expect(await found(s, both)).to.have.members(['a', 'ab', 'ac', 'abc'].map((name) => iris[name]!));
    expect(await found(s, [['type', `${lws}Container`], both[1]])).to.deep.equal([]);
  });
}

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `https://e.example/t${i}`);

describeStorage('Type search by GET', (s) => {
  results(s);
  describe('filters', () => logic(s));

  for (const value of [
    'Person',
    '/Person',
    '#Person',
    '//e.example/x',
    '',
    'http://e.example/a b',
    'http://e.example/<x>',
  ])
    it(`"${value}" is not an absolute IRI: 400 (rule 13.6)`, async () => {
      expectProblem(await s.get(searchFor(s, [['type', value]])), 400, s);
      const good = ['type', uniqueIri()] as const;
      expectProblem(await s.get(searchFor(s, [good, ['https://e.example/rel', value]])), 400, s);
    });

  it('one such value among valid ones is 400 (rule 13.6)', async () => {
    expectProblem(await s.get(searchFor(s, [['type', `${uniqueIri()},Person`]])), 400, s);
    expectProblem(
      await s.get(
        searchFor(s, [
          ['type', uniqueIri()],
          ['type', 'Person'],
        ]),
      ),
      400,
      s,
    );
  });

  it('up to 32 groups are accepted, more are 400 (rule 13.6)', async () => {
    const groups = (count: number) => many(count).map((type) => ['type', type] as const);
    expect((await s.get(searchFor(s, groups(32)))).status).to.equal(200);
    expectProblem(await s.get(searchFor(s, groups(33))), 400, s);
  });

  it('the groups of all keys are counted together (rule 13.5)', async () => {
    const keys = many(33).map((key) => [key, 'https://e.example/x'] as const);
    expect((await s.get(searchFor(s, keys.slice(1)))).status).to.equal(200);
    expectProblem(await s.get(searchFor(s, keys)), 400, s);
  });

  it('up to 256 values are accepted, more are 400 (rule 13.6)', async () => {
    expect((await s.get(searchFor(s, [['type', many(256).join(',')]]))).status).to.equal(200);
    expectProblem(await s.get(searchFor(s, [['type', many(257).join(',')]])), 400, s);
    const halves = [many(200).join(','), many(57).join(',')].map((values) => ['type', values] as const);
    expectProblem(await s.get(searchFor(s, halves)), 400, s);
  });

  it('unsupported methods are 405 with Allow (rule 13.6)', async () => {
    for (const method of ['PATCH', 'DELETE']) {
      const answer = await s.send(method, searchOf(s));
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow')).to.include.members(['get', 'post', 'query']);
    }
    expectProblem(await s.put(searchOf(s), lwsJson, '{}'), [405, 409], s);
  });

  it('OPTIONS is 204 with Allow and Accept-Query (rule 13.6)', async () => {
    const answer = await s.options(searchOf(s));
    expect(answer.status).to.equal(204);
    expect(listOf(answer, 'allow')).to.include.members(['get', 'post', 'query', 'options']);
    expect(listOf(answer, 'accept-query').map((type) => type.replaceAll('"', ''))).to.include(
      'application/lws-query+json',
    );
  });
});
