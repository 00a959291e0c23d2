/** Pages of a listing: which one a URL asks for, and the links between them. Pure. */
import { LwsError } from '../errors.js';
import { formatLink } from '../fields/link.js';

/** The page that a query asks for. @throws LwsError `invalid-page` */
export function pageOf(query: string | undefined): number | undefined {
  const values = new URLSearchParams(query ?? '').getAll('page');
  if (values.length === 0) return undefined;
  if (values.length > 1 || !/^[1-9]\d{0,8}$/.test(values[0]!))
    throw new LwsError('invalid-page', 'The page has to be one positive integer.');
  return Number(values[0]);
}

/** `first`, `prev`, `next` and `last` of a page; `url` may have a query already. */
export function pageLinks(url: string, page: number, last: number): string {
  const link = (number: number, relation: string): string =>
    formatLink(`${url}${url.includes('?') ? '&' : '?'}page=${number}`, relation);
  return [
    link(1, 'first'),
    ...(page > 1 ? [link(page - 1, 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next')] : []),
    link(last, 'last'),
  ].join(', ');
}
