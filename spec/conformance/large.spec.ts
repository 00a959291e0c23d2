/** Rules 6.14, 7.1, 9.1 for large content. */
import { expect } from 'chai';
import { describeStorage, lws } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { expectGraph, graphOf, rdfTypes } from '../support/rdf.js';

const triples = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, i) => `<#s${from + i}> <#p> ${from + i}, "text ${from + i}"@en .`).join('\n');

describeStorage('Large resources', (s) => {
  for (const Accept of rdfTypes)
    it(`Content negotiation: a graph of 1200 triples is served as ${Accept} and accepted back`, async () => {
      const { iri } = await s.stored('text/turtle', triples(600));
      const answer = await s.get(iri, { Accept });
      await expectGraph(answer, iri, triples(600));
      expect((await s.put(iri, Accept, answer.text, { 'If-Match': '*' })).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, triples(600));
    });

  it('Content negotiation: a list of 2000 elements is served in all five syntaxes', async () => {
    const { iri } = await s.stored('text/turtle', `<> <#list> ( ${'1 '.repeat(2000)}) .`);
    for (const Accept of rdfTypes) {
      const answer = await s.get(iri, { Accept });
      expect(answer.status, Accept).to.equal(200);
      const quads = await graphOf(answer, iri);
      expect(quads.filter(({ predicate }) => predicate.value.endsWith('#first')).length, Accept).to.equal(2000);
    }
  });

  it('PATCH matrix: a patch of a large graph keeps the other triples', async () => {
    const { iri } = await s.stored('text/turtle', triples(600));
    const update = 'application/sparql-update';
    expect((await s.patch(iri, update, 'INSERT DATA { <#new> <#p> 1 }')).status).to.equal(204);
    expect(
      (await s.patch(iri, update, 'DELETE { ?s <#p> ?o } WHERE { ?s <#p> ?o FILTER(?s = <#s0>) }')).status,
    ).to.equal(204);
    await expectGraph(await s.get(iri), iri, `${triples(599, 1)}\n<#new> <#p> 1 .`);
  });

  it('PATCH matrix: a large INSERT DATA is applied', async () => {
    const { iri } = await s.stored('text/turtle', '');
    expect((await s.patch(iri, 'application/sparql-update', `INSERT DATA { ${triples(600)} }`)).status).to.equal(204);
    await expectGraph(await s.get(iri, { Accept: 'application/n-triples' }), iri, triples(600));
  });

  it('PATCH matrix: a large JSON document is stored, patched and read', async () => {
    const document: Record<string, unknown> = {};
    for (let i = 0; i < 20_000; i++) document[`member${i}`] = [i, `text ${i}`];
    const { iri } = await s.stored('application/json', JSON.stringify(document));
    expect((await s.patch(iri, 'application/merge-patch+json', '{"member7":null,"new":1}')).status).to.equal(204);
    const add = '[{"op":"add","path":"/member8/-","value":2}]';
    expect((await s.patch(iri, 'application/json-patch+json', add)).status).to.equal(204);
    const { member7: _gone, ...rest } = document;
    expect(JSON.parse((await s.get(iri)).text)).to.deep.equal({ ...rest, new: 1, member8: [8, 'text 8', 2] });
  });

  for (const size of [65_000, 66_000, 1_000_000])
    it(`Resource endpoints, GET: a JSON document of ${size} bytes is returned as sent`, async () => {
      const body = JSON.stringify({ text: 'x'.repeat(size - 11) });
      const { iri } = await s.stored('application/json', body);
      const answer = await s.get(iri);
      expect(answer.bytes.length).to.equal(size);
      expect(answer.text === body).to.equal(true);
      expect((await s.put(iri, 'application/json', body, { 'If-Match': '*' })).status).to.equal(204);
      expect((await s.get(iri)).bytes.length).to.equal(size);
    });

  it('Bad input: an error at the end of a large body is 400 and stores nothing', async () => {
    for (const [type, body] of [
      ['text/turtle', `${triples(5000)}\n<a> <b>`],
      ['application/n-triples', `${'<http://e.example/s> <http://e.example/p> "o" .\n'.repeat(20_000)}x`],
      ['application/json', `[${'1,'.repeat(500_000)}]`],
      ['application/ld+json', `[${'{"@id":"a"},'.repeat(50_000)}]`],
    ] as const) {
      const iri = s.fresh();
      expectProblem(await s.put(iri, type, body), 400, s);
      await s.expectAbsent(iri);
    }
  });

  it('Container listing: a container of 600 members is listed in JSON and in RDF', async () => {
    const container = await s.container();
    for (let at = 0; at < 600; at += 50) {
      const puts = Array.from({ length: 50 }, (_, i) => s.put(`${container}m${at + i}`, 'text/plain', 'x'));
      for (const { status } of await Promise.all(puts)) expect(status).to.equal(201);
    }
    const members = await s.members(container);
    expect(members).to.have.length(600);
    for (const Accept of rdfTypes.filter((type) => type !== 'application/ld+json')) {
      const quads = await graphOf(await s.get(container, { Accept }), container);
      const items = quads.flatMap(({ predicate, object }) => (predicate.value === `${lws}items` ? [object.value] : []));
      expect(items, Accept).to.have.members(members);
    }
    expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(204);
  });

  it('Resource endpoints, GET: a binary of 8 MiB is returned as sent', async () => {
    const bytes = Buffer.alloc(8 << 20);
    for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE((i * 2654435761) >>> 0, i);
    const { iri } = await s.stored('application/octet-stream', bytes);
    expect((await s.get(iri)).bytes.equals(bytes)).to.equal(true);
  });
});
