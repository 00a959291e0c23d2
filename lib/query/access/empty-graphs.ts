/**
 * Finds empty graphs: graphs of RDF resources without triples. They have no quad keys, so they are found in the records of the
 * resources. Must not depend on queries.
 */

import { type IriRange, isInRanges, only } from '../../storage/keys/iri-ranges.js';
import {
  allRecords,
  iriOfRecordKey,
  type KeyRange,
  readRecord,
  recordKey,
  recordsIn,
} from '../../storage/keys/records.js';
import type { Level, LevelSnapshot } from '../../storage/level/durable-level.js';
import { type DatasetGraphs, graphFilter, nameOfNone } from './graph-filter.js';
import type { TermKey } from './terms.js';

export interface EmptyGraphs {
  /** Returns the empty named graphs that the caller may read. The records are read once per query. */
  all(): Promise<readonly TermKey[]>;
  has(graph: TermKey): Promise<boolean>;
}

/** Empty graphs in an earlier state. */
export interface PastEmpty {
  /** Graphs that have changed since and were empty in the earlier state. */
  readonly empty: ReadonlySet<string>;
  /** Returns true if a graph has not changed since the earlier state. */
  isUnchanged(graph: string): boolean;
}

interface Options extends DatasetGraphs {
  readonly past?: PastEmpty | undefined;
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
}

const blockLength = 1000;

export function emptyGraphs(graphs: Options, assertTime: () => void): EmptyGraphs {
  const { level, snapshot, past } = graphs;
  const isSame = (iri: string): boolean => !past || past.isUnchanged(iri);
  const gate = graphFilter(graphs, 'named');
  async function* inRange(range: KeyRange): AsyncGenerator<string[]> {
    const iterator = level.iterator({ ...range, snapshot });
    try {
      for (;;) {
        assertTime();
        const entries = await iterator.nextv(blockLength);
        if (entries.length === 0) return;
        const names = entries.filter(([, value]) => isEmpty(value)).map(([key]) => iriOfRecordKey(key));
        yield names.filter(isSame);
      }
    } finally {
      await iterator.close();
    }
  }
  const isThere = (iri: string): boolean => {
    if (past && !isSame(iri)) return past.empty.has(iri);
    const value = level.getSync(recordKey(iri), { snapshot });
    return value !== undefined && isEmpty(value);
  };
  async function* found(ranges: readonly IriRange[] | undefined): AsyncGenerator<string[]> {
    if (!ranges) yield* inRange(allRecords());
    else
      for (const range of ranges) {
        assertTime();
        if (range.to === only(range.from).to) {
          yield isThere(range.from) ? [range.from] : [];
          continue;
        }
        // The records of a range that ends in a container include some records outside of the range. They are filtered out.
        for (const keys of recordsIn(range))
          for await (const names of inRange(keys)) yield names.filter((iri) => isInRanges([range], iri));
      }
  }
  async function named(): Promise<readonly TermKey[]> {
    const open: TermKey[] = [];
    for await (const iris of found(gate.ranges())) {
      await gate.decide(iris);
      for (const iri of iris) if (gate.isOpen(iri)) open.push(iri);
    }
    for (const iri of past?.empty ?? []) if (gate.isOpen(iri) && !open.includes(iri)) open.push(iri);
    return open;
  }
  let names: Promise<readonly TermKey[]> | undefined;
  return {
    all() {
      names ??= named();
      return names;
    },
    async has(graph) {
      await gate.decide([graph]);
      return isThere(gate.isOpen(graph) ? graph : nameOfNone(graph));
    },
  };
}

/** Returns true for the record of an empty graph. Searches the text first: parsing every record would take longer. */
const isEmpty = (value: string): boolean => {
  if (!value.includes('"triples":0')) return false;
  const { kind, triples } = readRecord('', value);
  return kind === 'rdf' && triples === 0;
};
