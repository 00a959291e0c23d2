/** `Accept-Language` field (RFC 9110 12.5.4). */
import { splitList } from './syntax.js';

/** Maximum number of languages that are read. */
const maxLanguages = 20;

/** Returns the accepted language ranges in lower case, best first. Skips malformed members, `*`, and ranges with weight 0. */
export function acceptedLanguages(field: string): readonly string[] {
  const ranges: (readonly [range: string, weight: number])[] = [];
  for (const member of splitList(field).slice(0, maxLanguages)) {
    const [, range, weight = '1'] =
      /^([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8})(?:[ \t]{0,9};[ \t]{0,9}q=([01](?:\.\d{0,3})?))?$/.exec(
        member.trim(),
      ) ?? [];
    if (range !== undefined && Number(weight) > 0) ranges.push([range.toLowerCase(), Number(weight)]);
  }
  return ranges.sort((a, b) => b[1] - a[1]).map(([range]) => range);
}
