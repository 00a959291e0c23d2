/** Downloads: a link cannot carry a token, so the server gives a ticket for one resource and a minute. */

import { storageUri } from '../session/session.js';
import { jsonBody, succeed } from './api.js';

/**
 * Has the browser save a resource, of any size.
 * @throws Refusal when it may not be read
 */
export async function download(iri: string): Promise<void> {
  const response = await succeed('POST', `${storageUri}app/tickets`, jsonBody({ iri }));
  const { url } = (await response.json()) as { url: string };
  follow(url);
}

/** Has the browser save what the page has made. */
export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  follow(url, name);
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const follow = (href: string, download = ''): void =>
  Object.assign(document.createElement('a'), { href, download }).click();
