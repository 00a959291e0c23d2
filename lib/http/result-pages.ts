/** Pages of search results (rule 13.1). */
import type { IncomingMessage } from 'node:http';
import { lws } from '../rdf/vocabulary.js';
import { LwsError } from '../tools/errors.js';
import { formatLink } from '../tools/fields/link.js';
import { chooseListing, lwsJson } from './negotiate.js';
import { pageLinks } from './paging.js';
import type { Reply } from './reply.js';

/** Returns the requested page number. @throws LwsError `page-not-found`, also if the page is not a number (rule 13.1) */
export function pageNumber(query: URLSearchParams): number {
  const values = query.getAll('page');
  if (values.length === 0) return 1;
  if (values.length > 1 || !/^[1-9]\d{0,8}$/.test(values[0]!)) throw noSuchPage();
  return Number(values[0]);
}

const noSuchPage = (): LwsError => new LwsError('page-not-found', 'This page does not exist.');

interface ResultPage {
  /** Root IRI of the storage. */
  readonly storage: string;
  /** URL of the response without a page, for links. `undefined` if a GET cannot express the request. */
  readonly url: string | undefined;
  readonly page: number;
  readonly pageSize: number;
  /** Number of the last page that can be requested, if there are more results. */
  readonly deepest?: number;
}

/** Returns a page of results with links to other pages. @throws LwsError `page-not-found` */
export function pageReply(
  { req }: { readonly req: IncomingMessage },
  document: { readonly totalItems: number },
  { storage, url, page, pageSize, deepest = Number.POSITIVE_INFINITY }: ResultPage,
): Reply {
  const last = Math.max(1, Math.min(deepest, Math.ceil(document.totalItems / pageSize)));
  if (page > last) throw noSuchPage();
  const listing = chooseListing(req.headers.accept);
  return {
    status: 200,
    fields: {
      'Content-Type': listing.as === 'json' ? listing.contentType : lwsJson,
      'Cache-Control': 'private, no-store',
      Vary: 'Accept, Authorization',
      Link: [formatLink(storage, lws.storage), url === undefined ? '' : pageLinks(url, page, last)]
        .filter(Boolean)
        .join(', '),
      'X-Content-Type-Options': 'nosniff',
    },
    body: Buffer.from(JSON.stringify(document)),
    isCodable: true,
  };
}
