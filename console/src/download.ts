/** Downloads: a link cannot carry a token, so the server gives a ticket for one resource and a minute. */
import { succeed } from './api.js';
import { storageUri } from './session.js';

/**
 * Has the browser save a resource, of any size.
 * @throws Refusal when it may not be read
 */
export async function download(iri: string): Promise<void> {
  const response = await succeed('POST', `${storageUri}app/tickets`, {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ iri }),
  });
  const { url } = (await response.json()) as { url: string };
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  link.click();
}
