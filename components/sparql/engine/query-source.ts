/**
 * The caller's dataset as a source of Comunica's that takes whole queries, or as much of one as it can, and answers them from
 * the ordered keys. It must not know HTTP or who asks.
 */
import { KeysInitQuery } from '@comunica/context-entries';
import type { FragmentSelectorShape, IActionContext, IQuerySource } from '@comunica/types';
import type { DatasetOptions } from '../dataset.js';
import { RowBindings } from './bindings-stream.js';
import { type Compiled, compilePart, compileQuery } from './compile.js';
import { type Node, NotCompiledError } from './compile-scope.js';
import { execute } from './execute.js';
import type { Execution } from './execution.js';
import { estimateOf } from './join-pattern.js';
import type { Plan, Row } from './plan.js';
import { quadMatches } from './quad-matches.js';

export interface QuerySourceOptions extends DatasetOptions {
  /** Called in every block; throws when the query has to end. */
  readonly assertTime?: () => void;
}

const everything = { type: 'operation', operation: { operationType: 'wildcard' } } as FragmentSelectorShape;
const shapeOf = (...types: readonly string[]): FragmentSelectorShape =>
  ({
    type: 'disjunction',
    children: types.map((type) => ({ type: 'operation', operation: { operationType: 'type', type } })),
  }) as FragmentSelectorShape;
const patternsAndJoins = shapeOf('pattern', 'join');
const patterns = shapeOf('pattern');

interface Decision {
  /** The whole query, when it is taken. */
  readonly compiled: Compiled | undefined;
  readonly shape: FragmentSelectorShape;
}

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
export function createQuerySource(options: QuerySourceOptions): EngineSource {
  // Comunica asks for the shape again when it has changed the query: the first answer for an execution holds.
  const decisions = new WeakMap<object, Decision>();
  const decisionFor = (context: IActionContext): Decision => {
    const scope = context.get(KeysInitQuery.queryExecutionScope) as object | undefined;
    const query = context.get(KeysInitQuery.query) as unknown;
    const known = scope && decisions.get(scope);
    if (known || !scope || !isNode(query)) return known ?? { compiled: undefined, shape: patterns };
    const compiled = attempt(() => compileQuery(query, context.get(KeysInitQuery.baseIRI)));
    const shape = compiled ? everything : takesJoins(query) ? patternsAndJoins : patterns;
    decisions.set(scope, { compiled, shape });
    return { compiled, shape };
  };
  const streams = new Set<RowBindings>();
  let isClosed = false;
  return {
    referenceValue: 'urn:quadpod:dataset',
    getFilterFactor: async () => 1,
    getSelectorShape: async (context) => decisionFor(context).shape,
    queryBindings(operation, context) {
      const whole = decisionFor(context).compiled;
      const compiled = whole ?? attempt(() => compilePart(operation as unknown as Node)) ?? nothing(operation);
      const { rows, close, cardinality } = isClosed ? noRun : startRun(options, compiled);
      const stream: RowBindings = new RowBindings(rows, compiled.columns, () => {
        streams.delete(stream);
        return close();
      });
      streams.add(stream);
      if (whole) stream.announce(1000);
      else
        cardinality().then(
          (value) => stream.announce(value),
          (error: Error) => {
            // Somebody may wait for it even when the stream has been closed meanwhile.
            stream.announce(1);
            if (!stream.done && !isClosed) stream.destroy(error);
          },
        );
      return stream as never;
    },
    async queryBoolean(_operation, context) {
      const { rows, close } = startRun(options, decisionFor(context).compiled!);
      try {
        return !(await rows.next()).done;
      } finally {
        await rows.return(undefined);
        await close();
      }
    },
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

const isNode = (query: unknown): query is Node => typeof query === 'object' && query !== null && 'type' in query;

function attempt(compile: () => Compiled): Compiled | undefined {
  try {
    return compile();
  } catch (error) {
    if (error instanceof NotCompiledError) return undefined;
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
  return { plan, width: names.size, columns: [...names].map((name, slot) => [name, slot]) };
};

interface Run {
  readonly rows: AsyncGenerator<Row[]>;
  /** About how many rows there are. */
  readonly cardinality: () => Promise<number>;
  readonly close: () => Promise<void>;
}

async function* noRows(): AsyncGenerator<Row[]> {}
/** For what Comunica still begins when the answer is there. */
const noRun: Run = { rows: noRows(), cardinality: async () => 1, close: async () => {} };

function startRun(options: QuerySourceOptions, { plan, width }: Compiled): Run {
  const assertTime = options.assertTime ?? (() => {});
  const matches = quadMatches(options, assertTime);
  const execution: Execution = { matches, width, memory: new Map(), assertTime };
  async function* rows(): AsyncGenerator<Row[]> {
    yield* execute(execution, plan);
  }
  return {
    rows: rows(),
    async cardinality() {
      if (plan.kind !== 'join') return 1;
      const counts = await Promise.all(plan.patterns.map((pattern) => estimateOf(execution, pattern)));
      // Comunica would remove what is said to be empty, and with it a count of it.
      return Math.max(1, Math.min(...counts));
    },
    close: () => matches.close(),
  };
}
