/**
 * How much work the contexts of a JSON-LD document are: `jsonld` copies all terms that are in force for each further context, and takes in
 * those that a repeated context has again, so that their number alone says little.
 */
import { shippedContext } from './contexts.js';

/** Terms that a document may make be copied, for each of its characters. */
const termsPerCharacter = 8;

/** Whether the contexts of a document are no more work than its length, about, says. */
export const isBounded = (document: object, length: number): boolean =>
  workOf(document) <= termsPerCharacter * Math.max(length, leastLength);

/** Shorter ones are no work. */
const leastLength = 1024;

interface Visit {
  readonly node: object;
  /** Terms in force around it. */
  readonly terms: number;
}

/** Terms copied or defined, about. */
function workOf(document: object): number {
  const left: Visit[] = [{ node: document, terms: 0 }];
  // The same context on the same terms is kept by `jsonld`.
  const known = new Set<string>();
  let work = 0;
  for (let visit = left.pop(); visit; visit = left.pop()) {
    let { terms } = visit;
    if ('@context' in visit.node) {
      const contexts = [(visit.node as { '@context': unknown })['@context']].flat();
      const key = `${terms} ${JSON.stringify(contexts, withoutScoped)}`;
      const before = work;
      for (const context of contexts) {
        terms += termsOf(context);
        work += terms;
      }
      if (known.has(key)) work = before;
      known.add(key);
    }
    for (const value of Object.values(visit.node))
      if (typeof value === 'object' && value !== null) left.push({ node: value as object, terms });
  }
  return work;
}

/** Contexts of terms are visited themselves. */
const withoutScoped = (key: string, value: unknown): unknown => (key === '@context' ? undefined : value);

function termsOf(context: unknown): number {
  if (typeof context === 'string') {
    const { '@context': shipped } = (shippedContext(context) ?? {}) as { '@context'?: object };
    return Object.keys(shipped ?? {}).length;
  }
  return typeof context === 'object' && context !== null ? Object.keys(context).length : 0;
}
