/**
 * The quads of the caller's dataset that match given terms, from memory: the same answers as `quadMatches` has from LevelDB. It
 * must not know variables, joins or queries.
 */

import { type DatasetGraphs, type DatasetPart, graphGate } from '../access/graph-gate.js';
import { graphAt, type Terms } from '../access/key-reader.js';
import type { QuadMatches } from '../access/quad-matches.js';
import { type Among, canMatch } from '../access/scan.js';
import type { Token } from '../access/terms.js';
import { GraphVerdicts } from './graph-verdicts.js';
import { type Copies, ended, LayerScan, stopped } from './layer-scan.js';
import type { Layer, MemoryView } from './memory-view.js';
import { type Ids, orderPlaces, rangeFor, rangeIn, upperBound } from './sorted-quads.js';

/** Matches of a block; of the first, which may be all that is wanted. */
const blockLength = 2048;
const firstLength = 64;

export function memoryMatches(
  options: DatasetGraphs,
  { terms, layers }: MemoryView,
  assertTime: () => void,
): QuadMatches {
  const gates = { union: graphGate(options, 'union'), named: graphGate(options, 'named') };
  const verdicts = {
    union: gates.union.all ? undefined : new GraphVerdicts(gates.union, terms),
    named: gates.named.all ? undefined : new GraphVerdicts(gates.named, terms),
  };
  const few = {
    union: gates.union.few?.map((graph) => terms.idOf(graph)),
    named: gates.named.few?.map((graph) => terms.idOf(graph)),
  };
  // Bounds that are looked up together share most terms.
  const lastTokens: Terms = [undefined, undefined, undefined, undefined];
  const lastIds: Ids = [-1, -1, -1, -1];
  /** `undefined` when no quad has one of the terms. */
  const idsOf = (bound: Terms): Ids | undefined => {
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
  const scansOf = (bound: Terms, part: DatasetPart): LayerScan[] => {
    const ids = canMatch(bound) ? idsOf(bound) : undefined;
    if (!ids) return [];
    const scans: LayerScan[] = [];
    const isUnion = part === 'union' && ids[graphAt] < 0;
    for (let at = 0; at < layers.length; at++) {
      const layer = layers[at]!;
      const whole = rangeFor(layer.quads, ids);
      if (whole.from === whole.to) continue;
      const before = at === 0 ? [] : layers.slice(0, at);
      const copies = isUnion ? { areAdjacent: true, before } : undefined;
      const only = ids[graphAt] < 0 ? few[part] : undefined;
      if (only && only.length < whole.to - whole.from)
        scans.push(...ofFew(layer, only, ids, whole.to - whole.from, verdicts[part], copies));
      else scans.push(new LayerScan(layer, whole, ids, verdicts[part], copies));
    }
    return scans;
  };
  const termsAt = ({ columns }: LayerScan, i: number, bound: Terms, places: readonly number[]): Terms => {
    const match: Terms = [undefined, undefined, undefined, undefined];
    for (const place of places) match[place] = bound[place] ?? terms.tokenOf(columns[place as 0][i]!);
    return match;
  };
  const isAmong = ({ columns }: LayerScan, i: number, { place, tokens }: Among): boolean =>
    tokens.has(terms.tokenOf(columns[place as 0][i]!));
  /** All matches; `undefined` when graphs have to be asked for. */
  const found = (bound: Terms, part: DatasetPart, places: readonly number[]): Terms[] | undefined => {
    const matches: Terms[] = [];
    for (const scan of scansOf(bound, part))
      for (let i = scan.next(); i !== ended; i = scan.next()) {
        if (i === stopped) return undefined;
        matches.push(termsAt(scan, i, bound, places));
      }
    return matches;
  };
  return {
    // A lookup takes 2 to 3 µs, a match of a scan 0.1 to 0.3, and as much again to be joined.
    costs: { lookUp: 6, quad: 3, subject: 6 },
    async *stream(bound, { part, places, among }) {
      assertTime();
      let [block, length]: [Terms[], number] = [[], firstLength];
      for (const scan of scansOf(bound, part))
        for (let i = scan.next(); i !== ended; i = scan.next()) {
          if (i === stopped) {
            await verdicts[part]!.ask();
            continue;
          }
          if (among && !isAmong(scan, i, among)) continue;
          block.push(termsAt(scan, i, bound, places));
          if (block.length < length) continue;
          assertTime();
          yield block;
          [block, length] = [[], Math.min(blockLength, length * 4)];
        }
      if (block.length > 0) yield block;
    },
    async lookUp(bounds, { part, places }) {
      assertTime();
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
        if (left.length > 0) await verdicts[part]!.ask();
      }
      return results;
    },
    async count(bound, part) {
      assertTime();
      let count = 0;
      for (const scan of scansOf(bound, part)) {
        if (scan.isPlain) count += scan.length;
        else
          for (let i = scan.next(); i !== ended; i = scan.next())
            if (i === stopped) await verdicts[part]!.ask();
            else count++;
      }
      return count;
    },
    async *distinct(bound, place, part) {
      const ids = canMatch(bound) ? idsOf(bound) : undefined;
      if (!ids) return;
      const level = ids.filter((id) => id >= 0).length;
      const order = orderPlaces.findIndex(
        (places) => places[level] === place && places.slice(0, level).every((each) => ids[each]! >= 0),
      );
      for (const layer of layers) {
        const range = order < 0 ? rangeFor(layer.quads, ids) : rangeIn(layer.quads, order, ids);
        const scan = new LayerScan(layer, range, ids, verdicts[part], undefined);
        const by = scan.columns[place as 0];
        let found = new Set<Token>();
        for (let i = scan.next(); i !== ended; i = scan.next()) {
          if (i === stopped) {
            await verdicts[part]!.ask();
            continue;
          }
          found.add(terms.tokenOf(by[i]!));
          if (order >= 0) scan.leap(upperBound(by, by[i]!, i, range.to));
          if (found.size < blockLength) continue;
          assertTime();
          yield [...found];
          found = new Set();
        }
        if (found.size > 0) yield [...found];
      }
    },
    async estimate(bound) {
      const ids = canMatch(bound) ? idsOf(bound) : undefined;
      if (!ids) return 0;
      return layers.reduce((sum, { quads }) => {
        const { from, to } = rangeFor(quads, ids);
        return sum + to - from;
      }, 0);
    },
    close: async () => {},
  };
}

/** One scan for each of a few graphs, when that is less to look at than all of them. */
function ofFew(
  layer: Layer,
  only: readonly number[],
  ids: Ids,
  length: number,
  verdicts: GraphVerdicts | undefined,
  copies: Copies | undefined,
): LayerScan[] {
  const parts = only
    .filter((graph) => graph >= 0)
    .map((graph) => {
      const own: Ids = [ids[0], ids[1], ids[2], graph];
      return { own, range: rangeFor(layer.quads, own) };
    });
  const isLess = parts.reduce((sum, { range }) => sum + range.to - range.from, 0) * 2 < length;
  if (!isLess) return [new LayerScan(layer, rangeFor(layer.quads, ids), ids, verdicts, copies)];
  const apart = copies && { ...copies, areAdjacent: only.length === 1 };
  return parts.map(({ own, range }) => new LayerScan(layer, range, own, verdicts, apart));
}
