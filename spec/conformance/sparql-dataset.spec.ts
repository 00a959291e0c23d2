/** Rule 14.2: graphs of the dataset and their contents. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { metaOf, putLinks } from '../support/linkset.js';
import { ask, graphsSeen, holds, rows } from '../support/sparql.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const e = 'https://e.example/dataset/';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const relation = 'http://www.iana.org/assignments/relation/';

describeStorage('SPARQL dataset', (s) => {
  let [box, a, b] = ['', '', ''];
  before(async () => {
    box = await s.container();
    a = (await s.stored('text/turtle', `<> <${e}p> 1 . <${e}x> <${e}both> "v" , "V"@en , 01 .`, `${box}a`)).iri;
    b = (await s.stored('application/ld+json', `{"@id":"${e}x","${e}both":"v"}`, `${box}b`)).iri;
    await s.stored('application/json', `{"@id":"${e}x","${e}json":1}`, `${box}j`);
    await s.stored('text/plain', `<${e}x> <${e}text> 1 .`, `${box}t`);
  });

  it('each RDF resource has a named graph; JSON, binaries and listings have none (rule 14.2)', async () => {
    expect(await graphsSeen(s, undefined, box)).to.deep.equal([a, b]);
    expect(await holds(s, `ASK { <${box}> ?p ?o }`)).to.equal(false);
    expect(await holds(s, `ASK { ?s <${e}json>|<${e}text> ?o }`)).to.equal(false);
  });

  it('the default graph is their union, without duplicate triples (rule 14.2)', async () => {
    expect(await rows(s, `SELECT (COUNT(*) AS ?n) { <${e}x> <${e}both> ?o }`)).to.deep.equal(['3']);
    expect(await rows(s, `SELECT (COUNT(*) AS ?n) { <${e}x> <${e}both> "v" }`)).to.deep.equal(['1']);
    expect(await rows(s, `SELECT (COUNT(*) AS ?n) { GRAPH ?g { <${e}x> <${e}both> "v" } }`)).to.deep.equal(['2']);
    expect(await rows(s, `SELECT (COUNT(*) AS ?n) FROM <${a}> FROM <${b}> { ?s <${e}both> "v" }`)).to.deep.equal(['1']);
    expect(await rows(s, `SELECT ?o { <${e}x> <${e}both>/^<${e}both> ?o }`)).to.have.length(3);
  });

  it('SPARQL 13.3: GRAPH ?g never ranges over the default graph', async () => {
    expect(await rows(s, `SELECT ?g { GRAPH ?g { ?s <${e}p> ?o } }`)).to.deep.equal([a]);
    expect(await rows(s, `SELECT ?g FROM <${a}> { GRAPH ?g { ?s ?p ?o } }`)).to.deep.equal([]);
    expect(await rows(s, `SELECT ?o FROM NAMED <${a}> { ?s <${e}p> ?o }`)).to.deep.equal([]);
    expect(await rows(s, `SELECT ?g FROM NAMED <${b}> { GRAPH ?g { ?s ?p ?o } }`)).to.deep.equal([b]);
    expect(await holds(s, `ASK FROM NAMED <${b}> { GRAPH <${a}> { ?s ?p ?o } }`)).to.equal(false);
    // Each triple is in one of two graphs, and a pattern in GRAPH ?g matches within one.
    expect(await rows(s, `SELECT ?g { GRAPH ?g { ?s <${e}p> ?o . ?t <${e}both> "v" } }`)).to.deep.equal([a]);
  });

  it('FROM restricts and never extends (rule 14.4)', async () => {
    for (const iri of [`${e}foreign`, `${box}nothing`, `${box}j`, box, `${s.root}.lws/storage`])
      for (const clause of [`FROM <${iri}>`, `FROM NAMED <${iri}>`]) {
        expect(await rows(s, `SELECT * ${clause} { ?s ?p ?o }`), clause).to.deep.equal([]);
        expect(await rows(s, `SELECT * ${clause} { GRAPH ?g { ?s ?p ?o } }`), clause).to.deep.equal([]);
      }
  });

  it('client-managed metadata is a graph named by the linkset (rule 14.2)', async () => {
    const iri = `${box}t`;
    const links = {
      type: [{ href: `${e}Type` }],
      describedby: [{ href: a, title: 'About' }],
      [`${e}rel`]: [{ href: `${e}target` }],
      title: 'A title',
    };
    expect((await putLinks(s, iri, links)).status).to.equal(204);
    const found = await rows(s, `SELECT ?s ?p ?o { GRAPH <${metaOf(iri)}> { ?s ?p ?o } }`);
    expect(found).to.include.members([
      `${iri} ${rdfType} ${e}Type`,
      `${iri} ${relation}describedby ${a}`,
      `${iri} ${e}rel ${e}target`,
    ]);
    expect(found.filter((row) => row.endsWith(' A title'))).to.have.length(1);
    expect(found.filter((row) => /relation\/(?:up|linkset)|lws#storage|lws#DataResource/.test(row))).to.deep.equal([]);
    expect(await rows(s, `SELECT ?s { ?s a <${e}Type> }`)).to.deep.equal([iri]);
    expect((await putLinks(s, iri, {})).status).to.equal(204);
    expect(await graphsSeen(s, undefined, box)).to.deep.equal([a, b]);
  });

  it('the next query sees a write or a deletion (rule 14.2)', async () => {
    const iri = s.fresh();
    const values = () => rows(s, `SELECT ?o { <${e}w> <${e}fresh> ?o }`);
    for (let round = 0; round < 3; round++) {
      await s.stored('text/turtle', `<${e}w> <${e}fresh> 1 .`, iri);
      expect(await values()).to.deep.equal(['1']);
      expect((await s.put(iri, 'text/turtle', `<${e}w> <${e}fresh> 2 .`, { 'If-Match': '*' })).status).to.equal(204);
      expect(await values()).to.deep.equal(['2']);
      expect(
        (await s.patch(iri, 'application/sparql-update', `INSERT DATA { <${e}w> <${e}fresh> 3 }`)).status,
      ).to.equal(204);
      expect(await values()).to.deep.equal(['2', '3']);
      expect((await s.delete(iri)).status).to.equal(204);
      expect(await values()).to.deep.equal([]);
      expect(await holds(s, `ASK { GRAPH <${iri}> { ?s ?p ?o } }`)).to.equal(false);
    }
  });

  it('a recursive deletion removes all graphs and metadata below (rule 14.2)', async () => {
    const top = await s.container();
    await s.stored('text/turtle', `<${e}d> <${e}deep> 1 .`, `${top}x`);
    expect((await putLinks(s, `${top}x`, { type: [{ href: `${e}Deep` }] })).status).to.equal(204);
    expect(await graphsSeen(s, undefined, top)).to.have.length(2);
    expect((await s.delete(top, { Depth: 'infinity' })).status).to.equal(204);
    expect(await graphsSeen(s, undefined, top)).to.deep.equal([]);
    expect(await holds(s, `ASK { { ?s <${e}deep> ?o } UNION { ?s a <${e}Deep> } }`)).to.equal(false);
  });

  it('the dataset contains no server data (rule 14.2)', async () => {
    const all = await rows(s, 'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }');
    expect(all.filter((iri) => !iri.startsWith(s.root) || iri.startsWith(`${s.root}.lws`))).to.deep.equal([]);
    const { text } = await ask(s, 'CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }', { Accept: 'application/n-triples' });
    expect(text).not.to.match(/acl#|ldp#contains|lws#items|lws#owner|privateKey|urn:quadpod/);
  });

  it('blank nodes of two resources are distinct (rule 14.2)', async () => {
    for (const name of ['x', 'y']) await s.stored('text/turtle', `_:b <${e}blank> 1 .`, `${box}blank-${name}`);
    expect(await rows(s, `SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <${e}blank> 1 }`)).to.deep.equal(['2']);
  });
});

describeStorage(
  'SPARQL dataset with ACLs',
  (s) => {
    it('ACLs are never graphs, also for callers with control (rule 14.2)', async () => {
      const { iri } = await s.stored('text/turtle', `<> <${e}p> 1 .`);
      await setAcl(s, iri, rule('Read Control', agent(alice)));
      for (const sender of [undefined, as(s, alice)]) {
        expect(await holds(s, `ASK { GRAPH <${iri}.acl> { ?s ?p ?o } }`, sender)).to.equal(false);
        expect(await holds(s, 'ASK { ?s a <http://www.w3.org/ns/auth/acl#Authorization> }', sender)).to.equal(false);
        expect(
          await holds(
            s,
            `ASK FROM <${iri}.acl> FROM NAMED <${iri}.acl> { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }`,
            sender,
          ),
        ).to.equal(false);
        expect(await rows(s, 'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }', sender)).to.deep.equal([iri]);
      }
    });
  },
  inWac(),
);
