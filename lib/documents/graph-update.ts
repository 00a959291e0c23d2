/** Updates of a graph through the query engine, in whichever thread. It must not know texts of updates or who asks. */
import { LwsError } from '../errors.js';
import { type GraphSourceOptions, graphSource } from '../query/graph-source.js';
import type { ReadUpdate } from '../query/parse/read-update.js';
import { contextOf, loadQueryEngine } from '../query/query-engine.js';

export { loadQueryEngine };

/**
 * The GSPO keys of a graph after an update that sees this graph alone, in order.
 * @throws LwsError as `encodeTerm` for what cannot be stored; `too-complex` for what cannot be compiled
 */
export async function updatedKeys({ steps }: ReadUpdate, graph: GraphSourceOptions): Promise<string[]> {
  const source = graphSource(graph);
  const engine = await loadQueryEngine();
  try {
    for (const { operation, base } of steps) await engine.queryVoid(operation, contextOf(source, base));
  } catch (error) {
    // Compilers go down with the update, and a sequence is as deep as it is long.
    if (error instanceof RangeError)
      throw new LwsError('malformed-body', 'The update is nested too deeply, or has too many parts.', { cause: error });
    throw error;
  }
  return source.result();
}
