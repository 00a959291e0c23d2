/**
 * The W3C SPARQL tests as their manifests list them. Files are named by their paths below `data`, and tests by the folder
 * of their manifest and the fragment of their IRI: `data-r2/graph#dawg-graph-01`. It must not know a server.
 */
import type { Term } from '@rdfjs/types';
import { Parser, Store } from 'n3';
import { currentSuites, currentTexts, keptSuite, type SuiteTexts } from './suites.js';

export interface EvaluationTest {
  readonly kind: 'evaluation';
  readonly id: string;
  readonly name: string;
  readonly query: string;
  /** The files of the default graph and of the named graphs. */
  readonly data: readonly string[];
  readonly graphs: readonly string[];
  readonly result: string;
  /** Duplicates may have been taken out or not (REDUCED). */
  readonly isLax: boolean;
}

export interface SyntaxTest {
  readonly kind: 'positive' | 'negative';
  readonly id: string;
  readonly name: string;
  readonly query: string;
}

export type W3cTest = EvaluationTest | SyntaxTest;

/** Stands for the folder of the data while the manifests are read; nothing is ever asked there. */
const base = 'https://w3c.example/';

const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#';
const qt = 'http://www.w3.org/2001/sw/DataAccess/tests/test-query#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Folders of SPARQL 1.1 with tests of queries. */
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
    }
  : { ...keptSuite('data-r2'), ...keptSuite('data-sparql11') };

export function readDataFile(path: string): string {
  const text = texts[path];
  if (text === undefined) throw new Error(`The suites have no file ${path}.`);
  return text;
}

/** The tests of all manifests, in their order. */
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
  return entries.map((test): W3cTest => {
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
