/** Serializes the triples of a result in chunks: grouped and abbreviated up to a limit, one triple per line above it. */
import type { Quad } from '@rdfjs/types';
import type { RdfFormat } from '../../../lib/rdf/formats.js';
import { serializeRdf } from '../../../lib/rdf/serialize.js';
import { nTriplesWriter } from '../../../lib/rdf/turtle-writer.js';
import { UnwritableError } from '../../../lib/rdf/unwritable.js';
import type { WriterOptions } from '../../../lib/rdf/writer-options.js';
import { LwsError } from '../../../lib/tools/errors.js';

/** Maximum triples of a pretty-printed document. */
const maxReadable = 20_000;
/** Approximate length of a chunk, in characters. */
const chunkLength = 32_768;
/** Formats that include N-Triples as a subset. */
const lineFormats: ReadonlySet<RdfFormat> = new Set<RdfFormat>([
  'text/turtle',
  'application/n-triples',
  'application/n-quads',
  'application/trig',
]);

/** Yields the chunks of a graph. @throws LwsError `not-acceptable` if the format cannot represent the graph */
export async function* graphChunks(
  blocks: AsyncIterable<readonly Quad[]>,
  format: RdfFormat,
  options: WriterOptions,
): AsyncGenerator<string> {
  const write = nTriplesWriter();
  const isLines = lineFormats.has(format);
  let held: Quad[] = [];
  let isStreamed = format === 'application/n-triples' || format === 'application/n-quads';
  for await (const quads of blocks) {
    for (const quad of quads) held.push(quad);
    if (!isStreamed && (!isLines || held.length <= maxReadable)) continue;
    isStreamed = true;
    yield* inChunks(write(held));
    held = [];
  }
  if (isStreamed) yield* inChunks(write(held));
  else yield* inChunks(documentOf(held, format, options));
}

function documentOf(quads: readonly Quad[], format: RdfFormat, options: WriterOptions): string {
  try {
    return serializeRdf(quads, format, options);
  } catch (error) {
    if (!(error instanceof UnwritableError)) throw error;
    throw new LwsError('not-acceptable', `The graph cannot be written as ${format}. Request Turtle.`);
  }
}

function* inChunks(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += chunkLength) yield text.slice(at, at + chunkLength);
}
