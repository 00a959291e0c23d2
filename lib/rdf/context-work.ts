/**
 * Estimates the work of JSON-LD contexts. `jsonld` copies all active terms for each further context and processes repeated
 * contexts again, so counting contexts is not enough.
 */
import { shippedContext } from './contexts.js';

/** Maximum copied terms per character of the document. */
const termsPerCharacter = 8;

/** Returns true if the work for a document's contexts is at most proportional to its length. */
export const isBounded = (document: object, length: number): boolean =>
  workOf(document) <= termsPerCharacter * Math.max(length, leastLength);

/** Minimum length that is assumed for a document, so that short ones are always accepted. */
const leastLength = 1024;

interface Visit {
  readonly node: object;
  /** Count of active terms of the enclosing context. */
  readonly terms: number;
}

/** Returns the approximate count of terms that are copied or defined. */
function workOf(document: object): number {
  const left: Visit[] = [{ node: document, terms: 0 }];
  // `jsonld` caches a context that is applied to the same active terms.
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

/** Omits scoped contexts, which are visited separately. */
const withoutScoped = (key: string, value: unknown): unknown => (key === '@context' ? undefined : value);

function termsOf(context: unknown): number {
  if (typeof context === 'string') {
    const { '@context': shipped } = (shippedContext(context) ?? {}) as { '@context'?: object };
    return Object.keys(shipped ?? {}).length;
  }
  return typeof context === 'object' && context !== null ? Object.keys(context).length : 0;
}
