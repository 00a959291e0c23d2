/** One file by PUT, with progress: `fetch` tells none, so this is an XMLHttpRequest. The file is streamed from where it lies. */

import { authorizationFor, takeNonce } from '../session/session.js';
import { refusalFrom, request } from '../storage/api.js';

export interface PutOptions {
  readonly url: string;
  readonly file: File;
  readonly mediaType: string;
  /** Over what is there already. */
  readonly replace: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (sent: number) => void;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly nonce: string | null;
}

/** @returns `conflict` when there is a resource of that name. @throws Refusal for any other refusal */
export async function putFile(options: PutOptions): Promise<'done' | 'conflict'> {
  const etag = options.replace ? await currentTag(options.url) : undefined;
  let answer = await send(options, etag);
  if (takeNonce(answer.status, answer.nonce)) answer = await send(options, etag);
  if (answer.status >= 200 && answer.status < 300) return 'done';
  if (answer.status === 412 && !options.replace) return 'conflict';
  throw refusalFrom(answer.status, answer.text);
}

/** What is replaced is what was there when its replacement was asked for. */
async function currentTag(url: string): Promise<string | undefined> {
  return (await request('HEAD', url)).headers.get('ETag') ?? undefined;
}

async function send({ url, file, mediaType, signal, onProgress }: PutOptions, etag?: string): Promise<Answer> {
  const fields = await authorizationFor('PUT', url);
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open('PUT', url);
    const all = { ...fields, 'Content-Type': mediaType, ...(etag ? { 'If-Match': etag } : { 'If-None-Match': '*' }) };
    for (const [name, value] of Object.entries(all)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded }) => onProgress(loaded);
    xhr.onload = () =>
      resolve({ status: xhr.status, text: xhr.responseText, nonce: xhr.getResponseHeader('DPoP-Nonce') });
    xhr.onerror = () => reject(new Error('The connection broke off. Is the server running, and the file still there?'));
    xhr.onabort = () => reject(new DOMException('Cancelled', 'AbortError'));
    if (signal.aborted) return reject(new DOMException('Cancelled', 'AbortError'));
    signal.addEventListener('abort', () => xhr.abort());
    xhr.send(file);
  });
}
