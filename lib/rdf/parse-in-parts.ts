/** Parses long RDF documents triple by triple, without holding all terms in memory. */
import type { Quad } from '@rdfjs/types';
import { decodeUtf8 } from '../tools/json/json.js';
import { relabeller } from './blank-nodes.js';
import { CountingFactory, Expansion, usualBounds } from './bounds.js';
import type { RdfFormat } from './formats.js';
import { assertTripleLines, eachN3, isInDefaultGraph, namedGraph } from './n3-documents.js';
import type { ParseOptions } from './parse.js';
import { boundedPrefixes } from './prefixes.js';

/** Formats that can be parsed in parts. */
const inParts: ReadonlySet<RdfFormat> = new Set([
  'text/turtle',
  'application/trig',
  'application/n-triples',
  'application/n-quads',
]);

/** Returns true if `parseInParts` supports a format. */
export const hasParts = (format: RdfFormat): boolean => inParts.has(format);

const quadsAtATime = 2_000;

/**
 * Parses a long document, and passes its triples to `take` in parts. Detaches the buffer of `bytes` to free memory.
 * @returns the prefixes
 * @throws LwsError as `parseRdf`; the parts that were already passed are then invalid
 */
export function parseInParts(
  bytes: Uint8Array,
  { format, base, bounds = usualBounds }: ParseOptions & { readonly format: RdfFormat },
  take: (quads: readonly Quad[]) => void,
): Readonly<Record<string, string>> {
  const factory = new CountingFactory(new Expansion(bytes.length, bounds));
  const hasLines = format === 'application/n-triples' || format === 'application/n-quads';
  const text = decodeUtf8(bytes);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
  const fresh = relabeller();
  let part: Quad[] = [];
  let isNamed = false;
  const give = (): void => {
    isNamed ||= !part.every(isInDefaultGraph);
    // After the first triple in a named graph, only the syntax of the rest is checked.
    if (!isNamed) take(fresh(part));
    part = [];
  };
  const prefixes = eachN3(text, { format, factory, ...(hasLines ? {} : { base }) }, (quad) => {
    if (part.push(quad) === quadsAtATime) give();
  });
  give();
  if (isNamed) throw namedGraph();
  if (hasLines) assertTripleLines(text);
  return boundedPrefixes(prefixes);
}
