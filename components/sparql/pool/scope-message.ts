/** Read access in messages between threads. The ranges are one text, because cloning 2 000 ranges takes 2 ms of CPU time. */
import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import type { IriRange } from '../../../lib/storage/keys/iri-ranges.js';
import { lruCache } from '../../../lib/tools/caches.js';
import { getOrMake } from '../../../lib/tools/collections.js';

export type ScopeMessage =
  | Exclude<GraphScope, object>
  | { readonly owner?: string /** Bounds, one per line: an IRI has no line break. */; readonly ranges: string };

const texts = new WeakMap<readonly IriRange[], string>();

export const scopeMessage = (scope: GraphScope): ScopeMessage =>
  typeof scope === 'string' ? scope : { ...scope, ranges: getOrMake(texts, scope.ranges, () => textOf(scope.ranges)) };

const textOf = (ranges: readonly IriRange[]): string => ranges.map(({ from, to }) => `${from}\n${to}`).join('\n');

/** Ranges of the last callers. Equal ranges are the same array, so that the array can be the key of caches. */
const known = lruCache<readonly IriRange[]>(8);

export const scopeFromMessage = (message: ScopeMessage): GraphScope =>
  typeof message === 'string' ? message : { ...message, ranges: rangesOf(message.ranges) };

function rangesOf(text: string): readonly IriRange[] {
  const found = known.get(text);
  if (found) return found;
  const bounds = text === '' ? [] : text.split('\n');
  const ranges = Array.from({ length: bounds.length / 2 }, (_, at) => ({
    from: bounds[2 * at]!,
    to: bounds[2 * at + 1]!,
  }));
  known.set(text, ranges);
  return ranges;
}
