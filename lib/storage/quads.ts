/** All quads of the store for components, as an RDF/JS Source that loads quadstore when it is first read. */
import { Readable } from 'node:stream';
import type { Quad, Source, Stream } from '@rdfjs/types';
import type { Level } from './durable-level.js';

/** Every match is of one snapshot. Who may read what is not looked at. */
export function quadsOf(level: Level): Source {
  async function* matches(pattern: Parameters<Source['match']>): AsyncGenerator<Quad> {
    const { QuadReader } = await import('./quad-reader.js');
    yield* new QuadReader(level).match(...(pattern as never as [])) as AsyncIterable<Quad>;
  }
  return { match: (...pattern) => Readable.from(matches(pattern)) as unknown as Stream };
}
