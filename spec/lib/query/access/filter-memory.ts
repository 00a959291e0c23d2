/**
 * Script of `filter-memory.spec`, for `node --expose-gc` in a new process: prints, for each scope of a caller, the bytes per query
 * that two minor collections do not free.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { graphFilter } from '../../../../lib/query/access/graph-filter.js';
import { type GraphScope, readableGraphs } from '../../../../lib/query/access/readable-graphs.js';
import { subtree } from '../../../../lib/storage/keys/iri-ranges.js';

const root = 'https://storage.example/';
const ranges = [subtree(`${root}shared/`)];
const queries = 5000;

/** Bytes outside of the space for new objects. */
const promoted = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !/new|read_only|code/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

function collectTwice(): void {
  const collect = globalThis.gc as unknown as (options: { readonly type: 'minor' }) => void;
  collect({ type: 'minor' });
  collect({ type: 'minor' });
}

function run(scope: GraphScope, within: string | undefined, hidden: ReadonlySet<string>): void {
  for (let query = 0; query < queries; query++) {
    const decide = async (iris: readonly string[]): Promise<boolean[]> => iris.map(() => query > 0);
    const readable = readableGraphs({ level: {} as never, snapshot: {} as never, scope, within, hidden, decide });
    for (const part of ['union', 'named'] as const) {
      const filter = graphFilter({ readable }, part);
      if (filter.isExact) filter.isOpen(`${root}shared/${query % 10}`);
      filter.ranges();
    }
  }
}

/** Returns the least of some rounds, because V8 also compiles meanwhile. */
function remaining(...of: Parameters<typeof run>): number {
  const round = (): number => {
    collectTwice();
    const before = promoted();
    run(...of);
    collectTwice();
    return (promoted() - before) / queries;
  };
  return Math.min(...Array.from({ length: 4 }, round));
}

const [none, some] = [new Set<string>(), new Set([`${root}shared/x`])];
console.log(
  JSON.stringify({
    ranges: remaining({ ranges }, undefined, none),
    'ranges within a container': remaining({ ranges }, `${root}shared/`, none),
    'ranges while a graph is written': remaining({ ranges }, undefined, some),
    'everything while a graph is written': remaining('everything', undefined, some),
    'decisions of each resource': remaining('decide', undefined, none),
  }),
);
