/**
 * Storing, reading, patching and deleting schema.org (17,000 triples) while another client reads a small resource. The server is
 * a separate process, so that only its own work delays the reads. Must not depend on its threads.
 */

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { readNTriples, readTurtle } from '../lib/rdf/readers.js';
import { slowness } from '../support/patience.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { loadOntology, type Ontology } from './ontologies.js';

/**
 * Maximum duration of a small GET, in milliseconds. Measured on two busy cores: 5 to 110. The operations take 200 to 4000, so a
 * thread that runs one of them itself exceeds the limit by far.
 */
const longestWait = 250;

const comment = 'http://www.w3.org/2000/01/rdf-schema#comment';
const definition = 'http://www.w3.org/2004/02/skos/core#definition';
const update = `DELETE { ?term <${comment}> ?text } INSERT { ?term <${definition}> ?text } WHERE { ?term <${comment}> ?text }`;

interface Timed {
  readonly response: Response;
  readonly text: string;
  readonly took: number;
  /** Durations of the concurrent small GETs in milliseconds, longest first. */
  readonly waits: readonly number[];
}

describe('schema.org without stalling other clients', function () {
  this.timeout(60_000);
  // The machine may pause once. A server that stalls fails in every try.
  this.retries(2);
  let server: ServerProcess;
  let schema: Ontology;
  let small: string;
  before(async () => {
    schema = await loadOntology('schema');
    // No cache, so that every read is cold.
    const environment = { LWS_CACHE_MAX_BYTES: '0', LWS_SPARQL_UPDATE_TIMEOUT_SECONDS: '50' };
    server = await startProcess({ environment });
    small = `${server.root}small`;
    await fetch(small, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body: '<#it> <urn:is> "small" .' });
    // Waits until the SPARQL parser is loaded, in the first second after the start.
    await patch(small, 'INSERT DATA { <urn:a> <urn:b> <urn:c> }');
  });
  after(async () => {
    await server.stop();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  const send = (method: string, iri: string, type: string, body: string): Promise<Response> =>
    fetch(iri, { method, headers: { 'Content-Type': type }, body });
  const put = (iri: string): Promise<Response> => send('PUT', iri, 'application/n-triples', schema.nTriples);
  const patch = (iri: string, text: string): Promise<Response> => send('PATCH', iri, 'application/sparql-update', text);

  async function timed(operation: () => Promise<Response>): Promise<Timed> {
    const reader = new Worker(new URL('./small-reader.js', import.meta.url), { workerData: small });
    await once(reader, 'message');
    const start = performance.now();
    const response = await operation();
    const text = await response.text();
    const took = performance.now() - start;
    reader.postMessage('stop');
    const [waits] = (await once(reader, 'message')) as [number[]];
    expect(response.ok, text.slice(0, 500)).to.equal(true);
    expect(waits[0], `longest of ${waits.length} small GETs during ${took.toFixed()} ms`).to.be.below(
      longestWait * slowness,
    );
    return { response, text, took, waits };
  }

  let copies = 0;
  const newName = (): string => `${server.root}schema-${++copies}`;

  it('PUT', async () => {
    const { took, waits } = await timed(() => put(newName()));
    expect(took).to.be.above(waits[0]!);
    expect(waits.length).to.be.above(10);
  });

  for (const type of [
    'text/turtle',
    'application/n-triples',
    'application/ld+json',
    'application/rdf+xml',
    'application/trig',
  ])
    it(`GET as ${type}, cold`, async () => {
      const iri = `${server.root}schema-1`;
      const { response, text } = await timed(() => fetch(iri, { headers: { Accept: type } }));
      expect(response.headers.get('Content-Type')).to.equal(type);
      if (type === 'text/turtle') expect(isomorphic(schema.quads, readTurtle(text, iri))).to.equal(true);
    });

  it('PATCH with a WHERE that matches thousands of triples', async () => {
    const iri = newName();
    await put(iri);
    const { took, waits } = await timed(() => patch(iri, update));
    expect(took).to.be.above(waits[0]!);
    expect(waits.length).to.be.above(10);
    const text = await (await fetch(iri, { headers: { Accept: 'application/n-triples' } })).text();
    const expected = readNTriples(schema.nTriples.replaceAll(`<${comment}> "`, `<${definition}> "`));
    expect(isomorphic(expected, readNTriples(text))).to.equal(true);
  });

  it('PUT that replaces it, and DELETE', async () => {
    const iri = newName();
    await put(iri);
    const { headers } = await fetch(iri, { method: 'HEAD' });
    const tag = headers.get('ETag')!;
    await timed(() =>
      fetch(iri, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/n-triples', 'If-Match': tag },
        body: schema.nTriples.replaceAll('schema.org/', 'example.org/'),
      }),
    );
    await timed(() => fetch(iri, { method: 'DELETE' }));
  });
});
