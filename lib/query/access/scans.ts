/** Scans for a pattern in a part of the dataset: one, or one for each graph if there are few. A nonexistent graph replaces a closed one. */
import type { IndexName } from '../../storage/keys/quad-keys.js';
import { type DistinctTriples, distinctEverywhere, distinctTriples } from './distinct-triples.js';
import { type DatasetPart, type GraphFilter, nameOfNone } from './graph-filter.js';
import { graphAt, KeyReader, keyPrefix, type Terms } from './key-reader.js';
import type { Among, Scan } from './scan.js';

interface ScanOptions {
  /** Index to read instead of the one that fits the bound terms best. */
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

  /** Returns one scan. A bound graph must be decided before (`decided`). */
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

  /** Returns one scan, or one for each graph if there are few. @param few result of `fewGraphs` */
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
 * Returns the bounds after authorizing their graphs, before anything is read: an unreadable graph is replaced by a name that no
 * graph has. All have the same bound positions.
 */
export async function decided(gate: GraphFilter, bounds: readonly Terms[]): Promise<readonly Terms[]> {
  if (gate.all || bounds[0]?.[graphAt] === undefined) return bounds;
  const asking = gate.decide(bounds.map((bound) => bound[graphAt]!));
  if (asking) await asking;
  return bounds.map((bound) => [bound[0], bound[1], bound[2], openName(gate, bound[graphAt]!)]);
}

/** Returns the few graphs of a gate, authorized, with closed ones replaced as in `decided`, or `undefined` if there are many. */
export async function fewGraphs(gate: GraphFilter): Promise<readonly string[] | undefined> {
  const { few } = gate;
  if (!few) return undefined;
  const asking = gate.decide(few);
  if (asking) await asking;
  return few.map((graph) => openName(gate, graph));
}

const openName = (gate: GraphFilter, graph: string): string =>
  gate.isOpen(graph) === true ? graph : nameOfNone(graph);
