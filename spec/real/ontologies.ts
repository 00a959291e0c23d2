/** Ontologies from npm's `@vocabulary/*` packages, as quads and as the N-Triples that a client would send. Must not depend on the server. */
import type { DataFactory as Factory, Quad } from '@rdfjs/types';
import { DataFactory, Writer } from 'n3';

/** Names of the packages: `@vocabulary/prov`. */
export const names = [
  'dcat',
  'dcterms',
  'foaf',
  'owl',
  'prov',
  'qb',
  'qudt',
  'schema',
  'sh',
  'skos',
  'sosa',
  'time',
] as const;
export type OntologyName = (typeof names)[number];

export interface Ontology {
  readonly name: OntologyName;
  /** Quads of the default graph, without duplicates. */
  readonly quads: readonly Quad[];
  readonly nTriples: string;
}

type Module = { default: (options: { factory: Factory }) => Quad[] };

export async function loadOntology(name: OntologyName): Promise<Ontology> {
  const { default: make } = (await import(`@vocabulary/${name}`)) as Module;
  const quads = make({ factory: DataFactory as unknown as Factory }).map(({ subject, predicate, object }) =>
    DataFactory.quad(subject as never, predicate as never, object as never),
  );
  return { name, quads, nTriples: new Writer({ format: 'N-Triples' }).quadsToString(quads) };
}
