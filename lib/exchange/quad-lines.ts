/** Writes and reads N-Triples in which blank nodes keep their labels. */
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { DataFactory } from 'rdf-data-factory';
import { nTriplesWriter } from '../rdf/turtle-writer.js';

/** Triples with the ends of their lines; their graph is not written. */
export const quadLines = nTriplesWriter(true);

/** A triple with the end of its line. */
export const quadLine = (quad: Quad): string => quadLines([quad]);

/**
 * @param factory makes every term, blank nodes by their labels
 * @throws Error of n3 for what is no N-Triples
 */
export function readQuadLines(text: string, factory: DataFactory<Quad>): Quad[] {
  // With this prefix labels stay as they are.
  const parser = new Parser({
    format: 'application/n-triples',
    blankNodePrefix: '_:',
    factory: factory as never,
  });
  return parser.parse(text) as Quad[];
}
