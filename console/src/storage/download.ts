/** Downloads: a link cannot carry a token, so the server issues a ticket for one resource and a minute. */

import { storageUri } from '../session/session.js';
import { jsonBody, succeed } from './api.js';

/** Downloads a resource of any size. @throws Refusal if it may not be read */
export async function download(iri: string): Promise<void> {
  const response = await succeed('POST', `${storageUri}app/tickets`, jsonBody({ iri }));
  const { url } = (await response.json()) as { url: string };
  follow(url);
}

/** Downloads data created by the page. */
export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  follow(url, name);
  // The browser has started to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const follow = (href: string, download = ''): void =>
  Object.assign(document.createElement('a'), { href, download }).click();
