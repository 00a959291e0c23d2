/** Prefix maps as stored with a resource. */

const maxPrefixes = 100;
const longestPrefix = 500;

/** The prefix map is part of the resource's record, which every listing reads. Its size is therefore limited. */
export function boundedPrefixes(prefixes: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(prefixes).filter(
    ([prefix, iri]) =>
      /^([A-Za-z]([\w.-]*[\w-])?)?$/.test(prefix) &&
      iri.length + prefix.length <= longestPrefix &&
      /^[a-z][\w+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/i.test(iri),
  );
  return Object.fromEntries(entries.slice(0, maxPrefixes));
}

/** Merges the prefixes of a resource with those that an update declares; those of the update win. @param known already within the limit */
export function joinedPrefixes(
  given: Readonly<Record<string, string>>,
  known: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const prefix of Object.keys(given))
    if (!Object.hasOwn(known, prefix)) return boundedPrefixes({ ...given, ...known });
  return known;
}
