/** `Prefer` field (RFC 7240 2). */
import { type PairRules, readPair, readParameters, skipSpace, splitList, tokenEnd } from './syntax.js';

/** A preference: its value (empty if absent) and its parameters with lower-case names. */
export interface Preference {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const preferPairs: PairRules = { loose: true, valueEnd: tokenEnd };

/** Parses preferences by lower-case name. The first of repeated preferences counts, malformed members are skipped (RFC 7240 2). */
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
