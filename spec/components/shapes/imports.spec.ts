/** Imports where shapes apply (rule 23.12). */
import { expect } from 'chai';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import { describeStorage, type StorageUnderTest } from '../../support/conformance.js';
import { linked } from '../../support/expectations.js';
import { archiveOf, imported, requestExport } from '../../support/imports.js';
import {
  constrained,
  constrainedBy,
  linkShapes,
  person,
  personShapes,
  problemOf,
  withShapes,
} from '../../support/shapes.js';

const e = 'https://e.example/';
const turtle = 'text/turtle';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Returns N-Quads of persons, some of them with an age that is not a number. */
const persons = (container: string, count: number, isBad: (at: number) => boolean): string =>
  Array.from({ length: count }, (_, at) => {
    const iri = `${container}p${at}`;
    const says = (predicate: string, object: string) => `<${iri}> <${predicate}> ${object} <${iri}> .\n`;
    const age = isBad(at) ? '"old"' : '"7"^^<http://www.w3.org/2001/XMLSchema#integer>';
    return says(rdfType, `<${e}Person>`) + says(`${e}name`, `"${at}"`) + says(`${e}age`, age);
  }).join('');

function imports(s: StorageUnderTest): void {
  it('stores conforming resources and reports each of the others (rule 23.12)', async () => {
    const { container } = await constrained(s);
    const told = await imported(
      s,
      persons(container, 1200, (at) => at % 400 === 7),
      { query: { into: container } },
    );
    expect(told).to.include({ status: 'done', created: 1197, leftOut: 3 });
    expect(told.report[0]!.why).to.contain(`ex:age of <${container}p7> must be a valid literal of type xsd:integer`);
    await s.expectAbsent(`${container}p407`);
    expect((await s.get(`${container}p408`)).status).to.equal(200);
    expect((await checkStore(s.server!.server.store, { content: true })).faults).to.deep.equal([]);
  });

  it('keeps an existing resource if the first of several parts violates its shapes (rule 23.12)', async () => {
    const { container } = await constrained(s);
    const iri = `${container}torn`;
    await s.stored(turtle, person(), iri);
    const before = (await s.get(iri, { Accept: 'application/n-triples' })).text;
    const says = (predicate: string, object: string) => `<${iri}> <${predicate}> ${object} <${iri}> .\n`;
    const source =
      says(rdfType, `<${e}Person>`) +
      Array.from({ length: 6_000 }, (_, at) => `<urn:s> <urn:p> "${at}" <${container}other${at % 300}> .\n`).join('') +
      says(`${e}name`, '"late"') +
      says(`${e}age`, '"7"^^<http://www.w3.org/2001/XMLSchema#integer>');
    const told = await imported(s, source, { query: { into: container, 'on-conflict': 'replace' } });
    expect(told.leftOut).to.be.at.least(2);
    expect((await s.get(iri, { Accept: 'application/n-triples' })).text).to.equal(before);
  });

  it('replaces resources, and adds to them, only if they conform then (rule 23.12)', async () => {
    const { container } = await constrained(s);
    await s.stored(turtle, person(), `${container}p0`);
    const query = { into: container, 'on-conflict': 'replace' };
    expect(
      await imported(
        s,
        persons(container, 2, () => true),
        { query },
      ),
    ).to.include({ created: 0, leftOut: 2 });
    expect(
      await imported(
        s,
        persons(container, 1, () => false),
        { query },
      ),
    ).to.include({ replaced: 1, leftOut: 0 });
  });

  it('restores links of an export, with the shapes after the resources (rule 23.12)', async () => {
    const from = await s.container();
    const shapes = `${from}z-shapes`;
    await s.stored(turtle, personShapes, shapes);
    await s.container(`${from}a/`);
    await s.stored(turtle, person(), `${from}a/ada`);
    expect((await linkShapes(s, `${from}a/`, [shapes])).status).to.equal(204);
    const archive = await requestExport(s, `?of=${encodeURIComponent(from)}`);
    expect(archive.status).to.equal(200);
    const into = s.fresh('/');
    const query = { into, rewrite: `${from}=${into}` };
    const told = await imported(s, archive.bytes, { query, type: 'application/zip' });
    expect(told).to.include({ status: 'done', leftOut: 0, created: 3 });
    expect(linked(await s.get(`${into}a/ada`), constrainedBy)).to.deep.equal([`${into}z-shapes`]);
    problemOf(await s.put(`${into}a/bob`, turtle, person('ex:age "x"')));
  });

  it('restores links without validating existing resources (rule 23.12)', async () => {
    const container = await s.container();
    await s.container(`${container}c/`);
    await s.stored(turtle, person('ex:age "x"'), `${container}c/old`);
    const { iri } = await s.stored(turtle, personShapes);
    const links = { [constrainedBy]: [{ href: iri }] };
    const archive = await archiveOf(container, [{ kind: 'container', path: 'c/', source: 'c/', links }]);
    const query = { into: container, 'on-conflict': 'replace' };
    const told = await imported(s, archive, { query, type: 'application/zip' });
    expect(told.status, told.failure).to.equal('done');
    expect(linked(await s.get(`${container}c/`), constrainedBy)).to.deep.equal([iri]);
  });
}

function large(s: StorageUnderTest): void {
  const triples = (count: number, extra = ''): string =>
    `${extra}\n${Array.from({ length: count }, (_, at) => `<#n${at}> <${e}p> ${at} .`).join('\n')}`;

  it('validates a large graph that is sent as a whole, and rejects a change of a part (rule 23.11)', async () => {
    const { container } = await constrained(s);
    const iri = `${container}large`;
    // On a busy machine, a validation can take more than its 2 s.
    const put = () => s.put(iri, turtle, triples(25_000, `<#it> a <${e}Person> .`));
    let answer = await put();
    for (let retries = 5; answer.text.includes('too-complex') && retries > 0; retries--) answer = await put();
    problemOf(answer);
    await s.expectAbsent(iri);
    await s.stored(turtle, triples(25_000), iri);
    const patch = `INSERT DATA { <#it> <${e}p> 1 }`;
    problemOf(await s.patch(iri, 'application/sparql-update', patch), 422, 'too-complex');
    problemOf(await s.put(iri, turtle, triples(25_001, `<#it> a <${e}Person> .`), { 'If-Match': '*' }));
    expect((await s.put(iri, turtle, triples(25_001), { 'If-Match': '*' })).status).to.equal(204);
    problemOf(await s.put(`${container}huge`, turtle, triples(200_001)), 422, 'too-complex');
    expect((await s.delete(iri)).status).to.equal(204);
  });
}

describeStorage('Imports where shapes apply', imports, withShapes);
describeStorage('Large graphs where shapes apply', large, withShapes);
