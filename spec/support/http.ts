/** HTTP client on node:http, and raw exchanges on a socket for requests that a client library would normalize. */
import { type LookupAddress, lookup } from 'node:dns';
import {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions as NodeOptions,
  request as requestPlain,
} from 'node:http';
import { request as requestTls } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { requestHttp2, usesHttp2 } from './http2.js';
import { localhostCertificate } from './localhost-certificate.js';

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An array of chunks is sent without Content-Length. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
}

export interface Answer {
  readonly status: number;
  /** Fields by lower-case name. Repeated fields are joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** Statuses of the preceding interim responses (raw exchanges only). */
  readonly interim: readonly number[];
}

const answerOf = (status: number, headers: Record<string, string>, bytes: Buffer, interim: number[] = []): Answer => ({
  status,
  headers,
  bytes,
  text: bytes.toString('utf8'),
  interim,
});

/** Splits an IRI into origin and request target without normalization. */
function dissect(iri: string): { secure: boolean; hostname: string; port: number; authority: string; target: string } {
  const [, scheme, authority, target] = /^(https?):\/\/([^/]+)(\/.*)?$/s.exec(iri) ?? [];
  if (!scheme || !authority) throw new Error(`not an HTTP IRI: ${iri}`);
  const { hostname, port } = new URL(`${scheme}://${authority}`);
  const secure = scheme === 'https';
  return { secure, hostname, port: Number(port) || (secure ? 443 : 80), authority, target: target ?? '/' };
}

/** Starts an HTTP/1.1 request, over TLS for `https:` IRIs. */
export const startRequest = (
  iri: string,
  options: NodeOptions,
  onAnswer?: (answer: IncomingMessage) => void,
): ClientRequest =>
  iri.startsWith('https:')
    ? requestTls(iri, { ...options, ca: localhostCertificate } as NodeOptions, onAnswer)
    : requestPlain(iri, options, onAnswer);

const addresses = new Map<string, LookupAddress[]>();

/** Caches address lookups. Looking up localhost takes a third of the time of a request. */
const lookupOnce: NodeOptions['lookup'] = (hostname, options, done) => {
  const known = addresses.get(hostname);
  if (known && options.all) process.nextTick(done, null, known);
  else
    lookup(
      hostname,
      options,
      (error: NodeJS.ErrnoException | null, found: string | LookupAddress[], family?: number) => {
        if (!error && Array.isArray(found)) addresses.set(hostname, found);
        done(error, found, family);
      },
    );
};

/** Sends one request, on a new connection or on the HTTP/2 session of the origin. Redirects are not followed. */
export function request(iri: string, { method = 'GET', headers = {}, body }: RequestOptions = {}): Promise<Answer> {
  const { secure, hostname, port, authority, target } = dissect(iri);
  const origin = `https://${authority}`;
  // HTTP/2 clients do not send a header section above the server's announced limit. Large ones go over HTTP/1.1.
  const isSendable = Object.entries(headers).flat(2).join('').length < 60_000;
  if (secure && usesHttp2(origin) && isSendable)
    return requestHttp2(origin, { method, target, headers, body }).then((answer) =>
      answerOf(answer.status, answer.headers, answer.bytes),
    );
  return new Promise((resolve, reject) => {
    const options = {
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: target,
      method,
      headers,
      agent: false as const,
      lookup: lookupOnce,
    };
    const req = (secure ? requestTls : requestPlain)({ ...options, ca: localhostCertificate } as NodeOptions);
    req.on('response', (res) => {
      const chunks: Buffer[] = [];
      const finish = (): void => resolve(answerOf(res.statusCode ?? 0, joined(res.rawHeaders), Buffer.concat(chunks)));
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', finish);
      res.on('error', reject);
    });
    // No effect if the response came before the whole body was sent: the promise is already resolved.
    req.on('error', reject);
    if (typeof body === 'string' || body instanceof Uint8Array) {
      req.setHeader('Content-Length', Buffer.byteLength(body));
      req.end(body);
    } else {
      for (const chunk of body ?? []) req.write(chunk);
      req.end();
    }
  });
}

function joined(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${raw[i + 1]}` : raw[i + 1]!;
  }
  return headers;
}

/** Step of a raw exchange: bytes, a pause in milliseconds, or a connection reset. */
export type Step = string | Uint8Array | number | 'abort';

/**
 * Sends bytes unchanged. Returns the first final response, or undefined if the connection closes without one.
 * @param steps `abort` resets the connection
 */
export function exchange(iri: string, steps: readonly Step[], timeoutMs = 8000): Promise<Answer | undefined> {
  const { hostname, port, secure } = dissect(iri);
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = secure ? connectTls({ port, host, ca: localhostCertificate }) : connect(port, host);
    let received = Buffer.alloc(0);
    const settle = (): void => {
      clearTimeout(timer);
      const answer = readAnswer(received);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(settle, timeoutMs);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (readAnswer(received)) settle();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error);
      else settle();
    });
    socket.on('close', settle);
    socket.on(secure ? 'secureConnect' : 'connect', () => void send().catch(reject));
    const send = async (): Promise<void> => {
      for (const step of steps) {
        if (socket.destroyed) return;
        if (step === 'abort') return void (secure ? socket.destroy() : socket.resetAndDestroy());
        if (typeof step === 'number') await new Promise((wake) => setTimeout(wake, step));
        else socket.write(step);
      }
    };
  });
}

/** Returns the first final response, or undefined while it is incomplete. */
function readAnswer(received: Buffer): Answer | undefined {
  const interim: number[] = [];
  for (let rest = received; ; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first, ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first!)?.[1] ?? Number.NaN);
    rest = rest.subarray(end + 4);
    if (status < 200) {
      interim.push(status);
      continue;
    }
    const raw = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
    const headers = joined(raw);
    const length = status === 204 || status === 304 ? 0 : Number(headers['content-length'] ?? 0);
    return rest.length < length ? undefined : answerOf(status, headers, rest.subarray(0, length), interim);
  }
}

/** Returns the header section of a request with Host and the given fields only. */
export function head(iri: string, method: string, fields: Readonly<Record<string, string>> = {}): string {
  const { authority, target } = dissect(iri);
  const lines = Object.entries({ Host: authority, ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
