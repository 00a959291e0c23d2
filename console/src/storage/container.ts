/** Container listings, page by page. */
import { json } from './api.js';

export interface ListedMember {
  readonly iri: string;
  readonly types: readonly string[];
  readonly mediaType: string | undefined;
  /** Size in bytes. Absent for containers. */
  readonly size: number | undefined;
  readonly modified: string | undefined;
}

/** Member in a listing document. */
export interface Listed {
  readonly id: string;
  readonly type?: string | readonly string[];
  readonly mediaType?: string;
  readonly format?: string;
  readonly size?: number;
  readonly modified?: string;
}

/** @param base URL of the listing document */
export const memberOf = ({ id, type = [], mediaType, format, size, modified }: Listed, base: string): ListedMember => ({
  iri: new URL(id, base).href,
  types: [type].flat(),
  mediaType: mediaType ?? format,
  size,
  modified,
});

/** Reads a page of a container, and the count of readable members. @param url URL of the page */
export async function readContainer(url: string, signal: AbortSignal) {
  const options = { headers: { Accept: 'application/lws+json' }, signal };
  const { items = [], totalItems } = await json<{ items?: readonly Listed[]; totalItems?: number }>(url, options);
  return { members: items.map((each) => memberOf(each, url)), total: totalItems };
}
