/** Runs a compiled query over one snapshot and returns rows. */
import type { EmptyGraphs } from '../access/empty-graphs.js';
import type { PatternCounts } from '../access/estimates.js';
import type { AssertTime, QuadMatches } from '../access/quad-matches.js';
import type { ServiceAnswer, ServiceCall } from '../access/service-call.js';
import type { Compiled } from '../plan/compile-query.js';
import type { Plan, Row } from '../plan/plan.js';
import { execute } from './execute.js';
import { type Execution, type Memory, maxOfTexts, type Observer } from './execution.js';

/** Default of `numbersFrom`, in matches. For fewer matches, rows of terms cost less than tables of IDs. */
const usualNumbersFrom = 2048;

export interface RunOptions {
  /** Quads to query. `Run.close` closes `matches`. */
  readonly matches: QuadMatches;
  /** Named graphs without quads. Default: none. */
  readonly emptyGraphs?: EmptyGraphs | undefined;
  /** Statistics of earlier executions of the plan over the same readable quads. The run updates them. Default: none. */
  readonly statistics?: Memory | undefined;
  /** Counts of matches by pattern over the same readable quads. The run updates them. Default: none. */
  readonly counts?: Map<string, PatternCounts> | undefined;
  /** Function that is called for every block. Throws to stop the query. */
  readonly assertTime?: AssertTime;
  /** Records statistics of operators. */
  readonly observer?: Observer | undefined;
  /** Minimum count of matches for which plans run over term IDs (default: 2048). */
  readonly numbersFrom?: number | undefined;
  /** Sends a request to another endpoint. */
  readonly callService?: ((call: ServiceCall) => Promise<ServiceAnswer>) | undefined;
}

export interface Run {
  readonly execution: Execution;
  readonly rows: AsyncGenerator<Row[]>;
  /** Stops running work. Must be called before the snapshot is closed. */
  close(): Promise<void>;
}

export function startRun(
  options: RunOptions,
  { plan, width, isHasty }: Pick<Compiled, 'plan' | 'width' | 'isHasty'>,
): Run {
  const assertTime = options.assertTime ?? (() => {});
  const { matches } = options;
  const execution: Execution = {
    matches,
    emptyGraphs: options.emptyGraphs,
    width,
    memory: new Map(),
    lasting: new Map(),
    statistics: options.statistics ?? new Map(),
    counts: options.counts ?? new Map(),
    assertTime,
    numbersFrom: options.numbersFrom ?? usualNumbersFrom,
    isHasty,
    observer: options.observer,
    texts: { left: maxOfTexts },
    callService: options.callService ?? (() => Promise.reject(new Error('SERVICE is not available here.'))),
  };
  const running = rowsOf(execution, plan);
  return {
    execution,
    rows: running,
    async close() {
      await running.return(undefined);
      // The caches are cleared, because the engine's contexts may refer to the run for longer.
      execution.memory.clear();
      execution.lasting.clear();
      await matches.close();
    },
  };
}

async function* rowsOf(execution: Execution, plan: Plan): AsyncGenerator<Row[]> {
  if (execution.observer?.isRun !== false) yield* execute(execution, plan);
}
