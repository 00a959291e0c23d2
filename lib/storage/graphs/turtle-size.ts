/** Computes the size of the default Turtle of a small graph after a change of a few triples, without serializing the graph. */
import type { Term } from '@rdfjs/types';
import { turtleSizes } from '../../rdf/turtle-writer.js';
import type { WriterOptions } from '../../rdf/writer-options.js';
import type { ChangedKeys } from '../keys/graph-changes.js';
import { lowerBound } from '../keys/graph-keys.js';
import { separator, type TermSpan } from '../keys/key-layout.js';
import { spansOfKey, termOfKey } from '../keys/quad-decoding.js';
import { isLargeGraph } from './graph-lines.js';

/** Maximum share of a graph's keys that may change. If more keys change, serializing the graph is faster. */
const smallestShare = 1 / 4;

/**
 * Returns the size of the default Turtle after a change. Without blank nodes, the text of a subject and predicate is
 * independent of the other triples. `undefined` if the graph must be serialized.
 * @param before keys and size before the change
 * @param options options of both states, because other prefixes change the whole text
 */
export function changedSize(
  before: { readonly keys: readonly string[]; readonly size: number },
  { keys, added, removed }: ChangedKeys,
  options: WriterOptions,
): number | undefined {
  if (isLargeGraph(keys.length)) return undefined;
  if (added.length + removed.length > Math.min(before.keys.length, keys.length) * smallestShare) return undefined;
  const sizes = turtleSizes(options);
  let { size } = before;
  /** Prefixes of keys (subject and predicate, or subject) that are already counted. */
  const met = new Set<string>();
  for (const key of [...added, ...removed]) {
    const [, subject, predicate] = spansOfKey(key) as readonly [TermSpan, TermSpan, TermSpan];
    const ofProperty = key.slice(0, predicate.end + separator.length);
    if (subject.type !== '0') return undefined;
    if (met.has(ofProperty)) continue;
    met.add(ofProperty);
    const [had, has] = [objectsOf(before.keys, ofProperty), objectsOf(keys, ofProperty)];
    const iri = key.slice(predicate.from, predicate.end);
    size += sizes.property(iri, has) - sizes.property(iri, had);
    const ofSubject = key.slice(0, subject.end + separator.length);
    // If there are objects before and after, the subject exists in both states.
    if ((had.length > 0 && has.length > 0) || met.has(ofSubject)) continue;
    met.add(ofSubject);
    const more = Number(begins(keys, ofSubject)) - Number(begins(before.keys, ofSubject));
    if (more !== 0) size += more * sizes.subject(key.slice(subject.from, subject.end));
  }
  // NaN if a blank node was found.
  return Number.isNaN(size) ? undefined : size;
}

/** Returns true if one of the keys has a prefix. */
const begins = (keys: readonly string[], beginning: string): boolean =>
  keys[lowerBound(keys, beginning)]?.startsWith(beginning) === true;

/** Returns the objects of the keys that have a prefix (subject and predicate). */
function objectsOf(keys: readonly string[], beginning: string): readonly Term[] {
  const objects: Term[] = [];
  for (let at = lowerBound(keys, beginning); keys[at]?.startsWith(beginning); at++)
    objects.push(termOfKey(keys[at]!, spansOfKey(keys[at]!)[3]!));
  return objects;
}
