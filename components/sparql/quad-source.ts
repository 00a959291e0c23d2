/**
 * The caller's dataset as an RDF/JS source over one snapshot: named graphs that it may read, and their union, in which a
 * triple of two graphs counts once, as the default graph. It must not know the query.
 */
import { Readable } from 'node:stream';
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Level, LevelSnapshot } from '../../lib/storage/durable-level.js';
import { matchQuadBlocks, type QuadPattern } from '../../lib/storage/quad-source.js';
import type { ReadableGraphs } from './readable-graphs.js';

export interface DatasetOptions {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  readonly readable: ReadableGraphs;
  /** The graphs that the default graph is the union of; absent: all. */
  readonly defaultGraphs?: readonly string[];
  /** The graphs that GRAPH ranges over; absent: all. */
  readonly namedGraphs?: readonly string[];
}

const factory = new DataFactory<Quad>();

export interface MatchSource {
  match(subject?: Term, predicate?: Term, object?: Term, graph?: Term): Readable;
}

export function datasetSource(options: DatasetOptions): MatchSource {
  return {
    match: (subject, predicate, object, graph) =>
      Readable.from(quads(options, [bound(subject), bound(predicate), bound(object)], graph), { objectMode: true }),
  };
}

const bound = (term: Term | undefined): Term | undefined => (term && term.termType !== 'Variable' ? term : undefined);

async function* quads(
  options: DatasetOptions,
  [subject, predicate, object]: readonly (Term | undefined)[],
  graph: Term | undefined,
): AsyncGenerator<Quad> {
  const pattern = { subject, predicate, object };
  if (graph?.termType === 'DefaultGraph') yield* unionOf(options, pattern);
  else if (graph?.termType === 'NamedNode') {
    if (isNamed(options, graph.value)) yield* readableQuads(options, { ...pattern, graph });
  } else if (options.namedGraphs) {
    for (const name of new Set(options.namedGraphs))
      yield* readableQuads(options, { ...pattern, graph: factory.namedNode(name) });
  } else yield* readableQuads(options, pattern);
}

const isNamed = ({ namedGraphs }: DatasetOptions, graph: string): boolean =>
  !namedGraphs || namedGraphs.includes(graph);

/** Triples of several graphs, each once. */
async function* unionOf(options: DatasetOptions, pattern: QuadPattern): AsyncGenerator<Quad> {
  const seen = new Set<string>();
  const sources = options.defaultGraphs
    ? [...new Set(options.defaultGraphs)].map((name) =>
        readableQuads(options, { ...pattern, graph: factory.namedNode(name) }),
      )
    : [readableQuads(options, pattern)];
  for (const source of sources)
    for await (const { subject, predicate, object } of source) {
      const key = [subject, predicate, object].map(identity).join('\u0001');
      if (seen.has(key)) continue;
      seen.add(key);
      yield factory.quad(subject, predicate, object);
    }
}

/** A term as a text that no other term has. */
function identity(term: Term): string {
  if (term.termType !== 'Literal') return `${term.termType} ${term.value}`;
  return `"${term.value}"${term.language}^${term.datatype.value}`;
}

async function* readableQuads(
  { level, snapshot, readable }: DatasetOptions,
  pattern: QuadPattern,
): AsyncGenerator<Quad> {
  for await (const block of matchQuadBlocks(level, pattern, { snapshot })) {
    if (!readable.all) {
      const open = block.filter(({ graph }) => readable.known(graph.value) === undefined);
      if (open.length > 0) await readable.resolve(open.map(({ graph }) => graph.value));
    }
    for (const quad of block) if (readable.all || readable.known(quad.graph.value) === true) yield quad;
  }
}
