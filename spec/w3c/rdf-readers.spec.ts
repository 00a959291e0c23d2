/**
 * Current W3C suites of RDF formats (`W3C_TESTS`), parsed by the server's parsers. Documents with triples outside the default
 * graph must be rejected (rule 1.8). Contexts of the JSON-LD suite are passed to the parser like those of allowed hosts (rule
 * 1.11).
 */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { LwsError } from '../../lib/errors.js';
import { UnknownContext } from '../../lib/rdf/contexts.js';
import { parseRdf } from '../../lib/rdf/parse.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { skippedRdfTests } from './rdf-skipped.js';
import { type RdfTest, rdfTests, suiteContext } from './rdf-suites.js';
import { currentSuites } from './suites.js';

/** Triples, or the error code. */
type Reading = { readonly quads: readonly Quad[] } | { readonly refusal: string; readonly message: string };

async function read(test: RdfTest, contexts: Readonly<Record<string, string>> = {}): Promise<Reading> {
  const { document, format, base } = test;
  try {
    const { quads } = await parseRdf(document, format, { base, contexts });
    return { quads };
  } catch (error) {
    const text = error instanceof UnknownContext && suiteContext(error.iri);
    if (error instanceof UnknownContext && text && !(error.iri in contexts))
      return read(test, { ...contexts, [error.iri]: text });
    if (error instanceof LwsError) return { refusal: error.code, message: error.message };
    throw error;
  }
}

const quadsOf = (text: string): Quad[] => new Parser({ format: 'application/n-quads' }).parse(text);
const inDefaultGraph = ({ graph }: Quad): boolean => graph.termType === 'DefaultGraph';

/**
 * Returns the quads of a document without expected result, from a parser that the server does not use for line formats. Undefined
 * for JSON-LD.
 */
function independently({ document, format, base }: RdfTest): Quad[] | undefined {
  if (format === 'application/ld+json') return undefined;
  return new Parser({ format, baseIRI: base }).parse(document.toString());
}

const describeReading = (reading: Reading): string =>
  'refusal' in reading
    ? `${reading.refusal}: ${reading.message}`
    : reading.quads.map((q) => `${q.subject.value} ${q.predicate.value} ${q.object.value}`).join('\n');

/** Asserts the expected result of a test, under the rules of the service. */
async function check(test: RdfTest): Promise<void> {
  const reading = await read(test);
  const report = `${test.document}\n--- returned\n${describeReading(reading)}\n--- expected\n${test.result ?? test.kind}`;
  if (test.kind === 'negative') {
    expect('refusal' in reading, report).to.equal(true);
    return;
  }
  const wanted = test.result === undefined ? independently(test) : quadsOf(test.result);
  if (wanted && !wanted.every(inDefaultGraph)) {
    expect('refusal' in reading ? reading.refusal : 'none', report).to.equal('named-graph');
    return;
  }
  expect('quads' in reading, report).to.equal(true);
  if (wanted && 'quads' in reading) expect(isomorphic(reading.quads, wanted), report).to.equal(true);
}

if (currentSuites) describe('W3C suites of RDF 1.1 and JSON-LD 1.1', register);

function register(): void {
  const tests = rdfTests();
  const reasons = new Map(
    Object.entries(skippedRdfTests).flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)),
  );

  it('contains all tests', () => expect(tests.length).to.be.at.least(1459));

  it('skips existing tests only, each once', () => {
    const named = Object.values(skippedRdfTests).flat();
    const known = new Set(tests.map(({ id }) => id));
    expect(named.filter((id) => !known.has(id))).to.deep.equal([]);
    expect(named.filter((id, at) => named.indexOf(id) !== at)).to.deep.equal([]);
  });

  for (const test of tests) {
    const reason = reasons.get(test.id);
    if (reason === undefined) it(`${test.id}: ${test.title}`, () => check(test));
    else
      it(`${test.id}: ${test.title} [fails: ${reason}]`, async () => {
        const passes = await check(test).then(
          () => true,
          () => false,
        );
        expect(passes, 'passes: remove it from rdf-skipped.ts').to.equal(false);
      });
  }
}
