/** The size of the default Turtle of a small graph after a change of some triples, without writing it out. */
import type { NamedNode } from '@rdfjs/types';
import { turtleSizes } from '../../rdf/turtle-writer.js';
import type { WriterOptions } from '../../rdf/writer-options.js';
import type { ChangedKeys } from './graph-changes.js';
import { firstAt } from './graph-keys.js';
import { isLargeGraph } from './graph-lines.js';
import { separator } from './key-layout.js';
import { decodeGraph, spansOfKey } from './quad-decoding.js';

/** A larger part of a graph that changes is not worth the look-ups. */
const smallestShare = 1 / 4;

/**
 * Bytes of the default Turtle after a change: what is written of a subject and a predicate depends on nothing else, unless blank nodes
 * have part in it. `undefined` where the whole has to be written out.
 * @param before keys and size before the change
 * @param options of both states: with other prefixes, all is written otherwise
 */
export function changedSize(
  before: { readonly keys: readonly string[]; readonly size: number },
  { keys, added, removed }: ChangedKeys,
  options: WriterOptions,
): number | undefined {
  if (isLargeGraph(keys.length)) return undefined;
  const changed = [...added, ...removed];
  if (changed.length > Math.min(before.keys.length, keys.length) * smallestShare) return undefined;
  /** Beginnings of keys. */
  const [subjects, properties] = [new Set<string>(), new Set<string>()];
  for (const key of changed) {
    const [, subject, predicate] = spansOfKey(key);
    subjects.add(key.slice(0, subject!.end) + separator);
    properties.add(key.slice(0, predicate!.end) + separator);
  }
  const sizes = turtleSizes(options);
  const sizeOfParts = (graph: readonly string[]): number => {
    let size = 0;
    for (const beginning of subjects) {
      const found = decodeGraph(keysFrom(graph, beginning, 1))[0];
      if (found) size += sizes.subject(found.subject);
    }
    for (const beginning of properties) {
      const found = decodeGraph(keysFrom(graph, beginning));
      if (found.length > 0)
        size += sizes.property(
          found[0]!.predicate as NamedNode,
          found.map(({ object }) => object),
        );
    }
    return size;
  };
  // Not a number where a blank node was met.
  const size = before.size + sizeOfParts(keys) - sizeOfParts(before.keys);
  return Number.isNaN(size) ? undefined : size;
}

/** The keys with a beginning. @param most how many are wanted */
function keysFrom(keys: readonly string[], beginning: string, most = keys.length): readonly string[] {
  const at = firstAt(keys, beginning);
  let end = at;
  while (end - at < most && keys[end]?.startsWith(beginning)) end++;
  return keys.slice(at, end);
}
