/** All quads of the store for components, as an RDF/JS Source that loads quadstore on first use. */
import { Readable } from 'node:stream';
import type { Quad, Source, Stream } from '@rdfjs/types';
import type { Level, LevelSnapshot } from '../level/durable-level.js';

/** Each `match` reads one snapshot, a new one by default. Without access control. */
export function quadsOf(level: Level, snapshot?: LevelSnapshot): Source {
  async function* matches(pattern: Parameters<Source['match']>): AsyncGenerator<Quad> {
    const { QuadReader } = await import('./quad-reader.js');
    yield* new QuadReader(level, snapshot).match(...(pattern as never as [])) as AsyncIterable<Quad>;
  }
  return { match: (...pattern) => Readable.from(matches(pattern)) as unknown as Stream };
}
