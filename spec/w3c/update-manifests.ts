/**
 * W3C tests of SPARQL Update from their manifests, in one archive. File names are paths in the archive. Test ids consist of the
 * folder of the manifest and the fragment of the test's IRI. Must not depend on a server.
 */
import { Parser, Store } from 'n3';
import { linesOf } from './datasets.js';
import { currentSuites, currentTexts, keptSuite, type SuiteTexts } from './suites.js';

/** Files by graph: `default`, or the last segment of the graph's name. */
export type GraphFiles = ReadonlyMap<string, string>;

export interface UpdateTest {
  readonly id: string;
  readonly name: string;
  /** Path of the update. */
  readonly update: string;
  /** `evaluation` compares graphs, the other kinds test the syntax only. */
  readonly kind: 'evaluation' | 'positive' | 'negative';
  readonly before: GraphFiles;
  readonly after: GraphFiles;
}

const folders = [
  ...['add', 'basic-update', 'clear', 'copy', 'delete', 'delete-data', 'delete-insert', 'delete-where', 'drop', 'move'],
  ...['syntax-update-1', 'syntax-update-2', 'update-silent'],
];
/** Folders of SPARQL 1.2 with tests of updates among others. */
const mixedFolders = ['eval-triple-terms', 'syntax-triple-terms-negative', 'syntax-triple-terms-positive'];
const files: SuiteTexts = currentSuites
  ? {
      ...currentTexts('sparql/sparql11', { folders }),
      ...currentTexts('sparql/sparql12', { folders: mixedFolders }),
    }
  : keptSuite('sparql11-update');

export const readUpdateFile = (path: string): string => files[path]!;

/** Returns the text of a graph, empty for an absent one. The file of the default graph may be TriG, with other graphs in it. */
export function textOfGraph(graphs: GraphFiles, name: string): string {
  const own = graphs.get(name);
  const all = graphs.get('default');
  if (!/\.(?:trig|nq)$/.test(own ?? all ?? '')) return own === undefined ? '' : readUpdateFile(own);
  const nameOf = ({ value }: { readonly value: string }): string =>
    value.slice(value.lastIndexOf('/') + 1) || 'default';
  const quads = new Parser({ format: 'application/trig', baseIRI: base }).parse(readUpdateFile((own ?? all)!));
  return linesOf(quads.filter(({ graph }) => nameOf(graph) === name));
}

/** Base IRI of the manifests. Nothing is fetched from it. */
const base = 'https://w3c.example/';
const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#';
const ut = 'http://www.w3.org/2009/sparql/tests/test-update#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const label = 'http://www.w3.org/2000/01/rdf-schema#label';

const folderOf = (manifest: string): string => manifest.slice(0, manifest.indexOf('/'));

export const updateTests: readonly UpdateTest[] = Object.keys(files)
  .filter((path) => path.endsWith('/manifest.ttl'))
  .flatMap(testsOf);

function testsOf(manifest: string): UpdateTest[] {
  const store = new Store(new Parser({ baseIRI: base + manifest }).parse(files[manifest]!));
  const objects = (subject: unknown, predicate: string) => store.getObjects(subject as never, predicate, null);
  const pathOf = ({ value }: { readonly value: string }): string => value.slice(base.length);
  const graphsOf = (node: unknown): GraphFiles =>
    new Map([
      ...objects(node, `${ut}data`).map((file) => ['default', pathOf(file)] as const),
      ...objects(node, `${ut}graphData`).map((each) => {
        const [file, name] = [objects(each, `${ut}graph`)[0]!, objects(each, label)[0]!.value];
        return [name.slice(name.lastIndexOf('/') + 1), pathOf(file)] as const;
      }),
    ]);
  const lists = store.extractLists();
  return store
    .getObjects(null, `${mf}entries`, null)
    .flatMap(({ value }) => lists[value] ?? [])
    .filter((test) => /Update/.test(objects(test, rdfType)[0]!.value) || folders.includes(folderOf(manifest)))
    .map((test): UpdateTest => {
      const [type, action, name, result] = [rdfType, `${mf}action`, `${mf}name`, `${mf}result`].map(
        (predicate) => objects(test, predicate)[0],
      );
      const isSyntax = type!.value.includes('Syntax');
      return {
        id: `${folderOf(manifest)}${test.value.slice(test.value.indexOf('#'))}`,
        name: name!.value,
        update: isSyntax ? pathOf(action!) : pathOf(objects(action, `${ut}request`)[0]!),
        kind: isSyntax ? (type!.value.includes('Negative') ? 'negative' : 'positive') : 'evaluation',
        before: isSyntax ? new Map() : graphsOf(action),
        after: isSyntax ? new Map() : graphsOf(result),
      };
    });
}
