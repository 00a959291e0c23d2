/**
 * Which scans answer a pattern in a part of the dataset: one, or one for each graph when there are few. A closed one of these is replaced by
 * a graph that does not exist.
 */
import type { IndexName } from '../../storage/keys/quad-keys.js';
import { type DistinctTriples, distinctEverywhere, distinctTriples } from './distinct-triples.js';
import { type DatasetPart, type GraphFilter, nameOfNone } from './graph-filter.js';
import { graphAt, KeyReader, keyPrefix, type Terms } from './key-reader.js';
import type { Among, Scan } from './scan.js';

interface ScanOptions {
  /** The order of keys to read, instead of the one that fits the bound terms best. */
  readonly order?: IndexName;
  readonly unique?: DistinctTriples | undefined;
  readonly among?: Among | undefined;
}

interface FewOptions {
  readonly few: readonly string[] | undefined;
  readonly among?: Among | undefined;
}

export class Scans {
  private readonly readers = new Map<IndexName, KeyReader>();

  constructor(private readonly gates: Readonly<Record<DatasetPart, GraphFilter>>) {}

  /** One scan. A bound graph has to be decided before (`decided`). */
  one(bound: Terms, part: DatasetPart, { order, unique, among }: ScanOptions = {}): Scan {
    const isBound = bound[graphAt] !== undefined;
    const grouped = part === 'union' && !isBound;
    const range = keyPrefix(bound, grouped, order);
    return {
      range,
      bound,
      reader: this.readerOf(range.index),
      gate: isBound || this.gates[part].all ? undefined : this.gates[part],
      unique: unique ?? (grouped ? distinctTriples() : undefined),
      among,
    };
  }

  /**
   * One scan, or one for each graph when there are few.
   * @param few as `fewGraphs` gives them
   */
  all(bound: Terms, part: DatasetPart, { few, among }: FewOptions): Scan[] {
    if (bound[graphAt] !== undefined || !few) return [this.one(bound, part, { among })];
    const unique = part === 'union' && few.length > 1 ? distinctEverywhere() : undefined;
    return few.map((graph) => this.one([bound[0], bound[1], bound[2], graph], part, { unique, among }));
  }

  private readerOf(index: IndexName): KeyReader {
    let reader = this.readers.get(index);
    if (!reader) {
      reader = new KeyReader(index);
      this.readers.set(index, reader);
    }
    return reader;
  }
}

/**
 * The bounds with their graphs authorized before anything is read: an unreadable graph is replaced by a name that no graph has. All have
 * the same places bound.
 */
export async function decided(gate: GraphFilter, bounds: readonly Terms[]): Promise<readonly Terms[]> {
  if (gate.all || bounds[0]?.[graphAt] === undefined) return bounds;
  const asking = gate.decide(bounds.map((bound) => bound[graphAt]!));
  if (asking) await asking;
  return bounds.map((bound) => [bound[0], bound[1], bound[2], openName(gate, bound[graphAt]!)]);
}

/** The few graphs of a gate, authorized, the closed ones replaced as in `decided`. `undefined`: there are many. */
export async function fewGraphs(gate: GraphFilter): Promise<readonly string[] | undefined> {
  const { few } = gate;
  if (!few) return undefined;
  const asking = gate.decide(few);
  if (asking) await asking;
  return few.map((graph) => openName(gate, graph));
}

const openName = (gate: GraphFilter, graph: string): string =>
  gate.isOpen(graph) === true ? graph : nameOfNone(graph);
