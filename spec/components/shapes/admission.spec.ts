/** Writes where shapes apply, by every method (rules 23.1, 23.6, 23.7, 23.8). */
import { expect } from 'chai';
import { Parser } from 'n3';
import { describeStorage, type StorageUnderTest } from '../../support/conformance.js';
import { expectProblem, linked } from '../../support/expectations.js';
import {
  constrained,
  constrainedBy,
  linkShapes,
  person,
  personShapes,
  prefixes,
  problemOf,
  withShapes,
} from '../../support/shapes.js';

const e = 'https://e.example/';
const turtle = 'text/turtle';
const update = 'application/sparql-update';
const wrongAge = person('ex:name "Ada" ; ex:age "x"');

function methods(s: StorageUnderTest): void {
  it('rejects a PUT that violates the shapes of a container above, and stores nothing (rule 23.1)', async () => {
    const { container } = await constrained(s);
    const inner = await s.container(`${container}inner/`);
    const iri = `${inner}ada`;
    const { violations, detail } = problemOf(await s.put(iri, turtle, wrongAge));
    expect(detail).to.contain(`ex:age of <${iri}#it> must be a valid literal of type xsd:integer; it is "x"`);
    expect(violations).to.have.length(1);
    expect(violations![0]).to.include({ focus: `${iri}#it`, path: `<${e}age>`, value: 'x', shape: `${e}AgeShape` });
    await s.expectAbsent(iri);
    expect((await s.put(iri, turtle, person())).status).to.equal(201);
  });

  it('rejects a POST, a replacing PUT, a patch and a merge through the graph store (rule 23.1)', async () => {
    const { container } = await constrained(s);
    problemOf(await s.post(container, turtle, wrongAge, { Slug: 'a' }));
    expect(await s.members(container)).to.deep.equal([]);
    const { iri } = await s.stored(turtle, person(), `${container}b`);
    const tag = await s.tag(iri);
    problemOf(await s.put(iri, turtle, wrongAge, { 'If-Match': '*' }));
    problemOf(await s.patch(iri, update, `INSERT DATA { <#it> <${e}age> "x" }`));
    problemOf(await s.patch(iri, update, `DELETE { ?s <${e}name> ?n } WHERE { ?s <${e}name> ?n }`));
    const graphs = `${s.root}.lws/graphs?graph=${encodeURIComponent(iri)}`;
    problemOf(await s.post(graphs, turtle, `<#it> <${e}name> "Second" .`));
    expect(await s.tag(iri)).to.equal(tag);
    expect((await s.patch(iri, update, `INSERT DATA { <#it> <${e}age> 36 }`)).status).to.equal(204);
  });

  it('creates no resource by a patch that violates the shapes (rule 23.1)', async () => {
    const { container } = await constrained(s);
    problemOf(await s.patch(`${container}new`, update, `INSERT DATA { <#it> a <${e}Person> }`));
    await s.expectAbsent(`${container}new`);
  });

  it('rejects a SPARQL update of several graphs as a whole (rule 23.1)', async () => {
    const { container } = await constrained(s);
    const free = s.fresh();
    const send = (age: string) =>
      s.post(
        `${s.root}.lws/sparql`,
        update,
        `INSERT DATA { GRAPH <${free}> { <${free}> <${e}p> 1 }
          GRAPH <${container}x> { <${container}x> a <${e}Person> ; <${e}name> "X" ; <${e}age> ${age} } }`,
      );
    problemOf(await send('"y"'));
    await s.expectAbsent(free);
    await s.expectAbsent(`${container}x`);
    expect((await send('7')).status).to.equal(200);
    expect((await s.get(`${container}x`)).status).to.equal(200);
  });

  it('rejects MOVE and COPY of resources that violate the shapes, and moves links with their container (rule 23.1)', async () => {
    const { container, shapes } = await constrained(s);
    const free = await s.container();
    await s.stored(turtle, wrongAge, `${free}bad`);
    await s.stored(turtle, person(), `${free}good`);
    const to = (method: string, from: string, destination: string) =>
      s.send(method, from, { Destination: destination });
    for (const method of ['COPY', 'MOVE']) {
      problemOf(await to(method, `${free}bad`, `${container}bad`));
      problemOf(await to(method, free, `${container}inner/`));
    }
    expect(await s.members(container)).to.deep.equal([]);
    expect((await to('MOVE', `${free}good`, `${container}good`)).status).to.equal(201);
    const elsewhere = s.fresh('/');
    expect((await to('MOVE', container, elsewhere)).status).to.equal(201);
    expect(linked(await s.get(`${elsewhere}good`), constrainedBy)).to.deep.equal([shapes]);
    problemOf(await s.put(`${elsewhere}bad`, turtle, wrongAge));
  });

  it('accepts JSON, bytes and containers, and resources without a target of the shapes (rule 23.1)', async () => {
    const { container } = await constrained(s);
    await s.stored('application/json', '{"a":1}', `${container}json`);
    await s.stored('text/plain', 'x', `${container}text`);
    await s.stored(turtle, '<> <https://e.example/age> "x" .', `${container}other`);
    await s.container(`${container}c/`);
  });

  it('validates a resource that becomes RDF, and again after its links are removed (rule 23.1)', async () => {
    const { container } = await constrained(s);
    const { iri } = await s.stored('text/plain', 'x', `${container}a`);
    problemOf(await s.put(iri, turtle, wrongAge, { 'If-Match': '*' }));
    expect((await linkShapes(s, container, [])).status).to.equal(204);
    expect((await s.put(iri, turtle, wrongAge, { 'If-Match': '*' })).status).to.equal(204);
  });
}

function responses(s: StorageUnderTest): void {
  it('returns a validation report in the RDF syntax that Accept names (rule 23.6)', async () => {
    const { container, shapes } = await constrained(s);
    for (const type of [turtle, 'application/n-triples']) {
      const answer = await s.put(`${container}a`, turtle, wrongAge, { Accept: type });
      expect(answer.status).to.equal(422);
      expect(answer.headers['content-type']).to.equal(type);
      expect(linked(answer, constrainedBy)).to.deep.equal([shapes]);
      const objects = new Map(
        new Parser().parse(answer.text).map(({ predicate, object }) => [predicate.value, object.value]),
      );
      const sh = 'http://www.w3.org/ns/shacl#';
      expect(objects.get(`${sh}conforms`)).to.equal('false');
      expect(objects.get(`${sh}focusNode`)).to.equal(`${container}a#it`);
      expect(objects.get(`${sh}sourceShape`)).to.equal(`${e}AgeShape`);
    }
    const answer = await s.put(`${container}a`, turtle, wrongAge, {
      Accept: 'application/problem+json, text/turtle;q=0.5',
    });
    expectProblem(answer, 422, s);
  });

  it('links to the shapes in GET and HEAD of constrained resources and containers only (rule 23.8)', async () => {
    const { container, shapes } = await constrained(s);
    const { iri } = await s.stored(turtle, person(), `${container}a`);
    for (const answer of [await s.get(iri), await s.head(iri), await s.get(container)])
      expect(linked(answer, constrainedBy)).to.deep.equal([shapes]);
    const unchanged = await s.get(iri, { 'If-None-Match': await s.tag(iri) });
    expect(unchanged.status).to.equal(304);
    for (const other of [s.scratch, shapes]) expect(linked(await s.get(other), constrainedBy)).to.deep.equal([]);
  });

  it('writes the messages of the shapes (rule 23.6)', async () => {
    const { container } = await constrained(s, `${personShapes} ex:AgeShape sh:message "Ages are whole numbers." .`);
    const { detail, violations } = problemOf(await s.put(`${container}a`, turtle, wrongAge));
    expect(detail).to.contain('Ages are whole numbers.');
    expect(violations![0]!.message).to.equal('Ages are whole numbers.');
  });

  it('accepts warnings and infos (rule 23.4)', async () => {
    const { container } = await constrained(s, `${personShapes} ex:AgeShape sh:severity sh:Warning .`);
    await s.stored(turtle, wrongAge, `${container}a`);
  });
}

function nearest(s: StorageUnderTest): void {
  it('applies the nearest links, all of them (rule 23.1)', async () => {
    const { container } = await constrained(s);
    const inner = await s.container(`${container}inner/`);
    const documents: string[] = [];
    for (const property of ['a', 'b']) {
      const shape = `[] a sh:NodeShape ; sh:targetClass ex:Person ; sh:property [ sh:path ex:${property} ; sh:minCount 1 ] .`;
      documents.push((await s.stored(turtle, `${prefixes}${shape}`)).iri);
    }
    expect((await linkShapes(s, inner, documents)).status).to.equal(204);
    for (const part of ['ex:a 1', 'ex:b 1', 'ex:name "Ada"']) problemOf(await s.put(`${inner}x`, turtle, person(part)));
    await s.stored(turtle, person('ex:a 1 ; ex:b 1 ; ex:age "x"'), `${inner}x`);
  });

  it('exempts a document of shapes from its own constraint (rule 23.7)', async () => {
    const container = await s.container();
    const shape = `[] a sh:NodeShape ; sh:targetSubjectsOf sh:path ; sh:property [ sh:path ex:never ; sh:minCount 1 ] .`;
    const { iri } = await s.stored(turtle, `${prefixes}${shape}`, `${container}shapes`);
    expect((await linkShapes(s, container, [iri])).status).to.equal(204);
    expect(
      (await s.put(iri, turtle, `${prefixes}${shape} ex:s a sh:NodeShape .`, { 'If-Match': '*' })).status,
    ).to.equal(204);
    problemOf(await s.put(`${container}copy`, turtle, `${prefixes}${shape}`));
  });

  it('applies a changed document to the next write (rule 23.1)', async () => {
    const { container, shapes } = await constrained(s);
    await s.stored(turtle, wrongAge.replace('ex:age', 'ex:size'), `${container}a`);
    const changed = `${personShapes} ex:PersonShape sh:property [ sh:path ex:size ; sh:datatype xsd:integer ] .`;
    expect((await s.put(shapes, turtle, changed, { 'If-Match': '*' })).status).to.equal(204);
    problemOf(await s.put(`${container}b`, turtle, wrongAge.replace('ex:age', 'ex:size')));
  });
}

describeStorage('Writes where shapes apply', methods, {
  settings: { ...withShapes.settings, 'sparql.endpoint.update': 'true' },
});
describeStorage('Responses where shapes apply', responses, withShapes);
describeStorage('Links to shapes that apply', nearest, withShapes);
