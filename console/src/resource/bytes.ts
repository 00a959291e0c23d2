/** Bodies of answers: no more of them than a page can hold, and as files. */
import { succeed } from '../api.js';
import { decoded, shortName } from '../names.js';

/** Larger resources are not opened: they are offered as files. */
export const downloadLimit = 5_000_000;

/** A whole body, or `undefined` as soon as it is longer than `most`. */
export async function takeUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (Number(response.headers.get('Content-Length') ?? 0) > most) {
    await response.body?.cancel();
    return undefined;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > most) {
      await reader.cancel();
      return undefined;
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

const endings: Readonly<Record<string, string>> = {
  'text/turtle': '.ttl',
  'application/json': '.json',
  'application/pdf': '.pdf',
  'text/plain': '.txt',
};

/** Saves a resource as a file. A link could not carry who is signed in. @throws Refusal */
export async function download(iri: string): Promise<void> {
  const blob = await (await succeed('GET', iri)).blob();
  const name = decoded(shortName(iri));
  const ending = /\.\w+$/.test(name) ? '' : (endings[blob.type.split(';')[0]!] ?? '');
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name + ending;
  link.click();
  // The browser has taken hold of the bytes by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
