/** Pages of a listing: which one a URL asks for, and the links between them. Pure. */
import { LwsError } from '../errors.js';
import { formatLink } from '../fields/link.js';

/** The page that a query asks for. @throws LwsError `invalid-page` */
export function pageOf(query: string | undefined): number | undefined {
  const values = new URLSearchParams(query ?? '').getAll('page');
  if (values.length === 0) return undefined;
  if (values.length > 1 || !/^[1-9]\d*$/.test(values[0]!))
    throw new LwsError('invalid-page', 'The page has to be one positive integer.');
  // One with so many digits is past the last one, however many there are.
  return Math.min(Number(values[0]), 1e12);
}

/** Characters of page links that an answer may have: HTTP clients refuse 16 KiB of header fields. */
const longestLinks = 12_000;

/**
 * `first`, `prev`, `next` and `last` of a page; `url` may have a query already. When it is so long that not all fit, those
 * that lead on come first, and relations to one page share a link.
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
