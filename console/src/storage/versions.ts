/** Earlier states of resources (RFC 7089). */
import { storageUri } from '../session/session.js';
import { json, request } from './api.js';
import { once } from './once.js';

export interface ListedVersion {
  readonly id: string;
  readonly url: string;
  readonly from: string;
  readonly until?: string;
  readonly isPresent?: true;
  readonly mediaType?: string;
  readonly size?: number;
  /** Identity that made the change. Only visible to controllers of the storage. */
  readonly actor?: string;
}

/** Returns a page of the versions of a resource, latest first. */
export const readVersions = (
  url: string,
): Promise<{ readonly versions: readonly ListedVersion[]; readonly next?: string }> => json(url);

/** True if the storage has or had versions of any resource. */
export const keepsVersions = once(async () =>
  /\baccept-datetime\b/i.test((await request('HEAD', storageUri)).headers.get('Vary') ?? ''),
);

/** A line that only one of two texts contains, or both. */
export interface DiffLine {
  readonly sign: '+' | '−' | ' ';
  readonly text: string;
}

/** Maximum product of the line counts of both texts, without common lines at start and end. */
const maxWork = 4_000_000;

/** Returns the lines of two texts in order, without long common sections, or `undefined` if too many lines differ. */
export function differingLines(before: string, after: string): DiffLine[] | undefined {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length * right.length > maxWork) return undefined;
  // Element i, j: length of the longest common subsequence of the lines from i and j on.
  const width = right.length + 1;
  const common = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      common[i * width + j] =
        left[i] === right[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: DiffLine[] = [];
  for (let [i, j] = [0, 0]; i < left.length || j < right.length; )
    if (i < left.length && left[i] === right[j]) {
      lines.push({ sign: ' ', text: left[i++]! });
      j++;
    } else if (j === right.length || (i < left.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      lines.push({ sign: '−', text: left[i++]! });
    else lines.push({ sign: '+', text: right[j++]! });
  return lines;
}

/** Returns the triples that only one of two documents in N-Triples contains, sorted. */
export function differingTriples(before: string, after: string): DiffLine[] {
  const linesOf = (text: string): Set<string> => new Set(text.split('\n').filter((line) => line.trim() !== ''));
  const [a, b] = [linesOf(before), linesOf(after)];
  const only = (lines: Set<string>, others: Set<string>, sign: DiffLine['sign']): DiffLine[] =>
    [...lines].filter((line) => !others.has(line)).map((text) => ({ sign, text }));
  return [...only(a, b, '−'), ...only(b, a, '+')].sort((x, y) => (x.text < y.text ? -1 : x.text > y.text ? 1 : 0));
}
