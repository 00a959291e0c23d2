/** HTTP/2 requests, with one session for each origin. Servers use the certificate of localhost. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localhostCertificate, localhostKey } from './localhost-certificate.js';

/** `QUADPOD_SPECS_OVER=h2`: servers of specs use TLS, and requests use HTTP/2. */
export const isOverHttp2 = process.env['QUADPOD_SPECS_OVER'] === 'h2';

const folder = mkdtempSync(join(tmpdir(), 'quadpod-tls-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Files of the certificate and its key, as flags of a server. */
export const tlsSettings = {
  'tls.certificate': join(folder, 'certificate.pem'),
  'tls.key': join(folder, 'key.pem'),
} as const;
writeFileSync(tlsSettings['tls.certificate'], localhostCertificate);
writeFileSync(tlsSettings['tls.key'], localhostKey);

const origins = new Set<string>();
const sessions = new Map<string, ClientHttp2Session>();

/** Sends later requests to the origin over HTTP/2. */
export const useHttp2 = (origin: string): void => void origins.add(origin);
export const usesHttp2 = (origin: string): boolean => origins.has(origin);

/** Opens a session with a server that has the certificate of localhost. */
export const newSession = (origin: string): ClientHttp2Session => connect(origin, { ca: localhostCertificate });

function sessionOf(origin: string): ClientHttp2Session {
  const known = sessions.get(origin);
  if (known && !known.closed && !known.destroyed) return known;
  const session = newSession(origin);
  sessions.set(origin, session);
  // Each stream reports its own error. A remaining session error belongs to no request.
  session.on('error', () => {});
  session.unref();
  return session;
}

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export interface Http2Request {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
}

/** Sends one request on a session, by default the one of its origin. */
export function requestHttp2(origin: string, sent: Http2Request, session = sessionOf(origin)): Promise<Http2Answer> {
  const { body } = sent;
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : (body ?? []);
  return new Promise((resolve, reject) => {
    const hasBody = body !== undefined && pieces.length > 0;
    const stream = session.request(fieldsOf(origin, sent), { endStream: !hasBody });
    session.ref();
    stream.once('close', () => session.unref());
    collect(stream).then(resolve, reject);
    if (!hasBody) return;
    for (const piece of pieces) stream.write(piece);
    stream.end();
  });
}

/** Connection-specific fields, not allowed in HTTP/2 (RFC 9113 8.2.2). */
const ofConnection = new Set(['connection', 'transfer-encoding', 'keep-alive', 'upgrade', 'host', 'te']);

/** RFC 9113 8.2.1: values have no surrounding whitespace. HTTP/1.1 parsers trim it. */
const trimmed = (value: string | string[]): string | string[] =>
  typeof value === 'string' ? value.trim() : value.map((each) => each.trim());

function fieldsOf(origin: string, { method, target, headers, body }: Http2Request): OutgoingHttpHeaders {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const fields: OutgoingHttpHeaders = {
    ':method': method,
    ':path': target,
    ':authority': String(given.find(([name]) => name === 'host')?.[1] ?? new URL(origin).host),
    ...Object.fromEntries(
      given.filter(([name]) => !ofConnection.has(name)).map(([name, value]) => [name, trimmed(value)]),
    ),
  };
  if (typeof body === 'string' || body instanceof Uint8Array) fields['content-length'] = Buffer.byteLength(body);
  return fields;
}

function collect(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    let head: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
    const chunks: Buffer[] = [];
    stream.on('response', (headers) => {
      head = headers;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', (error) => {
      // A response that ended before the whole body was sent is valid.
      if (!stream.readableEnded) reject(error);
    });
    stream.on('end', () => {
      const status = head[':status'];
      if (status === undefined) return;
      const fields = Object.entries(head).filter(([name]) => !name.startsWith(':'));
      const headers = Object.fromEntries(
        fields.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
      );
      resolve({ status, headers, bytes: Buffer.concat(chunks) });
    });
    stream.on('close', () =>
      reject(new Error(`The stream closed with code ${stream.rstCode} before the response was complete.`)),
    );
  });
}

/** Returns an HTTP/2 frame (RFC 9113 4.1). */
export function frame(type: number, flags: number, stream: number, payload: readonly number[]): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, Buffer.from(payload)]);
}

/** Returns the connection preface of a client, with a SETTINGS payload (RFC 9113 3.4). */
export const prefaceHttp2 = (settings: readonly number[] = []): Buffer =>
  Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, settings)]);
