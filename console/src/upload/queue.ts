/** Uploads, four at a time: containers first, then files. With progress, pause, retry and one question for all conflicts. */
import { notify } from '../frame/notice.js';
import { authorizationFor, takeNonce } from '../session/session.js';
import { json, messageOf, refusalFrom, refusalIn, request, succeed, systemUrl } from '../storage/api.js';
import { parentIri } from '../storage/names.js';

type UploadState = 'waiting' | 'sending' | 'done' | 'conflict' | 'kept' | 'failed' | 'cancelled';

export interface Upload {
  readonly iri: string;
  /** Path of the file, relative to the dropped items. */
  readonly path: string;
  readonly file: File;
  state: UploadState;
  sent: number;
  /** Reason of the failure, or empty. */
  failure: string;
  replace: boolean;
}

const atOnce = 4;
const lws = 'https://www.w3.org/ns/lws#Container';

export class UploadQueue extends EventTarget {
  readonly uploads: Upload[] = [];
  paused = false;
  private readonly containers = new Map<string, Promise<void>>();
  private readonly running = new Map<Upload, AbortController>();
  /** Index at which the search for the next waiting upload starts. Earlier uploads are active or done. */
  private next = 0;
  private announced = false;

  /** Uploads files into an existing container. */
  add(container: string, { files, folders }: Dropped): void {
    this.containers.set(container, Promise.resolve());
    for (const { file, path } of files) {
      const iri = container + encodePath(path);
      this.uploads.push({ iri, path, file, state: 'waiting', sent: 0, failure: '', replace: false });
    }
    for (const folder of folders) {
      const made = this.ensure(`${container}${encodePath(folder)}/`);
      // Creating a member creates its container. Empty containers are created here.
      made.catch((error: unknown) => notify(messageOf(error), 'bad'));
    }
    this.advance();
  }

  pause(paused: boolean): void {
    this.paused = paused;
    this.advance();
  }

  /** Retries all failed uploads. */
  retry(): void {
    for (const upload of this.uploads)
      if (upload.state === 'failed' || upload.state === 'cancelled')
        Object.assign(upload, { state: 'waiting', failure: '', sent: 0 });
    for (const [iri, made] of this.containers) made.catch(() => this.containers.delete(iri));
    this.next = 0;
    this.advance();
  }

  /** Sets the answer for all existing resources: replace or keep them. */
  settle(replace: boolean): void {
    for (const upload of this.uploads)
      if (upload.state === 'conflict')
        Object.assign(upload, replace ? { state: 'waiting', replace, sent: 0 } : { state: 'kept' });
    this.next = 0;
    this.advance();
  }

  cancel(): void {
    for (const upload of this.uploads) if (upload.state === 'waiting') upload.state = 'cancelled';
    for (const controller of this.running.values()) controller.abort();
    this.changed();
  }

  /** True if no upload is waiting or active. */
  get isSettled(): boolean {
    return this.running.size === 0 && !this.uploads.some(({ state }) => state === 'waiting');
  }

  /** Removes finished uploads. */
  clear(): void {
    const left = this.uploads.filter(({ state }) => state === 'waiting' || state === 'sending');
    this.uploads.splice(0, this.uploads.length, ...left);
    this.next = 0;
    this.changed();
  }

  private advance(): void {
    while (!this.paused && this.running.size < atOnce) {
      while (this.next < this.uploads.length && this.uploads[this.next]!.state !== 'waiting') this.next++;
      const upload = this.uploads[this.next];
      if (!upload) break;
      void this.send(upload);
    }
    this.changed();
  }

  private async send(upload: Upload): Promise<void> {
    const controller = new AbortController();
    this.running.set(upload, controller);
    upload.state = 'sending';
    try {
      await this.ensure(parentIri(upload.iri));
      upload.state = await putFile(upload, controller.signal, (sent) => {
        upload.sent = sent;
        this.changed();
      });
      if (upload.state === 'done') upload.sent = upload.file.size;
    } catch (error) {
      upload.state = controller.signal.aborted ? 'cancelled' : 'failed';
      upload.failure = controller.signal.aborted ? '' : messageOf(error);
    }
    this.running.delete(upload);
    this.advance();
  }

  /** Creates a container and its ancestors, each once. Existing containers are accepted. */
  private ensure(iri: string): Promise<void> {
    const known = this.containers.get(iri);
    if (known) return known;
    const made = this.make(iri);
    this.containers.set(iri, made);
    return made;
  }

  private async make(iri: string): Promise<void> {
    await this.ensure(parentIri(iri));
    const response = await request('PUT', iri, { headers: { Link: `<${lws}>; rel="type"`, 'If-None-Match': '*' } });
    if (response.ok || response.status === 412 || response.status === 409) return;
    throw await refusalFrom(response);
  }

  /** Fires `change` at most once per frame: a thousand small files would fire too many events. */
  private changed(): void {
    if (this.announced) return;
    this.announced = true;
    requestAnimationFrame(() => {
      this.announced = false;
      this.dispatchEvent(new Event('change'));
    });
  }
}

const encodePath = (path: string): string =>
  path
    .normalize('NFC')
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace(/%(?:40|3A|24|2C|2B|3D)/g, decodeURIComponent))
    .join('/');

/** Uploads a file. @returns `conflict` if the resource exists @throws Refusal for other errors */
async function putFile(
  { iri, file, replace }: Upload,
  signal: AbortSignal,
  onProgress: (sent: number) => void,
): Promise<'done' | 'conflict'> {
  // The entity tag ensures that only the state that the user agreed to replace is replaced.
  const etag = replace ? (await request('HEAD', iri)).headers.get('ETag') : null;
  const own = {
    'Content-Type': mediaTypeOf(file.name, file.type),
    ...(etag ? { 'If-Match': etag } : { 'If-None-Match': '*' }),
  };
  const attempt = async (): Promise<XMLHttpRequest> => {
    const fields = { ...(await authorizationFor('PUT', iri)), ...own };
    return new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest();
      xhr.open('PUT', iri);
      for (const [name, value] of Object.entries(fields)) xhr.setRequestHeader(name, value);
      xhr.upload.onprogress = ({ loaded }) => onProgress(loaded);
      xhr.onload = () => resolve(xhr);
      xhr.onerror = () =>
        reject(new Error('The connection was lost. Is the server running, and does the file still exist?'));
      xhr.onabort = () => reject(new DOMException('Cancelled', 'AbortError'));
      if (signal.aborted) return reject(new DOMException('Cancelled', 'AbortError'));
      signal.addEventListener('abort', () => xhr.abort());
      xhr.send(file);
    });
  };
  let answer = await attempt();
  if (takeNonce(answer.status, answer.getResponseHeader('DPoP-Nonce'))) answer = await attempt();
  if (answer.status >= 200 && answer.status < 300) return 'done';
  if (answer.status === 412 && !replace) return 'conflict';
  const refusal = refusalIn(answer.status, answer.responseText);
  if (refusal.code !== 'named-graph' || !datasets.has(own['Content-Type'])) throw refusal;
  // Imports wait for each other, because the server runs one at a time.
  lastImport = lastImport.catch(() => {}).then(() => importFile({ iri, file, replace }, signal));
  await lastImport;
  return 'done';
}

const datasets: ReadonlySet<string> = new Set(['application/n-quads', 'application/trig']);
const pollMs = 300;
let lastImport: Promise<void> = Promise.resolve();

/** Imports a file with named graphs as a folder, since a resource is a single graph. @throws Error with the reason */
async function importFile(
  { iri, file, replace }: Pick<Upload, 'iri' | 'file' | 'replace'>,
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams({
    name: file.name,
    into: parentIri(iri),
    format: 'file',
    'on-conflict': replace ? 'replace' : 'fail',
  });
  const headers = { 'Content-Type': 'application/octet-stream' };
  const begun = await succeed('POST', await systemUrl(`import?${query}`), { headers, body: file, signal });
  const own = await systemUrl(`imports/${((await begun.json()) as { id: string }).id}`);
  for (;;) {
    const { status, failure, report } = await json<Outcome>(own, { signal });
    const why = failure ?? report?.[0]?.why;
    if (status === 'done' && why === undefined) break;
    if (status !== 'running') throw new Error(why ?? 'The import was interrupted.');
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  await succeed('DELETE', own);
}

/** State of an import. */
interface Outcome {
  readonly status: 'running' | 'done' | 'failed' | 'interrupted';
  readonly failure?: string;
  readonly report?: readonly { readonly why: string }[];
}

/** Media types by file extension: browsers do not know RDF types and would send `application/octet-stream`. */
const known: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonld: 'application/ld+json',
  md: 'text/markdown',
  n3: 'text/n3',
  nq: 'application/n-quads',
  nquads: 'application/n-quads',
  nt: 'application/n-triples',
  owl: 'application/rdf+xml',
  pdf: 'application/pdf',
  png: 'image/png',
  rdf: 'application/rdf+xml',
  svg: 'image/svg+xml',
  trig: 'application/trig',
  tsv: 'text/tab-separated-values',
  ttl: 'text/turtle',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
};

/** @param given media type from the browser, possibly empty */
function mediaTypeOf(name: string, given: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(known, extension) ? known[extension] : undefined) ?? (given || 'application/octet-stream');
}

const queues = new Map<string, UploadQueue>();

/** Returns the upload queue of a container. When all its files are done, the window fires `uploaded`. */
export function uploadsTo(container: string): UploadQueue {
  const known = queues.get(container);
  if (known) return known;
  const made = new UploadQueue();
  made.addEventListener('change', () => {
    if (made.isSettled && made.uploads.length > 0) dispatchEvent(new Event('uploaded'));
  });
  queues.set(container, made);
  return made;
}

/** Returns the other containers with pending uploads. */
export const uploadsElsewhere = (container: string): readonly string[] =>
  [...queues].filter(([iri, { isSettled }]) => iri !== container && !isSettled).map(([iri]) => iri);

addEventListener('beforeunload', (event) => {
  if ([...queues.values()].some(({ isSettled }) => !isSettled)) event.preventDefault();
});

/** File with its path relative to the dropped items, such as `photos/2026/a.jpg`. */
interface Picked {
  readonly file: File;
  readonly path: string;
}

export interface Dropped {
  readonly files: readonly Picked[];
  /** Paths of empty folders, which are created too. */
  readonly folders: readonly string[];
}

/** Reads dropped items. Must be called during the event, because the list is empty afterwards. */
export async function readDrop(transfer: DataTransfer): Promise<Dropped> {
  const roots = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  // Some drag sources provide files without file system entries.
  const files: Picked[] = roots.length > 0 ? [] : [...transfer.files].map((file) => ({ file, path: file.name }));
  const folders: string[] = [];
  const visit = async (entry: FileSystemEntry): Promise<void> => {
    const path = entry.fullPath.replace(/^\//, '');
    if (entry.isFile) files.push({ file: await fileOf(entry as FileSystemFileEntry), path });
    else {
      folders.push(path);
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await visit(child);
    }
  };
  for (const root of roots) await visit(root);
  return { files, folders };
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    // Browsers return at most a hundred entries per call.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return children;
    children.push(...some);
  }
}

/** Returns the files of an input. If the input selects folders, with their paths. */
export const readPicked = (list: FileList): Dropped => ({
  files: [...list].map((file) => ({ file, path: file.webkitRelativePath || file.name })),
  folders: [],
});
