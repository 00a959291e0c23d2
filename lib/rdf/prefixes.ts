/** Prefixes that are stored with a resource. */

const maxPrefixes = 100;
const longestPrefix = 500;

/** Returns valid prefixes, limited in length and count: they are stored in the record, which every listing reads. */
export function boundedPrefixes(prefixes: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(prefixes).filter(
    ([prefix, iri]) =>
      /^([A-Za-z]([\w.-]*[\w-])?)?$/.test(prefix) &&
      iri.length + prefix.length <= longestPrefix &&
      /^[a-z][\w+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/i.test(iri),
  );
  return Object.fromEntries(entries.slice(0, maxPrefixes));
}

/** Merges the prefixes of a resource with those of an update, which take precedence. @param known prefixes of the resource */
export function joinedPrefixes(
  given: Readonly<Record<string, string>>,
  known: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const prefix of Object.keys(given))
    if (!Object.hasOwn(known, prefix)) return boundedPrefixes({ ...given, ...known });
  return known;
}
