/** Converts ranges of resources to ranges of graph names. Pure functions. Must not depend on permissions or LevelDB. */
import { type IriRange, isInRanges, only, unionOfRanges, withoutRanges } from '../../storage/keys/iri-ranges.js';

/** Suffix of the graph name of a linkset, after the name of its resource. */
export const linksetEnd = '.meta';

/** Returns the ranges of the graphs of resources and linksets. @param ranges ranges of resources, disjoint and in order */
export function graphRanges(ranges: readonly IriRange[]): readonly IriRange[] {
  const [more, fewer]: IriRange[][] = [[], []];
  for (const { from, to } of ranges) {
    // A linkset and its resource are on different sides of a bound only if the bound begins with the IRI of the resource.
    for (const iri of beginnings(to)) if (iri >= from) more!.push(only(iri + linksetEnd));
    for (const iri of beginnings(from)) if (!isInRanges(ranges, iri)) fewer!.push(only(iri + linksetEnd));
  }
  if (more!.length === 0 && fewer!.length === 0) return ranges;
  return withoutRanges(unionOfRanges([...ranges, ...more!]), unionOfRanges(fewer!));
}

/** Arguments and results of the last calls, latest first. */
let remembered: readonly (readonly [ranges: readonly IriRange[], graphs: readonly IriRange[]])[] = [];
const maxRemembered = 8;

/** Returns `graphRanges` of ranges, cached because a caller's ranges rarely change. Equal ranges return the same array. */
export function rememberedGraphRanges(ranges: readonly IriRange[]): readonly IriRange[] {
  const known = remembered.find(([each]) => areSame(each, ranges));
  const found = known ?? ([ranges, graphRanges(ranges)] as const);
  remembered = [found, ...remembered.filter((each) => each !== known)].slice(0, maxRemembered);
  return found[1];
}

const areSame = (a: readonly IriRange[], b: readonly IriRange[]): boolean =>
  a === b || (a.length === b.length && a.every(({ from, to }, at) => from === b[at]!.from && to === b[at]!.to));

/** Yields each prefix of a bound for which the resource with this IRI has its linkset at or after the bound. */
function* beginnings(bound: string): Generator<string> {
  for (let length = bound.length - 1; length > 0; length--) {
    // Most lengths are skipped: if the bound continues with a character greater than the dot, `.meta` sorts before it.
    if (bound.charCodeAt(length) > firstOfEnd) continue;
    const iri = bound.slice(0, length);
    if (iri + linksetEnd >= bound) yield iri;
  }
}

const firstOfEnd = linksetEnd.charCodeAt(0);
