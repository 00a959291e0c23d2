/** Pages of a listing: the requested page and the links between pages. */
import { LwsError } from '../tools/errors.js';
import { formatLink } from '../tools/fields/link.js';

/** Returns the requested page number, or `undefined` without one. @throws LwsError `invalid-page` */
export function pageOf(query: string | undefined): number | undefined {
  const values = new URLSearchParams(query ?? '').getAll('page');
  if (values.length === 0) return undefined;
  if (values.length > 1 || !/^[1-9]\d*$/.test(values[0]!))
    throw new LwsError('invalid-page', 'The page must be a single positive integer.');
  // A page number this large is always beyond the last page.
  return Math.min(Number(values[0]), 1e12);
}

/** Maximum length of page links in a response, in characters: HTTP clients reject 16 KiB of header fields. */
const longestLinks = 12_000;

/**
 * Returns `first`, `prev`, `next` and `last` links of a page. `url` may have a query. If not all links fit, `next` and `last`
 * come first, and relations to the same page share a link.
 */
export function pageLinks(url: string, page: number, last: number): string {
  const relations: readonly (readonly [number, string])[] = [
    ...(page < last ? [[page + 1, 'next'] as const] : []),
    ...(page > 1 ? [[page - 1, 'prev'] as const] : []),
    [1, 'first'],
    [last, 'last'],
  ];
  const shared = url.length * relations.length > longestLinks / 2;
  const pages = new Map<string, string[]>();
  for (const [number, relation] of relations) {
    const key = shared ? String(number) : `${number} ${relation}`;
    pages.set(key, [...(pages.get(key) ?? []), relation]);
  }
  let links = '';
  for (const [key, names] of pages) {
    const target = `${url}${url.includes('?') ? '&' : '?'}page=${Number.parseInt(key, 10)}`;
    const link = formatLink(target, names.join(' '));
    if (links.length + link.length > longestLinks) break;
    links += links === '' ? link : `, ${link}`;
  }
  return links;
}
