/** Shortens IRIs: by the prefixes of a document, and relative to the document's own IRI. It knows IRIs as strings only. */

/** A prefix name with its namespace IRI. */
export type Prefix = readonly [name: string, namespace: string];

/**
 * Makes the function that turns an IRI into `name:local`, or `undefined` where no prefix fits.
 * The longest namespace wins of which the remainder matches `local`; of two equal ones, the first.
 */
export function compactor(prefixes: readonly Prefix[], local: RegExp): (iri: string) => string | undefined {
  const names = new Map(prefixes.toReversed().map(([name, namespace]) => [namespace, name]));
  const namespaces = [...names.keys()].sort();
  const enclosing = enclosingEntries(namespaces);
  return (iri) => {
    // All namespaces that the IRI starts with enclose the last one that is not sorted after the IRI.
    for (let i = countUpTo(namespaces, iri) - 1; i >= 0; i = enclosing[i]!) {
      const namespace = namespaces[i]!;
      if (!iri.startsWith(namespace)) continue;
      const remainder = iri.slice(namespace.length);
      if (local.test(remainder)) return `${names.get(namespace)!}:${remainder}`;
    }
    return undefined;
  };
}

/** For each of the sorted entries the place of the longest other one that it starts with, or -1. */
function enclosingEntries(sorted: readonly string[]): number[] {
  const enclosing: number[] = [];
  for (const [i, entry] of sorted.entries()) {
    let candidate = i - 1;
    while (candidate >= 0 && !entry.startsWith(sorted[candidate]!)) candidate = enclosing[candidate]!;
    enclosing.push(candidate);
  }
  return enclosing;
}

/** How many of the sorted entries are not greater than `limit`. */
function countUpTo(sorted: readonly string[], limit: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The IRI of the document that `iri` is or lies in. */
export function withoutFragment(iri: string): string {
  const hash = iri.indexOf('#');
  return hash < 0 ? iri : iri.slice(0, hash);
}

/** The scheme of an absolute IRI, or `undefined` (RFC 3986, 3.1). */
export function schemeOf(iri: string): string | undefined {
  const colon = iri.indexOf(':');
  return colon > 0 && SCHEME.test(iri.slice(0, colon)) ? iri.slice(0, colon) : undefined;
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;

/** Scheme, authority and path, without the last segment of it (RFC 3986, appendix B and 5.2.3). */
const HIERARCHY = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]+(?:\/(?:[^?#]*\/)?)?/;

/** Paths that a parser may change when it resolves a reference (RFC 3986, 5.2.4). */
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/;

/**
 * References that the container's IRI can be put in front of without a second thought: no empty segment, none that
 * starts with a dot, no query, no character that must not be in an IRI, and no colon (parsers do not agree on which of
 * the colons make a scheme).
 */
const PLAIN_REFERENCE = (() => {
  const excluded = ':/?#\\x00-\\x20<>"{}|^`\\\\';
  const segment = `[^.${excluded}][^${excluded}]*`;
  return new RegExp(`^${segment}(?:/${segment})*/?(?:#[^${excluded}]*)?$`);
})();

const PLAIN_FRAGMENT = /^#[^\x00-\x20<>"{}|^`\\]*$/;

/**
 * Makes the function that turns an IRI into a reference that resolves against `base` to exactly that IRI
 * (RFC 3986, 5.2): the empty one for the document itself, `#it` for its fragments, `name` for what is in the
 * container it is in. For any other IRI, and whenever there is a doubt, it yields `undefined`.
 */
export function relativizer(base: string): (iri: string) => string | undefined {
  const document = withoutFragment(base);
  const hierarchy = HIERARCHY.exec(document)?.[0];
  if (hierarchy === undefined || DOT_SEGMENT.test(document)) return () => undefined;
  // Without a path there is no container: `http://example.org` + `name` has a slash that came from nowhere.
  const container = hierarchy.endsWith('/') ? hierarchy : undefined;
  return (iri) => {
    if (iri.startsWith(document)) {
      const remainder = iri.slice(document.length);
      if (remainder === '') return remainder;
      if (PLAIN_FRAGMENT.test(remainder)) return remainder;
    }
    if (container === undefined || !iri.startsWith(container)) return undefined;
    const remainder = iri.slice(container.length);
    return PLAIN_REFERENCE.test(remainder) ? remainder : undefined;
  };
}
