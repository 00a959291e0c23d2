/** Data files of W3C tests by graph: TriG and N-Quads may name graphs. Must not depend on a server. */
import type { Quad } from '@rdfjs/types';
import { writeTerm } from '../lib/query/engine-dataset.js';
import { readRdf } from '../support/rdf.js';
import { readDataFile } from './manifests.js';
import { mediaTypeOf } from './outcomes.js';

/** Triples of the default graph, and of named graphs by name. */
export interface FileGraphs {
  readonly own: readonly Quad[];
  readonly named: ReadonlyMap<string, readonly Quad[]>;
}

/** True for a file in a syntax with named graphs. */
export const hasNamedGraphs = (path: string): boolean => /\.(?:trig|nq)$/.test(path);

/** Writes triples as N-Triples. */
export const linesOf = (quads: readonly Quad[]): string =>
  quads.map((quad) => `${[quad.subject, quad.predicate, quad.object].map(writeTerm).join(' ')} .\n`).join('');

export async function graphsOfFile(path: string, base: string): Promise<FileGraphs> {
  const named = new Map<string, Quad[]>();
  const own: Quad[] = [];
  for (const quad of await readRdf(readDataFile(path), mediaTypeOf(path), base)) {
    const { termType, value } = quad.graph;
    if (termType === 'DefaultGraph') own.push(quad);
    else named.set(value, [...(named.get(value) ?? []), quad]);
  }
  return { own, named };
}
