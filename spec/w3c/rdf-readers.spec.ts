/**
 * Current W3C suites of RDF formats (`W3C_TESTS`), parsed by the server's parsers. Documents with triples outside the default
 * graph must be rejected (rule 1.8), and read by the parsers of imports. Contexts of the JSON-LD suite are passed to the parser like those of allowed hosts (rule
 * 1.11).
 */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import { rdfParts } from '../../components/data/exchange/rdf-files.js';
import type { TreeFile } from '../../lib/exchange/file-tree.js';
import { UnknownContext } from '../../lib/rdf/contexts.js';
import { parseRdf } from '../../lib/rdf/parse.js';
import { serializeRdf } from '../../lib/rdf/serialize.js';
import { bracketed } from '../../lib/rdf/turtle-terms.js';
import { lineWriter } from '../../lib/storage/graphs/graph-lines.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { LwsError } from '../../lib/tools/errors.js';
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

/** Returns the quads of a document from the parsers of imports. */
async function importedFrom({ document, format, base }: RdfTest): Promise<Quad[]> {
  const file: TreeFile = {
    path: 'file',
    size: document.length,
    open: async function* () {
      yield document;
    },
  };
  const quads: Quad[] = [];
  for await (const part of rdfParts({ file, type: format, base, rewrite: [], takesGraphs: true }))
    quads.push(...part.quads);
  return quads;
}

const factory = new DataFactory<Quad>();

/** The graph as part of the predicate, for a comparison of triples. */
const withGraph = ({ subject, predicate, object, graph }: Quad): Quad =>
  factory.quad(
    subject,
    factory.namedNode(`${graph.termType} ${graph.termType === 'NamedNode' ? graph.value : ''} ${predicate.value}`),
    object,
  );

/** Numbers the labels of blank nodes, which are new on every write (rule 1.7). */
function relabelled(text: string): string {
  const labels = new Map<string, string>();
  return text.replace(/_:[A-Za-z0-9]+/g, (label) => {
    labels.set(label, labels.get(label) ?? `_:b${labels.size}`);
    return labels.get(label)!;
  });
}

/** Returns the line of a quad in a dump, or in canonical N-Triples. */
function lineOf(quad: Quad): string {
  const isNamed = quad.graph.termType === 'NamedNode';
  const [key] = encodeGraph(isNamed ? quad.graph.value : 'urn:none', [quad]);
  return lineWriter(isNamed ? ` ${bracketed(quad.graph.value)} .\n` : undefined)(key!);
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
    if (test.format === 'application/ld+json') return;
    const imported = await importedFrom(test);
    expect(isomorphic(imported.map(withGraph), wanted.map(withGraph)), report).to.equal(true);
    // The writer of dumps adds the graph to each line.
    if (test.kind === 'canonical') expect(relabelled(imported.map(lineOf).join(''))).to.equal(relabelled(test.result!));
    return;
  }
  expect('quads' in reading, report).to.equal(true);
  if (test.kind === 'canonical' && 'quads' in reading) {
    const written = serializeRdf(reading.quads, test.format, { base: test.base, prefixes: {} });
    expect(relabelled(written), report).to.equal(relabelled(test.result!));
  }
  if (wanted && 'quads' in reading) expect(isomorphic(reading.quads, wanted), report).to.equal(true);
}

if (currentSuites) describe('W3C suites of RDF 1.1, RDF 1.2 and JSON-LD 1.1', register);

function register(): void {
  const tests = rdfTests();
  const reasons = new Map(
    Object.entries(skippedRdfTests).flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)),
  );

  it('contains all tests', () => expect(tests.length).to.be.at.least(1791));

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
