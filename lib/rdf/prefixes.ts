/** Prefix maps as they are kept with a resource. Pure. */

const maxPrefixes = 100;
const longestPrefix = 500;

/** A prefix map lies in the resource's record, which every listing reads: it is kept, but not at any size. */
export function boundedPrefixes(prefixes: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(prefixes).filter(
    ([prefix, iri]) =>
      /^([A-Za-z]([\w.-]*[\w-])?)?$/.test(prefix) &&
      iri.length + prefix.length <= longestPrefix &&
      /^[a-z][\w+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/i.test(iri),
  );
  return Object.fromEntries(entries.slice(0, maxPrefixes));
}
