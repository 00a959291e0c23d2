/**
 * Scans a part of a layer for matches in open graphs, each triple of the union default graph once. Synchronous: it stops at a
 * graph that is not authorized yet, and resumes after the authorizer's response.
 */

import type { Columns } from '../segments/quad-pages.js';
import type { GraphVerdicts } from './graph-decisions.js';
import type { Layer } from './memory-layers.js';
import { gspo, type Ids, type QuadRange, rangeIn, spog, upperBound } from './sorted-quads.js';

/** No more matches. */
export const ended = -1;
/** The scan is paused because a graph is not authorized yet. */
export const stopped = -2;

/** Cursor over matches. */
export interface MatchScan {
  /** Moves to the next match. `ended`: there is none. `stopped`: call again after asking for the noted graphs. */
  next(): number;
  /** Returns a term of the match, as its number in `MemoryView.terms`. */
  id(place: number): number;
}

/** Places with copies of a triple that take precedence: of all copies in open graphs, only the first is a match. */
export interface Copies {
  /** True if all copies of a triple are adjacent in the scanned part. */
  readonly areAdjacent: boolean;
  /** Layers whose copies come first. */
  readonly before: readonly Layer[];
}

/** Maximum number of quads searched for further undecided graphs, so that the authorizer is asked for all of them together. */
const maxAhead = 4096;

export class LayerScan implements MatchScan {
  /** Columns S, P, O and G in the order of the scan. */
  readonly columns: Columns;
  private readonly subjects: Uint32Array;
  private readonly predicates: Uint32Array;
  private readonly objects: Uint32Array;
  private readonly graphs: Uint32Array;
  /** Maps numbers in the columns to those of `MemoryView.terms`. Absent: they are equal. */
  private readonly numbers: Uint32Array | undefined;
  private at: number;
  private taken = -1;

  /**
   * @param ids bound terms, as numbers of the layer
   * @param verdicts absent: every graph is open
   * @param copies absent: copies of a triple are separate matches
   */
  constructor(
    private readonly layer: Layer,
    readonly range: QuadRange,
    private readonly ids: Ids,
    private readonly verdicts: GraphVerdicts | undefined,
    private readonly copies: Copies | undefined,
  ) {
    this.columns = layer.quads.columns[range.order]!;
    [this.subjects, this.predicates, this.objects, this.graphs] = this.columns;
    this.numbers = layer.numbers?.ids;
    this.at = range.from;
  }

  /** True if every quad of the part is a match. */
  get isPlain(): boolean {
    const { layer, range, verdicts, copies } = this;
    const hasCopies = copies && (copies.before.length > 0 || !layer.quads.isUnique);
    return range.rest === 0 && !layer.masked && !verdicts && !hasCopies;
  }

  get length(): number {
    return this.range.to - this.range.from;
  }

  /** Returns the same scan over a part of the range, in indexes of the columns. */
  within(from: number, to: number): LayerScan {
    return new LayerScan(this.layer, { ...this.range, from, to }, this.ids, this.verdicts, this.copies);
  }

  /** Returns the index of the next match in the columns, `ended`, or `stopped`. */
  next(): number {
    const { layer, range, graphs, verdicts, copies } = this;
    const { masked } = layer;
    for (; this.at < range.to; this.at++) {
      const i = this.at;
      if (range.rest !== 0 && !this.hasRest(i)) continue;
      const graph = graphs[i]!;
      if (masked && masked[graph] === 1) continue;
      if (copies && this.taken >= 0 && this.isSameTriple(i, this.taken)) continue;
      if (verdicts) {
        const isOpen = verdicts.isOpen(this.among(graph));
        if (isOpen === false) {
          // In GSPO the quads of a graph are adjacent, so they are skipped together.
          if (range.order === gspo) this.at = upperBound(graphs, graph, i, range.to) - 1;
          continue;
        }
        if (isOpen === undefined) {
          this.noteUndecided(verdicts);
          return stopped;
        }
      }
      if (copies) {
        const isRepeated = this.isRepeated(copies, i);
        if (isRepeated === undefined) return stopped;
        if (isRepeated) continue;
      }
      this.taken = i;
      this.at++;
      return i;
    }
    return ended;
  }

  id(place: number): number {
    return this.idAt(place, this.taken);
  }

  /** Returns a term of the quad at an index of the columns. */
  idAt(place: number, at: number): number {
    return this.among(this.columns[place as 0][at]!);
  }

  /** Skips quads with the same term in this position as the last match. The position is the next one after the bound terms. */
  leapOver(place: number): void {
    const by = this.columns[place as 0];
    this.at = Math.max(this.at, upperBound(by, by[this.taken]!, this.taken, this.range.to));
  }

  private among(number: number): number {
    return this.numbers ? this.numbers[number]! : number;
  }

  private hasRest(i: number): boolean {
    const { ids, range } = this;
    for (let place = 0; place < 4; place++)
      if ((range.rest & (1 << place)) !== 0 && this.columns[place]![i] !== ids[place]) return false;
    return true;
  }

  private isSameTriple(i: number, j: number): boolean {
    return (
      this.objects[i] === this.objects[j] &&
      this.subjects[i] === this.subjects[j] &&
      this.predicates[i] === this.predicates[j]
    );
  }

  /** Returns true if an open graph has a copy with precedence, and `undefined` if a graph is not authorized yet. */
  private isRepeated({ areAdjacent, before }: Copies, i: number): boolean | undefined {
    if (!areAdjacent && !this.layer.quads.isUnique) {
      const isRepeated = this.hasCopy(this.layer, i, this.graphs[i]!);
      if (isRepeated !== false) return isRepeated;
    }
    for (const layer of before) {
      const isRepeated = this.hasCopy(layer, i, Number.POSITIVE_INFINITY);
      if (isRepeated !== false) return isRepeated;
    }
    return false;
  }

  /** Returns true if a layer has the triple in an open graph with a number below `below`. */
  private hasCopy(layer: Layer, i: number, below: number): boolean | undefined {
    const { quads, masked, numbers } = layer;
    const triple = [this.subjects[i]!, this.predicates[i]!, this.objects[i]!];
    const [s, p, o] = layer === this.layer ? triple : triple.map((number) => numberIn(layer, this.among(number)));
    if (s! < 0 || p! < 0 || o! < 0) return false;
    const { from, to } = rangeIn(quads, spog, [s!, p!, o!, -1]);
    const graphs = quads.columns[spog]![3];
    for (let at = from; at < to && graphs[at]! < below; at++) {
      const graph = graphs[at]!;
      if (masked && masked[graph] === 1) continue;
      const id = numbers ? numbers.ids[graph]! : graph;
      const isOpen = this.verdicts ? this.verdicts.isOpen(id) : true;
      if (isOpen === undefined) this.verdicts!.note(id);
      if (isOpen !== false) return isOpen;
    }
    return false;
  }

  private noteUndecided(verdicts: GraphVerdicts): void {
    const { graphs, layer, range } = this;
    const end = Math.min(range.to, this.at + maxAhead);
    for (let i = this.at; i < end; i++) {
      const graph = graphs[i]!;
      if (layer.masked && layer.masked[graph] === 1) continue;
      if (range.rest !== 0 && !this.hasRest(i)) continue;
      if (verdicts.isOpen(this.among(graph)) === undefined) verdicts.note(this.among(graph));
    }
  }
}

/** Returns the number of a term in a layer, or -1 if the layer has no quad with it. */
export function numberIn({ numbers, quads }: Layer, id: number): number {
  if (numbers) return numbers.of(id);
  return id <= quads.most ? id : -1;
}
