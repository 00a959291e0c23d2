/** Downloads. A link cannot carry a token, so the server issues a ticket that is valid for one resource and one minute. */

import { storageUri } from '../session/session.js';
import { jsonBody, succeed } from './api.js';

/** Downloads a resource of any size. @throws Refusal if the resource may not be read */
export async function download(iri: string): Promise<void> {
  const response = await succeed('POST', `${storageUri}app/tickets`, jsonBody({ iri }));
  const { url } = (await response.json()) as { url: string };
  follow(url);
}

/** Downloads data created by the page. */
export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  follow(url, name);
  // By then, the browser has started to read the URL.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const follow = (href: string, download = ''): void =>
  Object.assign(document.createElement('a'), { href, download }).click();
