/** Rules 6.4, 9.1, 11.3: metadata and its described resource. */
import { expect } from 'chai';
import { asContainer, describeStorage, ldp, lws, type StorageUnderTest } from '../support/conformance.js';
import { linked } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { clientPart, linksIn, linksOfResource, managed, metaOf, putLinks } from '../support/linkset.js';
import { graphOf } from '../support/rdf.js';

const e = 'https://e.example/';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const described = { author: 'Ada', type: [{ href: `${e}Person` }, { href: `${e}Agent` }] };
const types = [`${e}Person`, `${e}Agent`];

function located(answer: Answer, container: string): string {
  expect(answer.status, answer.text).to.equal(201);
  return new URL(answer.headers['location'] ?? '', container).href;
}

/** Types of a member in a listing. */
async function listedTypes(s: StorageUnderTest, container: string, member: string): Promise<unknown> {
  const answer = await s.get(container, { Accept: 'application/lws+json' });
  const { items } = JSON.parse(answer.text) as { items: { id: string; type: unknown }[] };
  return items.find(({ id }) => id === member)?.type;
}

function posting(s: StorageUnderTest): void {
  it('the Link relations of a creating POST become the initial metadata (rule 6.4)', async () => {
    const Link = `<${e}d>; rel="describedby"; title="About", <${e}t>; rel="${e}rel", <${e}Person>; rel="type"`;
    const iri = located(await s.post(s.scratch, 'text/plain', 'x', { Link }), s.scratch);
    expect(await clientPart(s, iri)).to.deep.equal({
      describedby: [{ href: `${e}d`, title: 'About' }],
      [`${e}rel`]: [{ href: `${e}t` }],
      types: [`${e}Person`],
    });
  });

  it('so do those of a POST that creates a container (rule 6.1)', async () => {
    const Link = `${asContainer.Link}, <${e}Person>; rel="type", <${e}d>; rel="describedby"`;
    const iri = located(await s.send('POST', s.scratch, { Link }), s.scratch);
    expect(iri.endsWith('/')).to.equal(true);
    expect(await clientPart(s, iri)).to.deep.equal({ describedby: [{ href: `${e}d` }], types: [`${e}Person`] });
    expect(linked(await s.get(iri), 'type')).to.include.members([`${lws}Container`, `${e}Person`]);
  });

  it('interaction models select the resource kind and are not declared types (rule 6.4)', async () => {
    const Link = `<${ldp}NonRDFSource>; rel="type", <${ldp}Resource>; rel="type", <${e}Person>; rel="type"`;
    const iri = located(await s.post(s.scratch, 'text/turtle', '<> a <#C> .', { Link }), s.scratch);
    const plain = await linksOfResource(s, (await s.stored('text/plain', 'x')).iri);
    const actual = (await linksOfResource(s, iri)).type;
    expect(actual.filter(({ href }) => href !== `${e}Person`)).to.deep.equal(plain.type);
    expect(actual).to.deep.include({ href: `${e}Person` });
    expect(linked(await s.get(iri), 'type')).to.include(`${ldp}NonRDFSource`);
  });

  it('server-managed relations and types of the LWS namespace are dropped (rule 6.4)', async () => {
    const Link = [`${lws}Storage`, `${lws}StorageRoot`, `${lws}DataResource`].map((type) => `<${type}>; rel="type"`);
    Link.push(`<${e}f>; rel="up"`, `<${e}f>; rel="linkset"`, `<${e}f>; rel="${lws}storage"`);
    const iri = located(await s.post(s.scratch, 'text/plain', 'x', { Link: Link.join(', ') }), s.scratch);
    const links = await linksOfResource(s, iri);
    expect(Object.keys(links)).to.deep.equal(managed);
    expect(JSON.stringify(links))
      .not.to.include(`${e}f`)
      .and.not.to.match(/lws#Storage(Root)?"/);
    expect(linked(await s.get(iri), 'up')).to.deep.equal([s.scratch]);
  });

  it('RFC 8288 section 3: a link with another context or with rev is not a link of the resource', async () => {
    const Link = `<${e}d>; rel="describedby"; anchor="${e}other", <${e}d>; rev="author", <${e}l>; rel="license"`;
    const iri = located(await s.post(s.scratch, 'text/plain', 'x', { Link }), s.scratch);
    expect(await clientPart(s, iri)).to.deep.equal({ license: [{ href: `${e}l` }], types: [] });
  });

  it('RFC 9264 4.2.4: attributes of a Link field are target attributes', async () => {
    const Link = `<${e}d,x>; rel="describedby"; title="a, b; c"; hreflang=en; hreflang=de; type="text/html"`;
    const iri = located(await s.post(s.scratch, 'text/plain', 'x', { Link }), s.scratch);
    expect((await clientPart(s, iri))['describedby']).to.deep.equal([
      { href: `${e}d,x`, title: 'a, b; c', hreflang: ['en', 'de'], type: 'text/html' },
    ]);
  });

  it('a POST without Link has no metadata (rule 6.4)', async () => {
    const iri = located(await s.post(s.scratch, 'text/plain', 'x'), s.scratch);
    expect(await clientPart(s, iri)).to.deep.equal({ types: [] });
  });
}

function declaredTypes(s: StorageUnderTest): void {
  const kinds: Readonly<Record<string, (iri: string) => Promise<unknown>>> = {
    'RDF resource': (iri) => s.stored('text/turtle', '<> a <#C> .', iri),
    'JSON resource': (iri) => s.stored('application/json', '{}', iri),
    'binary resource': (iri) => s.stored('text/plain', 'x', iri),
    container: (iri) => s.container(iri),
  };
  for (const [kind, make] of Object.entries(kinds)) {
    const name = kind === 'container' ? 'x/' : 'x';
    const short = kind === 'container' ? 'Container' : 'DataResource';
    const filled = async (): Promise<{ container: string; iri: string }> => {
      const container = await s.container();
      await make(container + name);
      expect((await putLinks(s, container + name, described)).status).to.equal(204);
      return { container, iri: container + name };
    };

    it(`declared types of a ${kind} are Link types on GET and HEAD (rule 11.3)`, async () => {
      const { iri } = await filled();
      for (const answer of [await s.get(iri), await s.head(iri)])
        expect(linked(answer, 'type')).to.include.members([lws + short, ...types]);
      await putLinks(s, iri, { type: [{ href: `${e}Agent` }] });
      expect(linked(await s.get(iri), 'type'))
        .to.include(`${e}Agent`)
        .and.not.to.include(`${e}Person`);
    });

    it(`they appear in JSON listings of a ${kind} (rules 9.1, 11.3)`, async () => {
      const { container, iri } = await filled();
      const [first, ...others] = (await listedTypes(s, container, iri)) as string[];
      expect(first).to.equal(short);
      expect(others).to.have.members(types);
      await putLinks(s, iri, {});
      expect([await listedTypes(s, container, iri)].flat()).to.deep.equal([short]);
    });

    for (const Accept of ['text/turtle', 'application/rdf+xml'])
      it(`they appear as rdf:type in the ${Accept} listing of a ${kind} (rule 9.2)`, async () => {
        const { container, iri } = await filled();
        const quads = await graphOf(await s.get(container, { Accept }), container);
        const objects = quads.filter((q) => q.subject.value === iri && q.predicate.value === rdfType);
        // Rule 9.5: the LDP types are added.
        const found = objects
          .map(({ object }) => object.value)
          .filter((type) => !type.startsWith('http://www.w3.org/ns/ldp#'));
        expect(found).to.have.members([lws + short, ...types]);
      });

    it(`the links of a ${kind} are deleted with it (rule 11.4)`, async () => {
      const { iri } = await filled();
      expect((await s.delete(iri)).status).to.equal(204);
      expect((await s.get(metaOf(iri))).status).to.equal(404);
      await make(iri);
      expect(await clientPart(s, iri)).to.deep.equal({ types: [] });
      expect(linked(await s.get(iri), 'type')).not.to.include(`${e}Person`);
    });

    it(`they are deleted with the tree that contains a ${kind} (rule 11.4)`, async () => {
      const { container, iri } = await filled();
      expect((await putLinks(s, container, described)).status).to.equal(204);
      expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(204);
      await s.container(container);
      await make(iri);
      for (const each of [container, iri]) expect(await clientPart(s, each)).to.deep.equal({ types: [] });
      expect([await listedTypes(s, container, iri)].flat()).to.deep.equal([short]);
    });
  }
}

describeStorage('Metadata', (s) => {
  posting(s);
  declaredTypes(s);

  for (const [type, body, changed] of [
    ['text/turtle', '<> a <#C> .', '<> a <#D> .'],
    ['application/json', '{"a":1}', '{"a":2}'],
    ['text/plain', 'x', 'y'],
  ] as const)
    it(`a linkset write does not change ${type} and its ETag, and a content write does not change the links (rule 8.1)`, async () => {
      const { iri, etag } = await s.stored(type, body);
      expect((await putLinks(s, iri, described)).status).to.equal(204);
      const read = await s.get(iri);
      expect([read.text, read.headers['etag']]).to.deep.equal([(await s.get(iri)).text, etag]);
      expect((await s.put(iri, type, changed, { 'If-Match': etag })).status).to.equal(204);
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types });
    });

  for (const type of [`${e}Ünï`, `${e}日本`, `${e}a,b;c`, `${e}it's(1)`, 'urn:example:type'])
    it(`the declared type ${type} leaves resource and listing readable (rule 11.3)`, async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/turtle', '<> a <#C> .', `${container}x`);
      expect((await putLinks(s, iri, { type: [{ href: type }] })).status).to.equal(204);
      const links = linked(await s.get(iri), 'type').map((uri) => new URL(uri).href);
      expect(links).to.include(new URL(type).href);
      expect(await listedTypes(s, container, iri)).to.deep.equal(['DataResource', type]);
      for (const Accept of ['text/turtle', 'application/rdf+xml']) {
        const quads = await graphOf(await s.get(container, { Accept }), container);
        expect(quads.map(({ object }) => object.value)).to.include(type);
      }
    });

  it('a change of kind does not change the links (rule 11.1)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    await putLinks(s, iri, described);
    for (const [type, body] of [
      ['text/plain', 'x'],
      ['application/json', '{}'],
      ['text/turtle', '<> a <#D> .'],
    ] as const) {
      expect((await s.put(iri, type, body, { 'If-Match': '*' })).status).to.equal(204);
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types });
    }
  });

  it('a container has its own links, not those of its members (rule 11.1)', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    await putLinks(s, container, { author: 'Container' });
    await putLinks(s, iri, { author: 'Member' });
    expect(await clientPart(s, container)).to.deep.equal({ author: 'Container', types: [] });
    expect(await clientPart(s, iri)).to.deep.equal({ author: 'Member', types: [] });
    await s.delete(iri);
    expect(await clientPart(s, container)).to.deep.equal({ author: 'Container', types: [] });
  });

  it('the root has a writable linkset (rule 11.1)', async () => {
    const read = await s.get(metaOf(s.root));
    const answer = await putLinks(s, s.root, described, { 'If-Match': read.headers['etag']! });
    expect(answer.status, answer.text).to.equal(204);
    expect(await clientPart(s, s.root)).to.deep.equal({ author: 'Ada', types });
    const listing = await s.get(s.root, { Accept: 'application/lws+json' });
    expect(linked(listing, 'type')).to.include.members([`${lws}Container`, `${e}Person`]);
    expect((await s.put(metaOf(s.root), 'application/linkset+json', read.text, { 'If-Match': '*' })).status).to.equal(
      204,
    );
    expect(linksIn(await s.get(metaOf(s.root)))).to.deep.equal(linksIn(read));
  });
});
