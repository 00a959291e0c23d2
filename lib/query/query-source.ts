/**
 * The caller's dataset as a source of Comunica's for queries that are not compiled: it answers their patterns and joins from
 * the ordered keys. It must not know HTTP or who asks.
 */
import { KeysInitQuery } from '@comunica/context-entries';
import type { FragmentSelectorShape, IActionContext, IQuerySource } from '@comunica/types';
import { RowBindings } from './bindings-stream.js';
import { estimateOf } from './operators/pattern-access.js';
import { type Run, type RunOptions, startRun } from './operators/run.js';
import { type Compiled, compilePart } from './plan/compile-query.js';
import { type Node, NotCompiledError } from './plan/compile-scope.js';
import type { Plan, Row } from './plan/plan.js';

const shapeOf = (...types: readonly string[]): FragmentSelectorShape =>
  ({
    type: 'disjunction',
    children: types.map((type) => ({ type: 'operation', operation: { operationType: 'type', type } })),
  }) as FragmentSelectorShape;
const patternsAndJoins = shapeOf('pattern', 'join');
const patterns = shapeOf('pattern');

/**
 * Where Comunica puts bindings into a filter or a subquery, it takes the join below apart, and forgets whose join it was. So a
 * query that has such gets its joins from Comunica.
 */
function takesJoins(query: Node): boolean {
  let projections = 0;
  let isSafe = true;
  JSON.stringify(query, (_key, node) => {
    if (node?.type === 'filter' || (node?.type === 'leftjoin' && node.expression)) isSafe = false;
    if (node?.type === 'project') projections++;
    return node;
  });
  return isSafe && projections < 2;
}

export interface EngineSource extends IQuerySource {
  /** Ends what still runs: Comunica leaves streams that it needs no more. To be called before the snapshot is closed. */
  close(): Promise<void>;
}

/** A source for one snapshot. It is passed as `KeysQueryOperation.querySources`, and serves any number of queries. */
export function createQuerySource(
  options: Omit<RunOptions, 'matches'> & { readonly open: () => RunOptions['matches'] },
): EngineSource {
  // Comunica asks for the shape again when it has changed the query: the first answer for an execution holds.
  const shapes = new WeakMap<object, FragmentSelectorShape>();
  const shapeFor = (context: IActionContext): FragmentSelectorShape => {
    const scope = context.get(KeysInitQuery.queryExecutionScope) as object | undefined;
    const query = context.get(KeysInitQuery.query) as unknown;
    const known = scope && shapes.get(scope);
    if (known || !scope || !isNode(query)) return known ?? patterns;
    const shape = takesJoins(query) ? patternsAndJoins : patterns;
    shapes.set(scope, shape);
    return shape;
  };
  const streams = new Set<RowBindings>();
  let isClosed = false;
  return {
    referenceValue: 'urn:quadpod:dataset',
    getFilterFactor: async () => 1,
    getSelectorShape: async (context) => shapeFor(context),
    queryBindings(operation) {
      const compiled = compiledPart(operation as unknown as Node);
      const run = isClosed ? undefined : startRun({ ...options, matches: options.open() }, compiled);
      const stream: RowBindings = new RowBindings(run?.rows ?? noRows(), compiled.columns, async () => {
        streams.delete(stream);
        await run?.close();
      });
      streams.add(stream);
      cardinality(run, compiled).then(
        (value) => stream.announce(value),
        (error: Error) => {
          // Somebody may wait for it even when the stream has been closed meanwhile.
          stream.announce(1);
          if (!stream.done && !isClosed) stream.destroy(error);
        },
      );
      return stream as never;
    },
    queryBoolean: () => Promise.reject(new Error('Truth is made by Comunica.')),
    queryQuads: () => {
      throw new Error('Quads are made by Comunica.');
    },
    queryVoid: () => Promise.reject(new Error('The dataset is read only.')),
    toString: () => 'dataset',
    async close() {
      isClosed = true;
      await Promise.all([...streams].map((stream) => stream.end()));
    },
  };
}

async function* noRows(): AsyncGenerator<Row[]> {}

/** About how many rows there are. */
async function cardinality(run: Run | undefined, { plan }: Compiled): Promise<number> {
  if (!run || plan.kind !== 'join') return 1;
  const counts = await Promise.all(plan.patterns.map((pattern) => estimateOf(run.execution, pattern)));
  // Comunica would remove what is said to be empty, and with it a count of it.
  return Math.max(1, Math.min(...counts));
}

const isNode = (query: unknown): query is Node => typeof query === 'object' && query !== null && 'type' in query;

function compiledPart(operation: Node): Compiled {
  try {
    return compilePart(operation);
  } catch (error) {
    if (error instanceof NotCompiledError) return nothing(operation);
    throw error;
  }
}

/** For a pattern with a term that the store cannot hold. */
const nothing = (operation: unknown): Compiled => {
  const names = new Set<string>();
  JSON.stringify(operation, (_key, value) => {
    if (value?.termType === 'Variable') names.add(value.value);
    return value;
  });
  const none = new Set<number>();
  const plan: Plan = { kind: 'values', rows: [], certain: none, possible: none, isJoinable: true };
  return { plan, width: names.size, columns: [...names].map((name, slot) => [name, slot]), isHasty: false };
};
