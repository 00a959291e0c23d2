/** Containers as the server lists them, page by page. */
import { json } from './api.js';

export interface Member {
  readonly iri: string;
  readonly types: readonly string[];
  readonly mediaType: string | undefined;
  /** Bytes; containers have none. */
  readonly size: number | undefined;
  readonly modified: string | undefined;
}

/** A member as documents of the server list it. */
export interface Listed {
  readonly id: string;
  readonly type?: string | readonly string[];
  readonly mediaType?: string;
  readonly format?: string;
  readonly size?: number;
  readonly modified?: string;
}

/** @param base of the document that lists it */
export const memberOf = ({ id, type = [], mediaType, format, size, modified }: Listed, base: string): Member => ({
  iri: new URL(id, base).href,
  types: [type].flat(),
  mediaType: mediaType ?? format,
  size,
  modified,
});

/**
 * A page of a container, and how many members there are in all, of those that the caller may see.
 * @param url the address of the page
 */
export async function readContainer(url: string, signal: AbortSignal) {
  const options = { headers: { Accept: 'application/lws+json' }, signal };
  const { items = [], totalItems } = await json<{ items?: readonly Listed[]; totalItems?: number }>(url, options);
  return { members: items.map((each) => memberOf(each, url)), total: totalItems };
}
