/** All quads of the store for components, as an RDF/JS Source that loads quadstore when it is first read. */
import { Readable } from 'node:stream';
import type { Quad, Source, Stream } from '@rdfjs/types';
import type { Level, LevelSnapshot } from '../engine/durable-level.js';

/** Every match is of one snapshot, of a new one where none is given. Who may read what is not looked at. */
export function quadsOf(level: Level, snapshot?: LevelSnapshot): Source {
  async function* matches(pattern: Parameters<Source['match']>): AsyncGenerator<Quad> {
    const { QuadReader } = await import('./quad-reader.js');
    yield* new QuadReader(level, snapshot).match(...(pattern as never as [])) as AsyncIterable<Quad>;
  }
  return { match: (...pattern) => Readable.from(matches(pattern)) as unknown as Stream };
}
