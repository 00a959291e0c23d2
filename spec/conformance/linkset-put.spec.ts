/** Rules 11.1, 11.5: replacing the client-managed part. */
import { expect } from 'chai';
import { describeStorage, ldp, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import {
  clientPart,
  described,
  linksetOf,
  linksetType,
  linksIn,
  linksOfResource,
  mergePatch,
  metaOf,
  putLinks,
} from '../support/linkset.js';

const e = 'https://e.example/';
const before = { author: 'Ada', describedby: [{ href: `${e}d` }], type: [{ href: `${e}Person` }] };
const beforePart = { author: 'Ada', describedby: [{ href: `${e}d` }], types: [`${e}Person`] };

function replacement(s: StorageUnderTest): void {
  it('PUT is 204 with the new ETag and an empty body (rule 11.5)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const tag = await s.tag(metaOf(iri));
    const answer = await putLinks(s, iri, before, { 'If-Match': tag });
    expect([answer.status, answer.bytes.length], answer.text).to.deep.equal([204, 0]);
    expect(answer.headers['etag'])
      .to.equal(await s.tag(metaOf(iri)))
      .and.not.to.equal(tag);
    expect(await clientPart(s, iri)).to.deep.equal(beforePart);
  });

  it('PUT replaces the whole document and removes omitted relations (rule 11.5)', async () => {
    const iri = await described(s, before);
    const answer = await putLinks(s, iri, { anchor: iri, license: [{ href: `${e}l` }] });
    expect(answer.status, answer.text).to.equal(204);
    expect(await clientPart(s, iri)).to.deep.equal({ license: [{ href: `${e}l` }], types: [] });
    expect((await putLinks(s, iri, {})).status).to.equal(204);
    expect(await clientPart(s, iri)).to.deep.equal({ types: [] });
  });

  it('an unchanged "up" is accepted; another parent is 409, with PUT and both patch types (rule 11.2)', async () => {
    const iri = await described(s, before);
    const part = await clientPart(s, iri);
    const [up, other] = [s.scratch, s.root].map((href) => [{ href }]);
    for (const moved of [other, [...up!, ...other!], [{ href: '../other/' }]])
      expectProblem(await putLinks(s, iri, { ...before, up: moved }), 409, s);
    for (const [type, change] of [
      [mergePatch, { up: other }],
      ['application/json-patch+json', [{ op: 'replace', path: '/linkset/0/up', value: other }]],
    ] as const) {
      const headers = { 'If-Match': '*' };
      expectProblem(await s.patch(metaOf(iri), type, JSON.stringify(change), headers), 409, s);
    }
    expect(await clientPart(s, iri)).to.deep.equal(part);
    expect((await putLinks(s, iri, { ...before, up })).status).to.equal(204);
    expect(await clientPart(s, iri)).to.deep.equal(part);
  });

  it('literals and target attributes round-trip unchanged (rule 11.4)', async () => {
    const links = {
      title: 'Ünïcode "quotes" \\ 𝔘 and\nlines',
      creator: ['Ada', 'Charles', 'Ada'],
      describedby: [
        { href: `${e}d`, title: 'About', type: 'text/html', hreflang: ['en', 'de'] },
        { href: `${e}d2`, 'title*': [{ value: 'Über', language: 'de' }], extra: ['x', 'y'] },
      ],
      [`${e}rel#x`]: [{ href: `${e}t?q=1#f` }],
    };
    const iri = await described(s, links);
    expect(await clientPart(s, iri)).to.deep.equal({ ...links, types: [] });
  });

  for (const kind of ['data resource', 'container'])
    it(`the linkset of a ${kind} can be written back unchanged (rule 11.2)`, async () => {
      const iri = kind === 'container' ? await s.container() : (await s.stored('text/turtle', '<> a <#C> .')).iri;
      expect((await putLinks(s, iri, before)).status).to.equal(204);
      const read = await s.get(metaOf(iri));
      const answer = await s.put(metaOf(iri), linksetType, read.text, { 'If-Match': read.headers['etag']! });
      expect(answer.status, answer.text).to.equal(204);
      expect(linksIn(await s.get(metaOf(iri)))).to.deep.equal(linksIn(read));
    });

  it('server-managed relations are ignored without an error (rule 11.2)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const read = await linksOfResource(s, iri);
    const forged = [{ href: `${e}forged` }];
    const answer = await putLinks(s, iri, { linkset: forged, [`${lws}storage`]: forged, author: 'Ada' });
    expect(answer.status, answer.text).to.equal(204);
    expect(await linksOfResource(s, iri)).to.deep.equal({ ...read, author: 'Ada' });
  });

  it('on the root, which has no parent, any up is 409 (rule 11.2)', async () => {
    const read = await s.get(metaOf(s.root));
    expectProblem(await putLinks(s, s.root, { ...linksIn(read), up: [{ href: `${e}forged` }] }), 409, s);
    expect(linksIn(await s.get(metaOf(s.root)))).to.deep.equal(linksIn(read));
  });

  for (const type of [
    ...['Container', 'DataResource', 'StorageResource', 'Storage', 'AnythingAtAll'].map((name) => lws + name),
    ...['Resource', 'RDFSource', 'NonRDFSource', 'Container', 'BasicContainer', 'DirectContainer'].map((n) => ldp + n),
  ])
    it(`a declaration of the type ${type} is ignored (rule 11.3)`, async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const read = await linksOfResource(s, iri);
      const answer = await putLinks(s, iri, { type: [{ href: type }, { href: `${e}Person` }] });
      expect(answer.status, answer.text).to.equal(204);
      const { type: types, ...others } = await linksOfResource(s, iri);
      expect({ ...others, type: types.filter(({ href }) => href !== `${e}Person`) }).to.deep.equal(read);
      expect(types.map(({ href }) => href)).to.include(`${e}Person`);
    });

  it('PUT uses the first linkset object (rule 11.5)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const document = JSON.stringify({ linkset: [{ author: 'Ada' }, { anchor: `${e}other`, author: 'Eve' }] });
    const answer = await s.put(metaOf(iri), linksetType, document, { 'If-Match': '*' });
    expect(answer.status, answer.text).to.equal(204);
    expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types: [] });
  });

  it('parameters of the Content-Type are ignored (rule 11.5)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const type = 'Application/Linkset+JSON; profile="https://e.example/profile"';
    const answer = await s.put(metaOf(iri), type, linksetOf({ author: 'Ada' }), { 'If-Match': '*' });
    expect(answer.status, answer.text).to.equal(204);
  });
}

const deep = `${'['.repeat(70)}"x"${']'.repeat(70)}`;
const refusals: readonly (readonly [what: string, body: string, status: number])[] = [
  ['malformed JSON', '{"linkset":[{]}', 400],
  ['an empty body', '', 400],
  ['an array', '[]', 400],
  ['a string', '"linkset"', 400],
  ['null', 'null', 400],
  ['an object without linkset', '{}', 400],
  ['a bare linkset object', '{"author":"Eve"}', 400],
  ['a linkset that is not an array', '{"linkset":{"author":"Eve"}}', 400],
  ['a linkset of no objects', '{"linkset":["x"]}', 400],
  ['a linkset object that is null', '{"linkset":[null]}', 400],
  ['a linkset object that is an array', '{"linkset":[[]]}', 400],
  ['a literal nested deeper than 64', `{"linkset":[{"author":${deep}}]}`, 400],
  ...['Person', '#Person', '/Person', '//e.example/Person', '', 'https://e.example/a b', '<https://e.example/a>'].map(
    (type) => [`the type "${type}", no absolute IRI`, linksetOf({ type: [{ href: type }] }), 400] as const,
  ),
  ['a type that is not a string', linksetOf({ type: [{ href: 1 }] }), 400],
  ['a type after a good one', linksetOf({ author: 'Eve', type: [{ href: `${e}T` }, { href: 'T' }] }), 400],
  ['the anchor of something else', linksetOf({ anchor: `${e}other`, author: 'Eve' }), 422],
  ['a relative anchor of something else', linksetOf({ anchor: '/nothing', author: 'Eve' }), 422],
];

function refused(s: StorageUnderTest): void {
  for (const [what, body, status] of refusals)
    it(`${what} is ${status} and changes nothing (rule 11.5)`, async () => {
      const iri = await described(s, before);
      const tag = await s.tag(metaOf(iri));
      expectProblem(await s.put(metaOf(iri), linksetType, body, { 'If-Match': tag }), status, s);
      expect(await s.tag(metaOf(iri))).to.equal(tag);
      expect(await clientPart(s, iri)).to.deep.equal(beforePart);
    });

  for (const type of ['application/json', 'application/ld+json', 'text/turtle', 'application/linkset', mergePatch, ''])
    it(`PUT of ${type || 'no Content-Type'} is 415 and changes nothing (rule 11.5)`, async () => {
      const iri = await described(s, before);
      const headers: Record<string, string> = { 'If-Match': '*', ...(type ? { 'Content-Type': type } : {}) };
      expectProblem(await s.send('PUT', metaOf(iri), headers, linksetOf({ author: 'Eve' })), 415, s);
      expect(await clientPart(s, iri)).to.deep.equal(beforePart);
    });

  it('a missing If-Match is 428, before the content is validated (rule 11.7)', async () => {
    const iri = await described(s, before);
    expectProblem(await putLinks(s, iri, { author: 'Eve' }, {}), 428, s);
    expectProblem(await s.put(metaOf(iri), linksetType, '{'), 428, s);
    expect(await clientPart(s, iri)).to.deep.equal(beforePart);
  });

  it('a stale If-Match is 412, before the content is validated (rule 11.7)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const tag = await s.tag(metaOf(iri));
    expect((await putLinks(s, iri, before, { 'If-Match': tag })).status).to.equal(204);
    for (const stale of [tag, '"nobody"', `W/${await s.tag(metaOf(iri))}`])
      expectProblem(await putLinks(s, iri, { author: 'Eve' }, { 'If-Match': stale }), 412, s);
    expectProblem(await s.put(metaOf(iri), linksetType, '{', { 'If-Match': tag }), 412, s);
    expect(await clientPart(s, iri)).to.deep.equal(beforePart);
  });

  it('RFC 9110 13.1.1: the ETag of the resource does not satisfy If-Match on its linkset', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    expectProblem(await putLinks(s, iri, before, { 'If-Match': etag }), 412, s);
  });

  it('If-Match accepts a list that contains the ETag (rule 8.1)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const tag = await s.tag(metaOf(iri));
    expect((await putLinks(s, iri, before, { 'If-Match': `"other", ${tag}` })).status).to.equal(204);
  });

  it('exactly one of the writers with one ETag succeeds (rule 8.2)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const tag = { 'If-Match': await s.tag(metaOf(iri)) };
    const writers = ['a', 'b', 'c', 'd', 'e', 'f'];
    const answers = await Promise.all(writers.map((author) => putLinks(s, iri, { author }, tag)));
    const winners = writers.filter((_, i) => answers[i]!.status === 204);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, 412, 412, 412, 412, 412]);
    expect(await clientPart(s, iri)).to.deep.equal({ author: winners[0], types: [] });
  });
}

describeStorage('Linkset PUT', (s) => {
  replacement(s);
  refused(s);

  it('a linkset above the default of 1 MiB is 400 (rule 11.8)', async () => {
    const iri = await described(s, before);
    expectProblem(await putLinks(s, iri, { author: 'x'.repeat(1 << 20) }), 400, s);
    expect((await putLinks(s, iri, { author: 'x'.repeat(900_000) })).status).to.equal(204);
  });
});
