/** Finds quads of the caller's dataset that match given terms. Reads a view: the index with its layers, or a few graphs. */

import { type DatasetGraphs, type DatasetPart, graphFilter } from '../access/graph-filter.js';
import { graphAt, type Terms } from '../access/key-reader.js';
import {
  type AssertTerm,
  type AssertTime,
  canMatch,
  type MatchOptions,
  type QuadMatches,
} from '../access/quad-matches.js';
import type { TermKey } from '../access/terms.js';
import { ended, LayerScan, type MatchScan, stopped } from './layer-scan.js';
import type { MemoryView } from './memory-layers.js';
import { MemoryNumbers } from './memory-numbers.js';
import { eachMatch, type MemoryScans, plainScans, shortRange } from './memory-scans.js';
import { OpenScans } from './open-scans.js';
import { type Ids, type QuadOrders, rangeFor } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

/** Count of matches per block. The first block is shorter, because the caller may need only the first matches. */
const blockLength = 2048;
const firstLength = 64;
/**
 * Maximum count of returned terms whose IDs are cached for lookups: a search in the dictionary of a segment takes 2 µs. Each
 * query has a separate cache, so that the time of a lookup does not depend on queries of other callers.
 */
const maxRemembered = 16_384;
/** Work of a lookup for the time limit, counted as matches. */
const lookUpWork = 4;

export class MemoryMatches implements QuadMatches {
  readonly numbered: MemoryNumbers;
  private readonly terms: TermIds;
  private readonly scans: MemoryScans;
  /** Quads that are read if a term does not exist (`seek`). `undefined` for callers that may read all quads. */
  private readonly sought: QuadOrders | undefined;
  // Last term of each position and its ID, since patterns in a batch share most terms.
  private readonly lastTokens: Terms = [undefined, undefined, undefined, undefined];
  private readonly lastIds: Ids = [-1, -1, -1, -1];
  /** IDs of terms in returned matches, by term key. */
  private readonly remembered = new Map<TermKey, number>();

  private readonly assertTerm: AssertTerm | undefined;

  constructor(
    options: DatasetGraphs & { readonly assertTerm?: AssertTerm | undefined },
    view: MemoryView,
    private readonly assertTime: AssertTime,
  ) {
    this.assertTerm = options.assertTerm;
    const gates = { union: graphFilter(options, 'union'), named: graphFilter(options, 'named') };
    this.terms = view.terms;
    this.sought = options.readable.all ? undefined : view.layers[0]?.quads;
    this.scans = options.readable.all ? plainScans(view, gates) : new OpenScans(view, gates);
    const { terms, scans, assertTerm } = this;
    this.numbered = new MemoryNumbers({
      ...{ terms, scans, assertTime, assertTerm, isWhole: options.readable.all },
      begin: async (bound, part) => {
        await this.decide([bound], part);
        return this.idsOf(bound);
      },
    });
  }

  async *stream(bound: Terms, { part, places, among }: MatchOptions): AsyncGenerator<Terms[]> {
    this.assertTime(lookUpWork);
    await this.decide([bound], part);
    const { terms } = this;
    let [block, length]: [Terms[], number] = [[], firstLength];
    let skipped = 0;
    for (const scan of this.scansOf(bound, part))
      for (let at = scan.next(); at !== ended; at = scan.next()) {
        if (at === stopped) {
          await this.scans.ask(part);
          continue;
        }
        if (among && !among.tokens.has(terms.termKey(scan.id(among.place)))) {
          if (++skipped % blockLength === 0) this.assertTime(blockLength);
          continue;
        }
        block.push(this.termsAt(scan, bound, places));
        if (block.length < length) continue;
        this.assertTime(block.length);
        yield block;
        [block, length] = [[], Math.min(blockLength, length * 4)];
      }
    if (block.length === 0) return;
    this.assertTime(block.length);
    yield block;
  }

  async lookUp(bounds: readonly Terms[], wanted: MatchOptions): Promise<Terms[][]> {
    const { part } = wanted;
    this.assertTime(bounds.length * lookUpWork);
    await this.decide(bounds, part);
    const results: Terms[][] = new Array(bounds.length);
    let left = [...bounds.keys()];
    while (left.length > 0) {
      // The authorizer decides the graphs of all lookups in one call. Lookups that need these graphs are then repeated.
      const again: number[] = [];
      for (const at of left) {
        const matches = this.found(bounds[at]!, wanted);
        if (matches) results[at] = matches;
        else again.push(at);
      }
      left = again;
      if (left.length > 0) await this.scans.ask(part);
    }
    this.assertTime(results.reduce((sum, { length }) => sum + length, 0));
    return results;
  }

  async count(bound: Terms, part: DatasetPart): Promise<number> {
    this.assertTime();
    await this.decide([bound], part);
    let count = 0;
    for (const scan of this.scansOf(bound, part)) {
      if (scan instanceof LayerScan && scan.isPlain) count += scan.length;
      else if (scan instanceof LayerScan && scan.hasBlocks)
        for (const { length } of scan.blocks([])) {
          count += length;
          this.assertTime(length);
        }
      else
        for (let at = scan.next(); at !== ended; at = scan.next())
          if (at === stopped) await this.scans.ask(part);
          else if (++count % blockLength === 0) this.assertTime(blockLength);
    }
    return count;
  }

  async *distinct(bound: Terms, place: number, part: DatasetPart): AsyncGenerator<TermKey[]> {
    await this.decide([bound], part);
    const ids = this.idsOf(bound);
    if (!ids) return;
    for (const scan of this.scans.distinct(ids, place, part)) {
      let found = new Set<TermKey>();
      for (let at = scan.next(); at !== ended; at = scan.next()) {
        if (at === stopped) {
          await this.scans.ask(part);
          continue;
        }
        found.add(this.termOf(scan.id(place)));
        if (found.size < blockLength) continue;
        this.assertTime(found.size);
        yield [...found];
        found = new Set();
      }
      if (found.size > 0) yield [...found];
    }
  }

  async estimate(bound: Terms, part: DatasetPart = 'named'): Promise<number> {
    await this.decide([bound], part);
    const ids = this.idsOf(bound);
    return ids ? this.scans.estimate(ids, part) : 0;
  }

  async sample(bound: Terms, { part, places }: MatchOptions, most: number): Promise<Terms[]> {
    await this.decide([bound], part);
    const ids = this.idsOf(bound);
    const found = ids ? await this.scans.sample(ids, part, most) : [];
    return found.map((scan) => this.termsAt(scan, bound, places));
  }

  async close(): Promise<void> {}

  /** Returns the IDs of the bound terms, or `undefined` if a term is in no quad. */
  private idsOf(bound: Terms): Ids | undefined {
    if (!canMatch(bound)) return undefined;
    const { lastTokens, lastIds } = this;
    const ids: Ids = [-1, -1, -1, -1];
    let [isAbsent, isInBase] = [false, true];
    for (let place = 0; place < 4; place++) {
      const token = bound[place];
      if (token === undefined) continue;
      if (token !== lastTokens[place]) {
        lastTokens[place] = token;
        lastIds[place] = this.remembered.get(token) ?? this.terms.idOf(token);
      }
      ids[place] = lastIds[place]!;
      isAbsent ||= ids[place]! < 0;
      isInBase &&= ids[place]! >= 0 && ids[place]! < this.terms.baseSize;
    }
    if (!isInBase && this.sought) this.seek(bound, ids, this.sought);
    return isAbsent ? undefined : ids;
  }

  /** Reads the pages where quads with nonexistent terms would be: the time must not reveal whether a term is unreadable. */
  private seek(bound: Terms, ids: Ids, quads: QuadOrders): void {
    const near: Ids = [-1, -1, -1, -1];
    for (let place = 0; place < 4; place++) {
      const token = bound[place];
      if (token === undefined) continue;
      const isInBase = ids[place]! >= 0 && ids[place]! < this.terms.baseSize;
      near[place] = isInBase ? ids[place]! : Math.max(0.5, this.terms.baseBelow(token) - 0.5);
    }
    rangeFor(quads, near);
  }

  /** Authorizes the bound graphs, including nonexistent ones, before any quad is read. */
  private async decide(bounds: readonly Terms[], part: DatasetPart): Promise<void> {
    for (const graph of new Set(bounds.map((bound) => bound[graphAt]))) await this.scans.decide?.(graph, part);
  }

  private scansOf(bound: Terms, part: DatasetPart): readonly MatchScan[] {
    const ids = this.idsOf(bound);
    return ids ? this.scans.of(ids, part) : [];
  }

  private termsAt(scan: MatchScan, bound: Terms, places: readonly number[]): Terms {
    const match: Terms = [undefined, undefined, undefined, undefined];
    for (const place of places) match[place] = bound[place] ?? this.termOf(scan.id(place));
    return match;
  }

  private termOf(id: number): TermKey {
    const token = this.terms.termKey(id);
    this.assertTerm?.(token);
    if (this.remembered.size < maxRemembered) this.remembered.set(token, id);
    return token;
  }

  /** Returns all matches of a lookup, or `undefined` if a graph is not decided yet. */
  private found(bound: Terms, { part, places }: MatchOptions): Terms[] | undefined {
    const matches: Terms[] = [];
    const ids = this.idsOf(bound);
    if (!ids) return matches;
    const single = this.scans.singles[part];
    const range = shortRange(single, ids);
    if (range) {
      eachMatch(single!, range, (window, offset) => {
        const match: Terms = [undefined, undefined, undefined, undefined];
        for (const place of places) match[place] = bound[place] ?? this.termOf(window.column(place)[offset]!);
        matches.push(match);
      });
      return matches;
    }
    for (const scan of this.scans.of(ids, part))
      for (let at = scan.next(); at !== ended; at = scan.next()) {
        if (at === stopped) return undefined;
        matches.push(this.termsAt(scan, bound, places));
      }
    return matches;
  }
}
