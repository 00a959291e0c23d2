/**
 * Current W3C suites of RDF formats from their manifests: Turtle, N-Triples, N-Quads, TriG and RDF/XML of RDF 1.1 and 1.2, and
 * JSON-LD 1.1 toRdf. Must not depend on a server.
 */
import { Parser, Store } from 'n3';
import type { RdfFormat } from '../../lib/rdf/formats.js';
import { currentFiles } from './suites.js';

export interface RdfTest {
  /** Folder and test name: `rdf-turtle#IRI_subject`, `rdf12/rdf-turtle/eval#name`. */
  readonly id: string;
  readonly title: string;
  readonly kind: 'evaluation' | 'positive' | 'negative' | 'canonical';
  readonly format: RdfFormat;
  readonly base: string;
  readonly document: Buffer;
  /** Expected quads of an evaluation test, or text of a canonical one, as N-Triples or N-Quads. */
  readonly result?: string;
  /** Options of a JSON-LD test. */
  readonly options?: Readonly<Record<string, unknown>>;
}

const formats: Readonly<Record<string, RdfFormat>> = {
  'rdf-turtle': 'text/turtle',
  'rdf-n-triples': 'application/n-triples',
  'rdf-n-quads': 'application/n-quads',
  'rdf-trig': 'application/trig',
  'rdf-xml': 'application/rdf+xml',
};
const folders = [
  ...Object.keys(formats).map((name) => `rdf11/${name}`),
  ...['rdf-turtle/eval', 'rdf-turtle/syntax', 'rdf-n-triples/c14n', 'rdf-n-triples/syntax', 'rdf-n-quads/c14n'],
  ...['rdf-n-quads/syntax', 'rdf-trig/eval', 'rdf-trig/syntax', 'rdf-xml/eval'],
].map((name) => (name.startsWith('rdf11/') ? name : `rdf12/${name}`));

const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** @throws if `W3C_TESTS` has no such suite */
export const rdfTests = (): readonly RdfTest[] => [...folders.flatMap(testsOf), ...jsonLdTests()];

function testsOf(folder: string): RdfTest[] {
  const files = currentFiles(`rdf/${folder}`);
  const base = `https://w3c.github.io/rdf-tests/rdf/${folder}/`;
  const format = formats[folder.split('/')[1]!]!;
  const store = new Store(new Parser({ baseIRI: `${base}manifest.ttl` }).parse(files.get('manifest.ttl')!.toString()));
  const value = (subject: unknown, predicate: string): string | undefined =>
    store.getObjects(subject as never, predicate, null)[0]?.value;
  const file = (iri: string): Buffer => files.get(iri.slice(base.length))!;
  const entries = store
    .getObjects(null, `${mf}entries`, null)
    .flatMap((list) => store.extractLists()[list.value] ?? []);
  return entries.map((test): RdfTest => {
    const type = value(test, rdfType)!;
    const [action, result] = [value(test, `${mf}action`)!, value(test, `${mf}result`)];
    return {
      id: `${folder.replace('rdf11/', '')}${test.value.slice(test.value.indexOf('#'))}`,
      title: value(test, `${mf}name`)!,
      kind: kindOf(type, result),
      format,
      base: action,
      document: file(action),
      ...(result === undefined ? {} : { result: file(result).toString() }),
    };
  });
}

function kindOf(type: string, result: string | undefined): RdfTest['kind'] {
  if (type.includes('Negative')) return 'negative';
  if (type.includes('C14N')) return 'canonical';
  return result === undefined ? 'positive' : 'evaluation';
}

interface JsonLdEntry {
  readonly '@id': string;
  readonly '@type': readonly string[];
  readonly name: string;
  readonly input: string;
  readonly expect?: string;
  readonly option?: Readonly<Record<string, unknown>>;
}

const jsonLdBase = 'https://w3c.github.io/json-ld-api/tests/';

function jsonLdTests(): RdfTest[] {
  const files = currentFiles('tests');
  const { sequence } = JSON.parse(files.get('toRdf-manifest.jsonld')!.toString()) as { sequence: JsonLdEntry[] };
  return sequence.map(({ '@id': id, '@type': types, name, input, expect, option = {} }) => ({
    id: `toRdf${id}`,
    title: name,
    kind: types.includes('jld:NegativeEvaluationTest') ? 'negative' : expect === undefined ? 'positive' : 'evaluation',
    format: 'application/ld+json',
    base: (option['base'] as string | undefined) ?? jsonLdBase + input,
    document: files.get(input)!,
    options: option,
    ...(expect === undefined ? {} : { result: files.get(expect)!.toString() }),
  }));
}

/** Returns the text of a context of the JSON-LD suite. */
export function suiteContext(iri: string): string | undefined {
  if (!iri.startsWith(jsonLdBase)) return undefined;
  return currentFiles('tests').get(iri.slice(jsonLdBase.length))?.toString();
}
