/**
 * W3C SPARQL tests from their manifests. File names are paths below `data`. Test ids consist of the folder of the manifest and
 * the fragment of the test's IRI: `data-r2/graph#dawg-graph-01`. Must not depend on a server.
 */
import type { Term } from '@rdfjs/types';
import { Parser, Store } from 'n3';
import { currentSuites, currentTexts, keptSuite, type SuiteTexts } from './suites.js';

export interface EvaluationTest {
  readonly kind: 'evaluation';
  readonly id: string;
  readonly name: string;
  readonly query: string;
  /** Files of the default graph and of the named graphs. */
  readonly data: readonly string[];
  readonly graphs: readonly string[];
  readonly result: string;
  /** True if duplicates are optional (REDUCED). */
  readonly isLax: boolean;
}

export interface SyntaxTest {
  readonly kind: 'positive' | 'negative';
  readonly id: string;
  readonly name: string;
  readonly query: string;
}

export type W3cTest = EvaluationTest | SyntaxTest;

/** True for tests of updates, in `update-manifests.ts`. */
const isUpdate = (type: string): boolean => /Update/.test(type);

/** Base IRI of the manifests. Nothing is fetched from it. */
const base = 'https://w3c.example/';

const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#';
const qt = 'http://www.w3.org/2001/sw/DataAccess/tests/test-query#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Folders of SPARQL 1.1 with query tests. */
const queryFolders = [
  ...[
    'aggregates',
    'bind',
    'bindings',
    'cast',
    'construct',
    'csv-tsv-res',
    'exists',
    'functions',
    'grouping',
    'json-res',
  ],
  ...['negation', 'project-expression', 'property-path', 'subquery', 'syntax-fed', 'syntax-query'],
];

const texts: SuiteTexts = currentSuites
  ? {
      ...currentTexts('sparql/sparql10', { prefix: 'data-r2/' }),
      ...currentTexts('sparql/sparql11', { prefix: 'data-sparql11/', folders: queryFolders }),
      ...currentTexts('sparql/sparql12', { prefix: 'data-sparql12/' }),
    }
  : { ...keptSuite('data-r2'), ...keptSuite('data-sparql11') };

export function readDataFile(path: string): string {
  const text = texts[path];
  if (text === undefined) throw new Error(`File ${path} is not in the suites.`);
  return text;
}

/** Tests of all manifests, by path of the manifest. */
export const w3cTests: readonly W3cTest[] = Object.keys(texts)
  .filter((path) => /\/manifest\.ttl$/.test(path))
  .sort()
  .flatMap(testsOf);

function testsOf(manifest: string): W3cTest[] {
  const store = new Store(new Parser({ baseIRI: base + manifest }).parse(readDataFile(manifest)));
  const objects = (subject: Term, predicate: string): Term[] =>
    store.getObjects(subject as never, predicate, null) as Term[];
  const files = (subject: Term, predicate: string): string[] =>
    objects(subject, predicate).map(({ value }) => value.slice(base.length));
  const lists = store.extractLists();
  const entries = store.getObjects(null, `${mf}entries`, null).flatMap(({ value }) => lists[value] ?? []);
  const isOfQuery = (test: Term): boolean => !isUpdate(objects(test, rdfType)[0]!.value);
  return entries.filter(isOfQuery).map((test): W3cTest => {
    const [type, action, name] = [rdfType, `${mf}action`, `${mf}name`].map((p) => objects(test, p)[0]!);
    const id = `${manifest.slice(0, manifest.lastIndexOf('/'))}${test.value.slice(test.value.indexOf('#'))}`;
    if (type!.value.includes('SyntaxTest')) {
      const kind = type!.value.includes('Negative') ? 'negative' : 'positive';
      return { kind, id, name: name!.value, query: action!.value.slice(base.length) };
    }
    return {
      kind: 'evaluation',
      id,
      name: name!.value,
      query: files(action!, `${qt}query`)[0]!,
      data: files(action!, `${qt}data`),
      graphs: files(action!, `${qt}graphData`),
      result: files(test, `${mf}result`)[0]!,
      isLax: objects(test, `${mf}resultCardinality`).some(({ value }) => value === `${mf}LaxCardinality`),
    };
  });
}
