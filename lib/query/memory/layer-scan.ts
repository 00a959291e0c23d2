/**
 * Scans a range of a layer for matches in readable graphs. In the union default graph, each triple is one match. The scan is
 * synchronous: it stops at a graph that is not authorized yet, and continues after the authorizer has decided the graph.
 */

import { graphAt } from '../access/key-reader.js';
import type { NumberBlock } from '../access/quad-matches.js';
import { gspo, spog, type Window } from '../segments/quad-pages.js';
import type { GraphDecisions } from './graph-decisions.js';
import type { Layer } from './memory-layers.js';
import type { Ids, QuadRange } from './sorted-quads.js';

/** Result of `MatchScan.next`: no more matches. */
export const ended = -1;
/** Result of `MatchScan.next`: the scan has stopped at a graph that is not authorized yet. */
export const stopped = -2;

/** Cursor over matches. */
export interface MatchScan {
  /** Moves to the next match. Returns `ended` if none is left. After `stopped`, ask the authorizer and call `next` again. */
  next(): number;
  /** Returns the term of the match in a position (0 to 3), as ID in `MemoryView.terms`. */
  id(place: number): number;
}

/** Describes where copies of a triple in several graphs are found. Only the first copy in a readable graph is a match. */
export interface Copies {
  /** True if all copies of a triple are adjacent in the scanned range. */
  readonly areAdjacent: boolean;
  /** Layers that are searched for copies first: a copy in these layers precedes a copy in the scanned layer. */
  readonly before: readonly Layer[];
}

/**
 * Maximum length of a window, in quads. After a stop, as many quads are searched for further undecided graphs, so that one call
 * of the authorizer decides all of them.
 */
const mostAhead = 4096;
/** Length of the first window of a scan, and of the first window after `leapOver`, in quads. */
const firstAhead = 32;

export class LayerScan implements MatchScan {
  private window: Window | undefined;
  /** Columns S, P, O and G of the current window. Columns that are not needed to check matches stay empty. */
  private subjects = noNumbers;
  private predicates = noNumbers;
  private objects = noNumbers;
  private graphs = noNumbers;
  /** Index of the first row of the window, and index after the last row. */
  private first = 0;
  private end = 0;
  /** Maps IDs in the columns to IDs in `MemoryView.terms`. `undefined` if both are equal. */
  private readonly numbers: Uint32Array | undefined;
  private at: number;
  private readonly maxAhead: number;
  /** Maximum length of the next window. It starts small, because the caller may need only the first matches. */
  private ahead: number;
  /** Index of the last match in the sort order. If `next` then returned `stopped`, a later window may be loaded. */
  private taken = -1;
  /** Index in SPOG of the last search for copies, by layer. The next search begins there, since it mostly ends nearby. */
  private nearCopies: Map<Layer, number> | undefined;
  /** Term IDs of the last match, which may be in an earlier window. */
  private readonly triple = [-1, -1, -1];

  /**
   * @param ids bound terms, as IDs of the layer
   * @param verdicts decisions, or `undefined` if every graph is readable
   * @param copies `undefined` if copies of a triple in several graphs are separate matches
   */
  constructor(
    private readonly layer: Layer,
    readonly range: QuadRange,
    private readonly ids: Ids,
    private readonly verdicts: GraphDecisions | undefined,
    private readonly copies: Copies | undefined,
  ) {
    this.numbers = layer.numbers?.ids;
    this.at = range.from;
    this.maxAhead = layer.maxAhead ?? mostAhead;
    this.ahead = Math.min(firstAhead, this.maxAhead);
  }

  /** True if every quad of the range is a match. */
  get isPlain(): boolean {
    return this.hasBlocks && !this.layer.masked && !this.verdicts;
  }

  /** True if the graph of a quad alone determines whether the quad is a match, without calling the authorizer. */
  get hasBlocks(): boolean {
    const { layer, range, verdicts, copies } = this;
    const hasCopies = copies && (copies.before.length > 0 || !layer.quads.isUnique);
    return range.rest === 0 && !hasCopies && verdicts?.isDecided !== false;
  }

  get length(): number {
    return this.range.to - this.range.from;
  }

  /** Yields the matches as columns of IDs in `MemoryView.terms`. Only valid if `hasBlocks` is true. */
  *blocks(places: readonly number[]): Generator<NumberBlock> {
    const { layer, range, numbers, isPlain } = this;
    for (let { from: at } = range; at < range.to; ) {
      const to = Math.min(range.to, at + this.maxAhead);
      const window = layer.quads.window(range.order, at, to);
      const end = Math.min(to, window.end);
      const partOf = (place: number): Uint32Array =>
        window.column(place).subarray(at - window.first, end - window.first);
      const rows = isPlain ? undefined : this.openRows(partOf(graphAt));
      const columns = places.map((place) => {
        const column = rows ? picked(partOf(place), rows) : partOf(place);
        return numbers ? picked(numbers, column) : column;
      });
      yield { length: rows ? rows.length : end - at, columns };
      at = end;
    }
  }

  /** Returns the rows whose graph is readable and not masked, or `undefined` for all rows. */
  private openRows(graphs: Uint32Array): Uint32Array | undefined {
    const { verdicts } = this;
    const { masked } = this.layer;
    const rows = new Uint32Array(graphs.length);
    let length = 0;
    for (let row = 0; row < graphs.length; row++) {
      const graph = graphs[row]!;
      if (masked?.[graph] !== 1 && verdicts?.isOpen(this.among(graph)) !== false) rows[length++] = row;
    }
    return length === rows.length ? undefined : rows.subarray(0, length);
  }

  /** Returns the scan of a subrange. */
  within(from: number, to: number): LayerScan {
    return new LayerScan(this.layer, { ...this.range, from, to }, this.ids, this.verdicts, this.copies);
  }

  /** Moves to the next match. Returns its index in the sort order, `ended`, or `stopped`. */
  next(): number {
    const { layer, range, verdicts, copies } = this;
    const { masked } = layer;
    for (; this.at < range.to; this.at++) {
      if (this.at >= this.end) this.load();
      const row = this.at - this.first;
      if (range.rest !== 0 && !this.hasRest(row)) continue;
      const graph = this.graphs[row]!;
      if (masked && masked[graph] === 1) continue;
      if (copies && this.isSameTriple(row)) continue;
      if (verdicts) {
        const isOpen = verdicts.isOpen(this.among(graph));
        if (isOpen === false) {
          // In GSPO, the quads of a graph are adjacent, and all of them are skipped.
          if (range.order === gspo) this.at = this.afterGraph(row) - 1;
          continue;
        }
        if (isOpen === undefined) {
          this.noteUndecided(verdicts);
          return stopped;
        }
      }
      if (copies) {
        const isRepeated = this.isRepeated(copies, row);
        if (isRepeated === undefined) return stopped;
        if (isRepeated) continue;
        this.keepTriple(row);
      }
      this.taken = this.at;
      return this.at++;
    }
    return ended;
  }

  id(place: number): number {
    return this.among(this.number(place));
  }

  /** Returns a term of the current match, as an ID of the layer. Valid until `next` is called again. */
  number(place: number): number {
    return this.window!.column(place)[this.taken - this.first]!;
  }

  /**
   * Skips quads that have the same term in a position as the last match. In the scan's order, the position must be the first
   * after the bound terms. If `next` then returns `stopped`, it can be called again for the same match.
   */
  leapOver(place: number): void {
    const next = this.after(this.taken, place);
    if (next >= this.end) this.ahead = Math.min(firstAhead, this.maxAhead);
    this.at = Math.max(this.at, next);
  }

  /** Converts an ID of the layer to the ID in `MemoryView.terms`. */
  among(number: number): number {
    return this.numbers ? this.numbers[number]! : number;
  }

  /** Returns the index of the first quad of the next graph. The window is searched first. */
  private afterGraph(row: number): number {
    const { graphs, first } = this;
    const length = Math.min(this.end, this.range.to) - first;
    let next = row + 1;
    while (next < length && graphs[next] === graphs[row]) next++;
    return next < length ? first + next : this.after(first + row, graphAt);
  }

  private after(at: number, place: number): number {
    const { layer, range } = this;
    return layer.quads.after(range.order, at, { place, to: range.to });
  }

  private load(): void {
    const to = Math.min(this.range.to, this.at + this.ahead);
    const window = this.layer.quads.window(this.range.order, this.at, to);
    this.ahead = Math.min(this.maxAhead, 8 * this.ahead);
    const { rest } = this.range;
    const column = (place: number, isNeeded = false): Uint32Array =>
      isNeeded || this.copies || (rest & (1 << place)) !== 0 ? window.column(place) : noNumbers;
    this.subjects = column(0);
    this.predicates = column(1);
    this.objects = column(2);
    this.graphs = column(graphAt, this.layer.masked !== undefined || this.verdicts !== undefined);
    [this.window, this.first, this.end] = [window, window.first, window.end];
  }

  private keepTriple(row: number): void {
    this.triple[0] = this.subjects[row]!;
    this.triple[1] = this.predicates[row]!;
    this.triple[2] = this.objects[row]!;
  }

  private isSameTriple(row: number): boolean {
    const { triple } = this;
    return this.objects[row] === triple[2] && this.subjects[row] === triple[0] && this.predicates[row] === triple[1];
  }

  private hasRest(row: number): boolean {
    const { ids, range } = this;
    const { rest } = range;
    return (
      ((rest & 1) === 0 || this.subjects[row] === ids[0]) &&
      ((rest & 2) === 0 || this.predicates[row] === ids[1]) &&
      ((rest & 4) === 0 || this.objects[row] === ids[2]) &&
      ((rest & 8) === 0 || this.graphs[row] === ids[3])
    );
  }

  /** Returns whether an earlier copy of the triple is in a readable graph, or `undefined` if a graph is not decided yet. */
  private isRepeated({ areAdjacent, before }: Copies, row: number): boolean | undefined {
    if (!areAdjacent && !this.layer.quads.isUnique) {
      const isRepeated = this.hasCopy(this.layer, row, this.graphs[row]!);
      if (isRepeated !== false) return isRepeated;
    }
    for (const layer of before) {
      const isRepeated = this.hasCopy(layer, row, Number.POSITIVE_INFINITY);
      if (isRepeated !== false) return isRepeated;
    }
    return false;
  }

  /** Returns whether a layer has the triple in a readable graph with an ID below `below`, or `undefined` if not decided yet. */
  private hasCopy(layer: Layer, row: number, below: number): boolean | undefined {
    const numberOf = (number: number): number => (layer === this.layer ? number : numberIn(layer, this.among(number)));
    const s = numberOf(this.subjects[row]!);
    if (s < 0) return false;
    const o = numberOf(this.objects[row]!);
    if (o < 0) return false;
    const p = numberOf(this.predicates[row]!);
    if (p < 0) return false;
    this.nearCopies ??= new Map();
    const { from, to } = layer.quads.range(spog, [s, p, o, -1], this.nearCopies.get(layer));
    this.nearCopies.set(layer, from);
    for (let at = from; at < to; ) {
      const window = layer.quads.window(spog, at, to);
      const graphs = window.column(graphAt);
      for (; at < to && at < window.end; at++) {
        const graph = graphs[at - window.first]!;
        if (layer.masked?.[graph] === 1) continue;
        if (graph >= below) return false;
        const id = layer.numbers ? layer.numbers.ids[graph]! : graph;
        const isOpen = this.verdicts ? this.verdicts.isOpen(id) : true;
        if (isOpen === undefined) this.verdicts!.note(id);
        if (isOpen !== false) return isOpen;
      }
    }
    return false;
  }

  private noteUndecided(verdicts: GraphDecisions): void {
    const { layer, range, at } = this;
    const ahead = { ...range, from: at, to: Math.min(range.to, at + this.maxAhead) };
    const all = new LayerScan(layer, ahead, this.ids, undefined, undefined);
    while (all.next() !== ended) {
      const graph = all.id(graphAt);
      if (verdicts.isOpen(graph) === undefined) verdicts.note(graph);
    }
  }
}

const noNumbers: Uint32Array = new Uint32Array(0);

/** Returns the elements at the given indexes. A loop takes half as long as `map`. */
function picked(numbers: Uint32Array, indexes: Uint32Array): Uint32Array {
  const found = new Uint32Array(indexes.length);
  for (let at = 0; at < found.length; at++) found[at] = numbers[indexes[at]!]!;
  return found;
}

/** Returns a layer's ID of a term, or -1 if no quad of the layer has the term. @param id ID in `MemoryView.terms` */
export function numberIn({ numbers, quads }: Layer, id: number): number {
  if (numbers) return numbers.of(id);
  return id <= quads.most ? id : -1;
}
