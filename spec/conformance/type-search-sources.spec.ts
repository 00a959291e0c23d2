/** Rules 1.2, 13.3, 13.5: matches of a search. */
import { expect } from 'chai';
import { describeStorage, ldp, lws, type StorageUnderTest } from '../support/conformance.js';
import { linked } from '../support/expectations.js';
import { putLinks } from '../support/linkset.js';
import { found, uniqueIri } from '../support/search.js';

const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

const ofType = (s: StorageUnderTest, type: string): Promise<string[]> => found(s, [['type', type]]);

function types(s: StorageUnderTest): void {
  for (const [what, subject] of [
    ['the resource', '<>'],
    ['a fragment of it', '<#me>'],
    ['a fragment with a slash', '<#a/b?c>'],
    ['an empty fragment', '<#>'],
  ] as const)
    it(`a type that the representation asserts about ${what} (rule 1.2)`, async () => {
      const type = uniqueIri();
      const { iri } = await s.stored('text/turtle', `${subject} a <${type}> .`);
      expect(await ofType(s, type)).to.deep.equal([iri]);
    });

  for (const [what, triple] of [
    ['another resource', '<other> a <TYPE> .'],
    ['a member of it', '<IRI/x> a <TYPE> .'],
    ['a fragment of another', '<other#me> a <TYPE> .'],
    ['itself with a query', '<?q> a <TYPE> .'],
    ['a blank node', '[] a <TYPE> .'],
    ['something foreign', '<http://elsewhere.example/#me> a <TYPE> .'],
    ['a name that it begins', '<IRIx#me> a <TYPE> .'],
  ] as const)
    it(`a type asserted about ${what} is not a type of the resource (rule 1.2)`, async () => {
      const type = uniqueIri();
      const iri = s.fresh();
      await s.stored('text/turtle', triple.replace('IRI', iri).replace('TYPE', type), iri);
      expect(await ofType(s, type)).to.deep.equal([]);
    });

  it('a literal or blank node is not a type (rule 1.2)', async () => {
    const type = uniqueIri();
    await s.stored('text/turtle', `<> a [] . <#me> <${rdfType}> "${type}" .`);
    expect(await ofType(s, type)).to.deep.equal([]);
  });

  for (const [format, body] of [
    ['application/ld+json', '{"@id":"#me","@type":"TYPE"}'],
    ['application/n-triples', `<IRI#me> <${rdfType}> <TYPE> .`],
    ['application/trig', '<#me> a <TYPE> .'],
    [
      'application/rdf+xml',
      '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description r:about="#me"><r:type r:resource="TYPE"/></r:Description></r:RDF>',
    ],
  ] as const)
    it(`${format} is indexed like Turtle (rule 1.2)`, async () => {
      const type = uniqueIri();
      const iri = s.fresh();
      await s.stored(format, body.replace('IRI', iri).replace('TYPE', type), iri);
      expect(await ofType(s, type)).to.deep.equal([iri]);
    });

  it('non-RDF resources assert nothing (rule 1.2)', async () => {
    const type = uniqueIri();
    await s.stored('application/json', JSON.stringify({ '@id': '', '@type': type }));
    const answer = await s.put(s.fresh(), 'text/turtle', `<> a <${type}> .`, {
      Link: `<${ldp}NonRDFSource>; rel="type"`,
    });
    expect(answer.status).to.equal(201);
    expect(await ofType(s, type)).to.deep.equal([]);
  });

  it('declared types of data resources and containers are found (rule 11.3)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/plain', 'x');
    const container = await s.container();
    for (const each of [iri, container]) await putLinks(s, each, { type: [{ href: type }] });
    expect(await ofType(s, type)).to.have.members([iri, container]);
    expect(linked(await s.get(container), 'type')).to.include(type);
  });

  it('a type that must not be declared is not found (rule 11.3)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    await putLinks(s, iri, { type: [{ href: `${lws}Container` }, { href: `${ldp}Container` }] });
    expect(await ofType(s, `${lws}Container`)).not.to.include(iri);
    expect(await ofType(s, `${ldp}Container`)).not.to.include(iri);
  });
}

function relations(s: StorageUnderTest): void {
  it('a registered relation matches the href of a declared link (rule 13.5)', async () => {
    const [target, other] = [uniqueIri(), uniqueIri()];
    const { iri } = await s.stored('text/plain', 'x');
    await putLinks(s, iri, { describedby: [{ href: other }, { href: target, title: 'x' }] });
    expect(await found(s, [['describedby', target]])).to.deep.equal([iri]);
    expect(await found(s, [['license', target]])).to.deep.equal([]);
  });

  it('an IRI as key matches a declared link with that relation (rule 13.5)', async () => {
    const [key, target] = [uniqueIri('rel'), uniqueIri()];
    const container = await s.container();
    await putLinks(s, container, { [key]: [{ href: target }] });
    expect(await found(s, [[key, target]])).to.deep.equal([container]);
  });

  it('an IRI as key matches a triple about the resource or a fragment (rule 13.5)', async () => {
    const [key, target] = [uniqueIri('rel#x'), uniqueIri('t#me')];
    const { iri } = await s.stored('text/turtle', `<> <${key}> <${target}> .`);
    const second = await s.stored('text/turtle', `<#me> <${key}> <${target}>, <http://other.example/> .`);
    expect(await found(s, [[key, target]])).to.have.members([iri, second.iri]);
    expect(await found(s, [[key, uniqueIri()]])).to.deep.equal([]);
    expect(await found(s, [[uniqueIri('rel'), target]])).to.deep.equal([]);
  });

  it('triples about another subject do not match (rule 13.5)', async () => {
    const [key, target] = [uniqueIri('rel'), uniqueIri()];
    await s.stored(
      'text/turtle',
      `<other> <${key}> <${target}> . [] <${key}> <${target}> . <?q> <${key}> <${target}> .`,
    );
    expect(await found(s, [[key, target]])).to.deep.equal([]);
  });

  it('literals do not match (rule 13.5)', async () => {
    const [key, target] = [uniqueIri('rel'), uniqueIri()];
    await s.stored('text/turtle', `<> <${key}> "${target}", "${target}"^^<http://www.w3.org/2001/XMLSchema#anyURI> .`);
    const { iri } = await s.stored('text/plain', 'x');
    await putLinks(s, iri, { [key]: target });
    expect(await found(s, [[key, target]])).to.deep.equal([]);
  });

  it('a relative IRI in a representation matches as an absolute one (rule 13.5)', async () => {
    const key = uniqueIri('rel');
    const { iri } = await s.stored('text/turtle', `<> <${key}> <#me> .`);
    expect(await found(s, [[key, `${iri}#me`]])).to.deep.equal([iri]);
  });

  it('relations and types combine: AND between keys, OR within (rule 13.5)', async () => {
    const [type, key, one, two] = [uniqueIri(), uniqueIri('rel'), uniqueIri('1'), uniqueIri('2')];
    const first = await s.stored('text/turtle', `<> a <${type}> ; <${key}> <${one}> .`);
    const second = await s.stored('text/turtle', `<#x> a <${type}> . <#y> <${key}> <${two}> .`);
    const third = await s.stored('text/turtle', `<> <${key}> <${one}> .`);
    const all = [first.iri, second.iri, third.iri];
    expect(await found(s, [[key, `${one},${two}`]])).to.have.members(all);
    expect(
      await found(s, [
        ['type', type],
        [key, one],
      ]),
    ).to.deep.equal([first.iri]);
    expect(
      await found(s, [
        ['type', type],
        [key, `${one},${two}`],
      ]),
    ).to.have.members(all.slice(0, 2));
    expect(
      await found(s, [
        [key, one],
        [key, two],
      ]),
    ).to.deep.equal([]);
  });

  it('structural relations match nothing and are not an error (rule 13.5)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    for (const [key, value] of [
      ['up', s.scratch],
      ['linkset', `${iri}.meta`],
      [`${lws}storage`, s.root],
      [rdfType, type],
    ] as const) {
      expect(await found(s, [[key, value]]), key).to.deep.equal([]);
      expect(
        await found(s, [
          ['type', type],
          [key, value],
        ]),
        key,
      ).to.deep.equal([]);
    }
  });

  it('an unused relation matches nothing and is not an error (rule 13.5)', async () => {
    const type = uniqueIri();
    await s.stored('text/turtle', `<> a <${type}> .`);
    for (const key of ['license', 'payment', uniqueIri('rel')])
      expect(
        await found(s, [
          ['type', type],
          [key, uniqueIri()],
        ]),
        key,
      ).to.deep.equal([]);
  });
}

describeStorage('Type search, matches', (s) => {
  types(s);
  relations(s);
});
