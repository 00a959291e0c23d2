/** Rules 1.3, 1.13, 1.6: input that every write method rejects, because another method could not read it back or would read it differently. */
import { expect } from 'chai';
import { largeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { ed25519Identity } from '../support/identity.js';
import { postUpdate } from '../support/sparql-update.js';

const owner = ed25519Identity();
const update = 'application/sparql-update';
const line = (number: number): string => `<http://data.example/s${number}> <http://data.example/p> ${number} .\n`;
const long = `http://long.example/${'x'.repeat(65 << 10)}`;

function attacks(s: StorageUnderTest): void {
  for (const name of ['x.acl', '.acl', 'x.Meta', 'x.ACL', 'x.acl/'])
    it(`PATCH of ${name} creates nothing: 409, like PUT, also for an unauthorized caller (rule 1.3)`, async () => {
      const container = await s.container();
      for (const sender of [undefined, s.stranger]) {
        const answer = await s.send(
          'PATCH',
          container + name,
          { 'Content-Type': update },
          'INSERT DATA { <#a> <#b> 1 }',
          sender,
        );
        expectProblem(answer, 409, s);
      }
      expect(await s.members(container)).to.deep.equal([]);
    });

  for (const path of ['.lws', '.LWS/x', 'APP', 'app/x', 'callback/', '.well-known/lws-configuration/x'])
    it(`PATCH of /${path} creates nothing (rule 1.3)`, async () => {
      expectProblem(await s.patch(s.root + path, update, 'INSERT DATA { <#a> <#b> 1 }'), [405, 409], s);
      expect(await s.members(s.root)).not.to.include(s.root + path);
    });

  for (const [what, text] of [
    ['INSERT DATA', `INSERT DATA { <#a> <#b> <${long}> }`],
    ['a datatype', `INSERT DATA { <#a> <#b> "x"^^<${long}> }`],
    [
      'STRDT()',
      'INSERT { <#a> <#b> ?typed } WHERE { ?s <#long> ?x BIND(STRDT("x", IRI(CONCAT("http://long.example/", ?x))) AS ?typed) }',
    ],
    [
      'IRI()',
      'INSERT { <#a> <#b> ?iri } WHERE { ?s <#long> ?x BIND(IRI(CONCAT("http://long.example/", ?x)) AS ?iri) }',
    ],
  ] as const)
    for (const where of ['a resource', 'the endpoint'])
      it(`an IRI above 64 KiB by ${what} at ${where} is 400 and changes nothing (rule 1.13)`, async () => {
        const { iri, etag } = await s.stored('text/turtle', `<#s> <#long> "${'x'.repeat(65 << 10)}" .`);
        const graph = text.replaceAll('<#', `<${iri}#`);
        const inGraph = graph
          .replace('WHERE {', `WHERE { GRAPH <${iri}> {`)
          .replace(/\}$/, graph.includes('WHERE') ? '} }' : '}');
        const atEndpoint = inGraph
          .replace(/^INSERT DATA \{(.*)\}$/, `INSERT DATA { GRAPH <${iri}> {$1} }`)
          .replace(/^INSERT \{(.*?)\} WHERE/, `INSERT { GRAPH <${iri}> {$1} } WHERE`);
        const answer = where === 'a resource' ? await s.patch(iri, update, graph) : await postUpdate(s, atEndpoint);
        expectProblem(answer, 400, s);
        expect(answer.text).to.include('too long');
        expect(await s.tag(iri)).to.equal(etag);
      });

  it('invalid RDF terms are skipped in a graph of any size, and an unbound variable creates no triple (rule 6.16)', async () => {
    for (const count of [3, largeGraph + 1]) {
      const { iri, etag } = await s.stored('text/turtle', Array.from({ length: count }, (_, i) => line(i)).join(''));
      for (const text of [
        'INSERT DATA { "lit" <#p> 1 }',
        'INSERT { <#s> <#p> ?v } WHERE {}',
        'INSERT DATA { <#s> <#p> "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> }',
        'DELETE DATA { "lit" <#p> 1 }',
      ]) {
        const answer = await s.patch(iri, update, text);
        expect(answer.status, `${text} on ${count}: ${answer.text}`).to.equal(204);
        expect(await s.tag(iri), `${text} on ${count}`).to.equal(etag);
      }
      const served = await s.get(iri);
      expect((await s.put(iri, 'text/turtle', served.text, { 'If-Match': etag })).status).to.equal(204);
    }
  }).timeout(30_000);
}

describeStorage('Names and terms under attack', attacks, {
  settings: { owners: owner.did, 'sparql.endpoint.update': 'true' },
  owner,
  isOncePlaced: true,
});
