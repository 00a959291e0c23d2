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
  /** The address of the page after this one. */
  readonly next: string | undefined;
}

interface Listed {
  readonly id: string;
  readonly type?: string | readonly string[];
  readonly mediaType?: string;
  readonly format?: string;
  readonly size?: number;
  readonly modified?: string;
}

/** @param url the container's address, or `next` of a page of it */
export async function readContainer(url: string, signal?: AbortSignal): Promise<ContainerPage> {
  const response = await succeed('GET', url, {
    headers: { Accept: 'application/lws+json' },
    ...(signal ? { signal } : {}),
  });
  const next = /<([^>]*)>;\s*rel="?next"?/.exec(response.headers.get('Link') ?? '')?.[1];
  const body = (await response.json()) as { items?: readonly Listed[]; totalItems?: number };
  return {
    members: (body.items ?? []).map(({ id, type = [], mediaType, format, size, modified }) => ({
      iri: new URL(id, url).href,
      types: [type].flat(),
      mediaType: mediaType ?? format,
      size,
      modified,
    })),
    total: body.totalItems,
    next: next === undefined ? undefined : new URL(next, url).href,
  };
}
