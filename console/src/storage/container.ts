/** Containers as the server lists them, page by page. */
import { succeed } from './api.js';

export interface Member {
  readonly iri: string;
  readonly types: readonly string[];
  readonly mediaType: string | undefined;
  /** Bytes; containers have none. */
  readonly size: number | undefined;
  readonly modified: string | undefined;
}

export interface ContainerPage {
  readonly members: readonly Member[];
  /** How many there are in all, of those that the caller may see. */
  readonly total: number | undefined;
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

/** @param url the address of a page of a container */
export async function readContainer(url: string, signal?: AbortSignal): Promise<ContainerPage> {
  const response = await succeed('GET', url, {
    headers: { Accept: 'application/lws+json' },
    ...(signal ? { signal } : {}),
  });
  const body = (await response.json()) as { items?: readonly Listed[]; totalItems?: number };
  return {
    members: (body.items ?? []).map((each) => memberOf(each, url)),
    total: body.totalItems,
  };
}
