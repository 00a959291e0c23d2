/** Selects matches from keys of one range: keys in open graphs, each triple of the union default graph once. */
import { graphPrefix } from '../../storage/keys/quad-keys.js';
import type { DistinctTriples } from './distinct-triples.js';
import type { GraphFilter } from './graph-filter.js';
import { graphAt, type KeyPrefix, type KeyReader, type Terms } from './key-reader.js';
import { isIri, type TermKey } from './terms.js';

/** Restricts matches to those with one of these terms in this position. */
export interface Among {
  readonly place: number;
  readonly tokens: { has(token: TermKey): boolean };
}

export interface Scan {
  readonly range: KeyPrefix;
  readonly bound: Terms;
  readonly reader: KeyReader;
  readonly gate: GraphFilter | undefined;
  readonly unique: DistinctTriples | undefined;
  readonly among?: Among | undefined;
}

/** Called with the key of a match. */
export type TakeKey = (key: string) => void;

/** Literals are only allowed as objects, and predicates and graphs must be IRIs. */
export const canMatch = ([subject, predicate, , graph]: Terms): boolean =>
  (subject === undefined || isIri(subject) || subject.charCodeAt(1) === 49) &&
  (predicate === undefined || isIri(predicate)) &&
  (graph === undefined || isIri(graph));

/** Returns the terms of the match whose key the reader holds. */
export function termsOf({ bound, reader }: Scan, places: readonly number[]): Terms {
  const terms: Terms = [undefined, undefined, undefined, undefined];
  for (const place of places) terms[place] = bound[place] ?? reader.token(place);
  return terms;
}

/**
 * Calls `take` for each matching key while the reader holds it. If keys have undecided graphs, asks the authorizer for all of
 * them together and returns a promise.
 */
export function eachMatch(scan: Scan, keys: readonly string[], take: TakeKey): Promise<void> | undefined {
  const at = takeMatches(scan, keys, 0, take);
  return at === keys.length ? undefined : afterAsking(scan, keys, at, take);
}

async function afterAsking(scan: Scan, keys: readonly string[], from: number, take: TakeKey): Promise<void> {
  for (let at = from; at < keys.length; at = takeMatches(scan, keys, at, take))
    await scan.gate!.ask(undecided(scan, keys, at));
}

/** Stops at the first key of an undecided graph. Returns its index, or the number of keys. */
function takeMatches(scan: Scan, keys: readonly string[], from: number, take: TakeKey): number {
  const { range, bound, reader, gate, unique, among } = scan;
  const { suffix, others } = range;
  // If the graph comes first, keys of one graph are adjacent, and those of a closed graph are skipped.
  const isByGraph = range.index === 'GSPO';
  let graphHead = '\u0000';
  let isOpen: boolean | undefined;
  for (let i = from; i < keys.length; i++) {
    const key = keys[i]!;
    const isSameGraph = isByGraph && gate !== undefined && key.startsWith(graphHead);
    if (isSameGraph && isOpen === false) continue;
    if (!reader.read(key, suffix)) continue;
    if (others.length > 0 && !others.every((place) => reader.token(place) === bound[place])) continue;
    if (among && !among.tokens.has(reader.token(among.place))) continue;
    if (gate && !isSameGraph) {
      const graph = reader.token(graphAt);
      isOpen = gate.isOpen(graph);
      if (isOpen === undefined) return i;
      if (isByGraph) graphHead = graphPrefix(graph);
      if (!isOpen) continue;
    }
    if (unique && !unique.isNew(reader, key)) continue;
    take(key);
  }
  return keys.length;
}

function undecided({ range, reader, gate }: Scan, keys: readonly string[], from: number): string[] {
  const graphs = new Set<string>();
  for (const key of keys.slice(from)) if (reader.read(key, range.suffix)) graphs.add(reader.token(graphAt));
  return [...graphs].filter((graph) => gate!.isOpen(graph) === undefined);
}
