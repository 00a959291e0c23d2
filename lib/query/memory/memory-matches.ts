/**
 * The quads of the caller's dataset that match given terms, from memory: the same answers as `quadMatches` has from LevelDB. It
 * must not know variables, joins or queries.
 */

import { type DatasetGraphs, type DatasetPart, graphGate } from '../access/graph-gate.js';
import { graphAt, type Terms } from '../access/key-reader.js';
import type { QuadMatches } from '../access/quad-matches.js';
import { canMatch } from '../access/scan.js';
import type { Token } from '../access/terms.js';
import { ended, LayerScan, type MatchScan, stopped } from './layer-scan.js';
import { plainScans } from './memory-scans.js';
import type { MemoryView } from './memory-view.js';
import { openScans } from './open-scans.js';
import type { Ids } from './sorted-quads.js';

/** Matches of a block; of the first, which may be all that is wanted. */
const blockLength = 2048;
const firstLength = 64;

export function memoryMatches(options: DatasetGraphs, view: MemoryView, assertTime: () => void): QuadMatches {
  const { terms } = view;
  const gates = { union: graphGate(options, 'union'), named: graphGate(options, 'named') };
  const scans = options.readable.all ? plainScans(view, gates) : openScans(view, gates);
  // Bounds that are looked up together share most terms.
  const lastTokens: Terms = [undefined, undefined, undefined, undefined];
  const lastIds: Ids = [-1, -1, -1, -1];
  /** `undefined` when no quad has one of the terms. */
  const idsOf = (bound: Terms): Ids | undefined => {
    if (!canMatch(bound)) return undefined;
    const ids: Ids = [-1, -1, -1, -1];
    for (let place = 0; place < 4; place++) {
      const token = bound[place];
      if (token === undefined) continue;
      if (token !== lastTokens[place]) {
        lastTokens[place] = token;
        lastIds[place] = terms.idOf(token);
      }
      ids[place] = lastIds[place]!;
      if (ids[place]! < 0) return undefined;
    }
    return ids;
  };
  /** Graphs are decided before anything is looked at, also one that does not exist. */
  const decided = async (bounds: readonly Terms[], part: DatasetPart): Promise<void> => {
    for (const graph of new Set(bounds.map((bound) => bound[graphAt]))) await scans.decide?.(graph, part);
  };
  const scansOf = (bound: Terms, part: DatasetPart): readonly MatchScan[] => {
    const ids = idsOf(bound);
    return ids ? scans.of(ids, part) : [];
  };
  const termsAt = (scan: MatchScan, bound: Terms, places: readonly number[]): Terms => {
    const match: Terms = [undefined, undefined, undefined, undefined];
    for (const place of places) match[place] = bound[place] ?? terms.tokenOf(scan.id(place));
    return match;
  };
  /** All matches; `undefined` when graphs have to be asked for. */
  const found = (bound: Terms, part: DatasetPart, places: readonly number[]): Terms[] | undefined => {
    const matches: Terms[] = [];
    for (const scan of scansOf(bound, part))
      for (let at = scan.next(); at !== ended; at = scan.next()) {
        if (at === stopped) return undefined;
        matches.push(termsAt(scan, bound, places));
      }
    return matches;
  };
  return {
    // A lookup takes 2 to 3 µs, a match of a scan 0.1 to 0.3, and as much again to be joined.
    costs: { lookUp: 6, quad: 3, subject: 6 },
    async *stream(bound, { part, places, among }) {
      assertTime();
      await decided([bound], part);
      let [block, length]: [Terms[], number] = [[], firstLength];
      for (const scan of scansOf(bound, part))
        for (let at = scan.next(); at !== ended; at = scan.next()) {
          if (at === stopped) {
            await scans.ask(part);
            continue;
          }
          if (among && !among.tokens.has(terms.tokenOf(scan.id(among.place)))) continue;
          block.push(termsAt(scan, bound, places));
          if (block.length < length) continue;
          assertTime();
          yield block;
          [block, length] = [[], Math.min(blockLength, length * 4)];
        }
      if (block.length > 0) yield block;
    },
    async lookUp(bounds, { part, places }) {
      assertTime();
      await decided(bounds, part);
      const results: Terms[][] = new Array(bounds.length);
      let left = [...bounds.keys()];
      while (left.length > 0) {
        // All graphs that these meet are asked for together; then those that met one begin anew.
        const again: number[] = [];
        for (const at of left) {
          const matches = found(bounds[at]!, part, places);
          if (matches) results[at] = matches;
          else again.push(at);
        }
        left = again;
        if (left.length > 0) await scans.ask(part);
      }
      return results;
    },
    async count(bound, part) {
      assertTime();
      await decided([bound], part);
      let count = 0;
      for (const scan of scansOf(bound, part)) {
        if (scan instanceof LayerScan && scan.isPlain) count += scan.length;
        else
          for (let at = scan.next(); at !== ended; at = scan.next())
            if (at === stopped) await scans.ask(part);
            else count++;
      }
      return count;
    },
    async *distinct(bound, place, part) {
      await decided([bound], part);
      const ids = idsOf(bound);
      if (!ids) return;
      for (const scan of scans.distinct(ids, place, part)) {
        let found = new Set<Token>();
        for (let at = scan.next(); at !== ended; at = scan.next()) {
          if (at === stopped) {
            await scans.ask(part);
            continue;
          }
          found.add(terms.tokenOf(scan.id(place)));
          if (found.size < blockLength) continue;
          assertTime();
          yield [...found];
          found = new Set();
        }
        if (found.size > 0) yield [...found];
      }
    },
    async estimate(bound, part = 'named') {
      await decided([bound], part);
      const ids = idsOf(bound);
      return ids ? scans.estimate(ids, part) : 0;
    },
    close: async () => {},
  };
}
