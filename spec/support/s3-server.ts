/**
 * S3 store in this process: s3rver with a front end for its missing features. The front end verifies signatures and digests,
 * lists and aborts incomplete uploads, and injects faults.
 */
import { createHash, createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { S3Address } from '../../components/s3-blobs/s3-client.js';
import type { BlobLocation } from '../../lib/storage/blobs/blobs.js';

interface S3rver {
  configureBuckets(): Promise<unknown>;
  callback(): RequestListener;
}
interface Stored {
  readonly bucket: string;
  readonly key: string;
  readonly content: Buffer | AsyncIterable<Buffer>;
  readonly metadata: unknown;
}
interface FileStore {
  getResourcePath(bucket: string, key: string, resource: string): string;
  putMetadata(bucket: string, key: string, metadata: unknown, md5: string): Promise<void>;
  putObject(object: Stored): Promise<{ readonly size: number; readonly md5: string }>;
}
const load = createRequire(import.meta.url);
const { S3rver, FileStore } = {
  S3rver: load('s3rver') as new (options: Readonly<Record<string, unknown>>) => S3rver,
  FileStore: load('s3rver/lib/stores/filesystem') as { readonly prototype: FileStore },
};

/**
 * Stores an object completely before the response. The method of s3rver responds before the file is open, and throws in the
 * process if a DELETE has removed its directory meanwhile.
 */
FileStore.prototype.putObject = async function (this: FileStore, { bucket, key, content, metadata }: Stored) {
  const chunks: Buffer[] = [];
  if (Buffer.isBuffer(content)) chunks.push(content);
  else for await (const chunk of content) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const path = this.getResourcePath(bucket, key, 'object');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  const md5 = createHash('md5').update(bytes).digest('hex');
  await this.putMetadata(bucket, key, metadata, md5);
  return { size: bytes.length, md5 };
};

const bucket = 'spec-bucket';
/** Key pair that s3rver accepts. */
const [accessKeyId, secretAccessKey] = ['S3RVER', 'S3RVER'];

/** Injected fault: a status, a connection that breaks before (`break`) or within (`cut`) the response, or no response (`hang`). */
export type Fault = number | 'break' | 'cut' | 'hang' | undefined;

export class SpecS3 {
  /** Method and path of each request, in order. */
  readonly requests: string[] = [];
  /** Requests whose body did not match the signed digest. */
  readonly damaged: string[] = [];
  fault: (request: string) => Fault = () => undefined;
  private server: Server | undefined;
  private port = 0;

  private constructor(
    private readonly folder: string,
    private readonly inner: RequestListener,
  ) {}

  static async start(): Promise<SpecS3> {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-s3-'));
    const s3rver = new S3rver({ silent: true, directory: folder, configureBuckets: [{ name: bucket }] });
    await s3rver.configureBuckets();
    const made = new SpecS3(folder, s3rver.callback());
    await made.up();
    return made;
  }

  /** Listens on the same port as before. */
  async up(): Promise<void> {
    if (this.server) return;
    const server = createServer((req, res) => this.answer(req, res));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Stops listening and closes all connections. */
  async down(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  async dispose(): Promise<void> {
    await this.down();
    rmSync(this.folder, { recursive: true, force: true });
  }

  address(prefix = '', changed: Partial<S3Address> = {}): S3Address {
    const endpoint = `http://127.0.0.1:${this.port}`;
    return { endpoint, region: 'us-east-1', bucket, prefix, accessKeyId, secretAccessKey, ...changed };
  }

  location(prefix = ''): BlobLocation {
    return { dataDir: tmpdir(), place: { module: '', id: '', address: this.address(prefix) } };
  }

  /** Settings of a server, as flags. */
  settings(prefix = ''): Record<string, string> {
    return {
      blobs: `s3://${bucket}/${prefix}`,
      'blobs.s3.endpoint': this.address().endpoint,
      'blobs.s3.access-key-id': accessKeyId,
      'blobs.s3.secret-access-key': secretAccessKey,
    };
  }

  /** Returns the keys of all objects with a prefix. */
  keys(prefix = ''): string[] {
    const suffix = '._S3rver_object';
    return readdirSync(join(this.folder, bucket), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(suffix) && name.startsWith(prefix))
      .map((name) => name.slice(0, -suffix.length))
      .sort();
  }

  /** Returns the file of an object, for specs that damage it. */
  file(key: string): string {
    return join(this.folder, bucket, `${key}._S3rver_object`);
  }

  /** Returns the ids of multipart uploads that are neither completed nor aborted. */
  uploads(): string[] {
    return existsSync(this.uploadsFolder) ? readdirSync(this.uploadsFolder) : [];
  }

  private get uploadsFolder(): string {
    return join(this.folder, bucket, '._S3rver_uploads');
  }

  /** Sets the modification time of all objects and uploads back by some hours. */
  backdate(hours: number): void {
    const time = (Date.now() - hours * 3_600_000) / 1000;
    for (const key of this.keys()) utimesSync(this.file(key), time, time);
    for (const id of this.uploads()) utimesSync(join(this.uploadsFolder, id), time, time);
  }

  private answer(req: IncomingMessage, res: ServerResponse): void {
    const url = new URL(req.url!, 'http://s3.invalid');
    const request = `${req.method} ${url.pathname.slice(bucket.length + 2)}${url.search}`;
    this.requests.push(request);
    const fault = this.fault(request);
    if (fault === 'break') req.socket.destroy();
    else if (fault === 'hang') req.resume();
    else if (typeof fault === 'number') refuse(req, res, fault, 'SlowDown');
    else if (!isSigned(req, url)) refuse(req, res, 403, 'SignatureDoesNotMatch');
    else if (req.method === 'GET' && url.searchParams.has('uploads')) this.listUploads(url, res);
    else if (req.method === 'DELETE' && url.searchParams.has('uploadId')) this.abortUpload(url, req, res);
    else {
      this.verify(req, request);
      if (fault === 'cut') cutAnswer(res);
      this.inner(req, res);
    }
  }

  private verify(req: IncomingMessage, request: string): void {
    const expected = req.headers['x-amz-content-sha256'];
    if (expected === 'UNSIGNED-PAYLOAD') return;
    const digest = createHash('sha256');
    // s3rver resumes the request.
    req.pause();
    req.on('data', (chunk: Buffer) => digest.update(chunk));
    req.once('end', () => {
      if (digest.digest('hex') !== expected) this.damaged.push(request);
    });
  }

  private listUploads(url: URL, res: ServerResponse): void {
    const prefix = url.searchParams.get('prefix') ?? '';
    const [after, most] = [url.searchParams.get('upload-id-marker') ?? '', Number(url.searchParams.get('max-uploads'))];
    // s3rver creates the directory of an upload before the file with its key.
    const all = this.uploads()
      .filter((id) => existsSync(join(this.uploadsFolder, id, 'key')))
      .sort()
      .map((id) => ({ id, key: readFileSync(join(this.uploadsFolder, id, 'key'), 'utf8') }))
      .filter(({ id, key }) => id > after && key.startsWith(prefix));
    const shown = all.slice(0, most);
    const last = shown.at(-1);
    const elements = shown.map(({ id, key }) => {
      const initiated = statSync(join(this.uploadsFolder, id)).mtime.toISOString();
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
    });
    const isCut = shown.length < all.length;
    const next = isCut
      ? `<NextKeyMarker>${last!.key}</NextKeyMarker><NextUploadIdMarker>${last!.id}</NextUploadIdMarker>`
      : '';
    res.end(
      `<ListMultipartUploadsResult><IsTruncated>${isCut}</IsTruncated>${next}${elements.join('')}</ListMultipartUploadsResult>`,
    );
  }

  private abortUpload(url: URL, req: IncomingMessage, res: ServerResponse): void {
    const folder = join(this.uploadsFolder, url.searchParams.get('uploadId')!);
    if (!existsSync(folder)) refuse(req, res, 404, 'NoSuchUpload');
    else {
      rmSync(folder, { recursive: true });
      res.writeHead(204).end();
    }
  }
}

/** Closes the connection after the first chunk of the body. */
function cutAnswer(res: ServerResponse): void {
  const write = res.write.bind(res) as (chunk: unknown) => boolean;
  res.write = (chunk: unknown) => {
    write(chunk);
    setImmediate(() => res.destroy());
    return true;
  };
}

function refuse(req: IncomingMessage, res: ServerResponse, status: number, code: string): void {
  req.resume();
  res.writeHead(status).end(`<Error><Code>${code}</Code><Message>For a spec.</Message></Error>`);
}

/** Verifies AWS Signature Version 4. Unknown keys pass, because s3rver rejects them. */
function isSigned(req: IncomingMessage, url: URL): boolean {
  const given = /Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(
    req.headers.authorization ?? '',
  );
  if (!given) return false;
  const [, key, scope, names, signature] = given as unknown as string[];
  if (key !== accessKeyId) return true;
  const fields = names!.split(';').map((name) => `${name}:${req.headers[name]}\n`);
  const query = url.search
    .slice(1)
    .split('&')
    .map((pair) => (pair === '' || pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&');
  const canonical = [req.method, url.pathname, query, fields.join(''), names, req.headers['x-amz-content-sha256']];
  const hashed = createHash('sha256').update(canonical.join('\n')).digest('hex');
  const signed = ['AWS4-HMAC-SHA256', req.headers['x-amz-date'], scope, hashed].join('\n');
  let secret: string | Buffer = `AWS4${secretAccessKey}`;
  for (const part of scope!.split('/')) secret = createHmac('sha256', secret).update(part).digest();
  return createHmac('sha256', secret).update(signed).digest('hex') === signature;
}
