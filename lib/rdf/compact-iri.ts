/** Shortens IRIs by the prefixes of a document, or relative to the IRI of the document. Compares IRIs as strings. */
import { beginsWith } from '../tools/begins-with.js';
import { partitionPoint } from '../tools/collections.js';

/** Prefix name and namespace IRI. */
export type Prefix = readonly [name: string, namespace: string];

/**
 * Returns a function that shortens an IRI to `name:local`, or returns `undefined`. Uses the longest namespace with a remainder
 * that matches `local`; of equal namespaces the first.
 */
export function compactor(prefixes: readonly Prefix[], local: RegExp): (iri: string) => string | undefined {
  const names = new Map(prefixes.toReversed().map(([name, namespace]) => [namespace, name]));
  const namespaces = [...names.keys()].sort();
  const enclosing = enclosingEntries(namespaces);
  return (iri) => {
    // Every namespace that is a prefix of the IRI is also a prefix of the last namespace that does not sort after the IRI.
    for (let i = countUpTo(namespaces, iri) - 1; i >= 0; i = enclosing[i]!) {
      const namespace = namespaces[i]!;
      if (!beginsWith(iri, namespace)) continue;
      const remainder = iri.slice(namespace.length);
      if (local.test(remainder)) return `${names.get(namespace)!}:${remainder}`;
    }
    return undefined;
  };
}

/** Returns for each sorted entry the index of the longest other entry that is its prefix, or -1. */
function enclosingEntries(sorted: readonly string[]): number[] {
  const enclosing: number[] = [];
  for (const [i, entry] of sorted.entries()) {
    let candidate = i - 1;
    while (candidate >= 0 && !entry.startsWith(sorted[candidate]!)) candidate = enclosing[candidate]!;
    enclosing.push(candidate);
  }
  return enclosing;
}

/** Returns the count of sorted entries that are not greater than `limit`. */
const countUpTo = (sorted: readonly string[], limit: string): number =>
  partitionPoint(0, sorted.length, (at) => sorted[at]! <= limit);

/** Returns the IRI without fragment. */
export function withoutFragment(iri: string): string {
  const hash = iri.indexOf('#');
  return hash < 0 ? iri : iri.slice(0, hash);
}

/** Returns the scheme of an absolute IRI, or `undefined` (RFC 3986, 3.1). */
export function schemeOf(iri: string): string | undefined {
  const colon = iri.indexOf(':');
  return colon > 0 && SCHEME.test(iri.slice(0, colon)) ? iri.slice(0, colon) : undefined;
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;

/** Matches scheme, authority and path without its last segment (RFC 3986, appendix B and 5.2.3). */
const HIERARCHY = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]+(?:\/(?:[^?#]*\/)?)?/;

/** Matches paths that reference resolution may change (RFC 3986, 5.2.4). */
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/;

/**
 * Matches references that can safely follow the container's IRI: no empty segment, no segment that begins with a dot, no query,
 * only IRI characters, and no colon (parsers disagree about colons that form a scheme).
 */
const PLAIN_REFERENCE = (() => {
  const excluded = ':/?#\\x00-\\x20<>"{}|^`\\\\';
  const segment = `[^.${excluded}][^${excluded}]*`;
  return new RegExp(`^${segment}(?:/${segment})*/?(?:#[^${excluded}]*)?$`);
})();

const PLAIN_FRAGMENT = /^#[^\x00-\x20<>"{}|^`\\]*$/;

/**
 * Returns a function that turns an IRI into a reference that resolves against `base` to exactly that IRI (RFC 3986, 5.2): empty
 * for the document itself, `#it` for its fragments, `name` for siblings. Returns `undefined` for all other IRIs and in doubtful
 * cases.
 */
export function relativizer(base: string): (iri: string) => string | undefined {
  const document = withoutFragment(base);
  const hierarchy = HIERARCHY.exec(document)?.[0];
  if (hierarchy === undefined || DOT_SEGMENT.test(document)) return () => undefined;
  // Without a path there is no container: resolving `name` against `http://example.org` inserts a slash.
  const container = hierarchy.endsWith('/') ? hierarchy : undefined;
  return (iri) => {
    if (beginsWith(iri, document)) {
      const remainder = iri.slice(document.length);
      if (remainder === '') return remainder;
      if (PLAIN_FRAGMENT.test(remainder)) return remainder;
    }
    if (container === undefined || !beginsWith(iri, container)) return undefined;
    const remainder = iri.slice(container.length);
    return PLAIN_REFERENCE.test(remainder) ? remainder : undefined;
  };
}
