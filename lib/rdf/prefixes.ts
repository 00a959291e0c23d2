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

/** The prefixes of a resource with those that an update of it declares, of which its own count. @param known bounded already */
export function joinedPrefixes(
  given: Readonly<Record<string, string>>,
  known: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const prefix of Object.keys(given))
    if (!Object.hasOwn(known, prefix)) return boundedPrefixes({ ...given, ...known });
  return known;
}
