/** The codec of `Prefer` (RFC 7240 2). */
import { type PairRules, readPair, readParameters, skipSpace, splitList, tokenEnd } from './syntax.js';

/** What a preference says: its value, empty when it has none, and its parameters with lower-case names. */
export interface Preference {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const preferPairs: PairRules = { loose: true, valueEnd: tokenEnd };

/**
 * The preferences of a field by their lower-case names; the first of a repeated one wins, malformed members are
 * skipped (RFC 7240 2).
 */
export function parsePrefer(field: string): ReadonlyMap<string, Preference> {
  const preferences = new Map<string, Preference>();
  for (const member of splitList(field)) {
    const pair = readPair(member, skipSpace(member, 0), preferPairs);
    if (!pair || preferences.has(pair.name)) continue;
    const read = readParameters(member, pair.end, preferPairs);
    if (read?.end === member.length) preferences.set(pair.name, { value: pair.value, parameters: read.parameters });
  }
  return preferences;
}
