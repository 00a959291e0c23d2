/** W3C tests of RDF/XML by the RDF Core Working Group: triples of valid documents, and rejection of invalid ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parseRdf } from '../../lib/rdf/parse.js';
import { LwsError } from '../../lib/tools/errors.js';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { currentSuites } from './suites.js';

/** Document and triples in base64, because some documents are not in UTF-8. A document without triples must be rejected. */
interface Test {
  readonly document: string;
  readonly triples?: string;
}
const archive = readFileSync(join(packageRoot, 'spec/w3c/data/rdfxml.json.gz'));
const tests = Object.entries(JSON.parse(gunzipSync(archive).toString()) as Record<string, Test>);

// The current suites have the same tests (rdf-readers.spec.ts).
if (!currentSuites) describe('W3C tests of RDF/XML', register);

function register(): void {
  it('contains all tests', () => expect(tests).to.have.length(171));

  for (const [name, { document, triples }] of tests) {
    const base = `http://www.w3.org/2000/10/rdf-tests/rdfcore/${name}`;
    const bytes = Buffer.from(document, 'base64');
    if (triples === undefined)
      it(`${name} is rejected`, async () => {
        const refusal = await parseRdf(bytes, 'application/rdf+xml', { base }).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(refusal).to.be.instanceOf(LwsError).with.property('code', 'malformed-body');
      });
    else
      it(name, async () => {
        const { quads } = await parseRdf(bytes, 'application/rdf+xml', { base });
        // Turtle, because the N-Triples of 2004 differ slightly from current N-Triples.
        const wanted = await parseRdf(Buffer.from(triples, 'base64'), 'text/turtle', { base });
        expect(isomorphic(quads, wanted.quads)).to.equal(true);
      });
  }
}
