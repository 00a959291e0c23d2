/**
 * Round trips of real-world ontologies over HTTP: stored as N-Triples and read in every serialization. The responses are parsed
 * independently of the server. Must not depend on layers of the server.
 */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { readJsonLd, readNTriples, readRdfXml, readTurtle } from '../lib/rdf/readers.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { loadOntology, names, type Ontology } from './ontologies.js';

type Reader = (text: string, base: string) => Quad[] | Promise<Quad[]>;

const readers: Readonly<Record<string, Reader>> = {
  'text/turtle': readTurtle,
  'application/trig': (text, base) => readTurtle(text, base, 'application/trig'),
  'application/n-triples': readNTriples,
  'application/ld+json': readJsonLd,
  'application/rdf+xml': readRdfXml,
};

/** True if RDF/XML can name every predicate and XML can represent every character (RDF/XML 1.1, 5.1). */
const isXmlWritable = (quads: readonly Quad[]): boolean =>
  quads.every(
    ({ predicate, object }) =>
      /[\p{L}_][\p{L}\p{N}\p{M}_.·-]*$/u.test(predicate.value) &&
      !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(object.value),
  );

describe('Real ontologies', function () {
  this.timeout(30_000);
  let server: SpecServer;
  before(async () => {
    server = await startSpecServer({ settings: { 'dev.open': 'true' } });
  });
  after(() => server.stop());

  const put = (iri: string, nTriples: string): Promise<Response> =>
    fetch(iri, { method: 'PUT', headers: { 'Content-Type': 'application/n-triples' }, body: nTriples });

  async function get(iri: string, type: string): Promise<{ type: string; text: string }> {
    const response = await fetch(iri, { headers: { Accept: type } });
    const text = await response.text();
    expect(response.status, text.slice(0, 500)).to.equal(200);
    return { type: response.headers.get('Content-Type') ?? '', text };
  }

  for (const name of names)
    describe(name, () => {
      let ontology: Ontology;
      let iri: string;
      before(async () => {
        ontology = await loadOntology(name);
        iri = `${server.root}${name}`;
        const response = await put(iri, ontology.nTriples);
        expect(response.status, await response.text()).to.equal(201);
      });

      for (const [type, read] of Object.entries(readers))
        it(`returns an isomorphic graph as ${type}`, async () => {
          const { type: actual, text } = await get(iri, type);
          const writable = type !== 'application/rdf+xml' || isXmlWritable(ontology.quads);
          expect(actual).to.equal(writable ? type : 'text/turtle');
          const quads = await (writable ? read : readTurtle)(text, iri);
          expect(quads.every(({ graph }) => graph.termType === 'DefaultGraph')).to.equal(true);
          expect(quads.length).to.equal(ontology.quads.length);
          expect(isomorphic(ontology.quads, quads), 'isomorphic').to.equal(true);
        });

      it('stores its own Turtle again without a difference', async () => {
        const copy = `${iri}-copy`;
        const turtle = await get(iri, 'text/turtle');
        const body = turtle.text.replaceAll(`<${iri}>`, '<>');
        const response = await fetch(copy, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body });
        expect(response.status, await response.text()).to.equal(201);
        const { text } = await get(copy, 'application/n-triples');
        expect(isomorphic(ontology.quads, readNTriples(text)), 'isomorphic').to.equal(true);
      });
    });
});
