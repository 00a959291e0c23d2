/** The proxy: forwards requests of local programs to one storage. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Identity } from '../../lib/server/storage/owner-credential.js';
import { CommandError } from '../../lib/tools/errors.js';
import type { EndpointAnswer, EndpointRequest } from '../../lib/tools/outbound/endpoint.js';
import { OutboundError } from '../../lib/tools/outbound/outbound-error.js';
import { Session } from './session.js';

export interface ProxyOptions {
  /** A URL in the storage. */
  readonly url: string;
  readonly identity: Identity;
  /** 0 for a free port. */
  readonly port: number;
  readonly isReadOnly: boolean;
}

export interface LocalProxy {
  /** Address of the given URL. It contains the secret. */
  readonly url: string;
  readonly sparql: string | undefined;
  /** URL of the endpoint for agents, if any. */
  readonly agents: string | undefined;
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** Maximum size in bytes of a body that is buffered, to be sent again with another token. Larger ones are streamed. */
const maxBuffered = 256 << 10;
/** Size of a line of a multistatus document, in characters, above which its text passes unchanged. */
const maxLine = 64 << 10;

/** Opens the session and listens on the loopback address. @throws CommandError, and the system's error if the port is taken */
export async function openProxy({ url, identity, port, isReadOnly }: ProxyOptions): Promise<LocalProxy> {
  const session = await Session.open(url, identity);
  const { storage, sparql, agents } = session.place;
  const secret = randomBytes(16).toString('base64url');
  // An upload may take longer than Node's limit of five minutes.
  const server = createServer({ requestTimeout: 0 });
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    session.close();
    throw error;
  });
  const authority = `${host}:${(server.address() as AddressInfo).port}`;
  const own = `http://${authority}/${secret}/`;
  const forwarder = new Forwarder(session, { prefix: `/${secret}/`, authority, isReadOnly });
  server.on('request', (req, res) => void forwarder.answer(req, res));
  const localOf = (iri: string): string => own + iri.slice(storage.length);
  return {
    url: localOf(new URL(url).href),
    sparql: sparql && localOf(sparql),
    agents: agents && localOf(agents),
    async close() {
      server.close();
      server.closeAllConnections();
      session.close();
      await once(server, 'close');
    },
  };
}

interface Entrance {
  /** Path prefix with the secret, between slashes. */
  readonly prefix: string;
  /** Required value of the Host field. */
  readonly authority: string;
  readonly isReadOnly: boolean;
}

class Forwarder {
  private readonly basePath: string;

  constructor(
    private readonly session: Session,
    private readonly entrance: Entrance,
  ) {
    this.basePath = new URL(session.place.storage).pathname;
  }

  async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    // The same response for every request without the secret, so that it reveals nothing about the proxy.
    if (!this.isAdmitted(req)) return refuse(res, 404, 'Not found.');
    const path = this.basePath + req.url!.slice(this.entrance.prefix.length);
    if (isClimbing(path)) return refuse(res, 400, 'The path contains "." or ".." segments.');
    const left = new AbortController();
    res.once('close', () => left.abort());
    try {
      const body = await bodyOf(req);
      const { method = 'GET', headers } = req;
      if (this.entrance.isReadOnly && !isSafe.has(method) && !this.isQuery(req, path, body))
        return refuse(res, 403, 'The proxy is read-only (--read-only).');
      const fields = kept(headers, (name) => notForwarded.test(name));
      if (fields['destination'] !== undefined) fields['destination'] = this.remote(fields['destination']);
      if (fields['if'] !== undefined)
        fields['if'] = fields['if'].replace(/<([^<>]*)>/g, (_all, tagged: string) => `<${this.remote(tagged)}>`);
      const request = { method: method as EndpointRequest['method'], path, headers: fields, body, signal: left.signal };
      await this.relay(await this.session.send(request), res);
    } catch (error) {
      if (left.signal.aborted) return;
      const isExpected = error instanceof CommandError || error instanceof OutboundError;
      if (!isExpected) process.stderr.write(`quadpod: ${(error as Error).stack}\n`);
      refuse(res, isExpected ? 502 : 500, isExpected ? error.message : 'The proxy failed.');
    } finally {
      if (!req.complete) drain(req);
    }
  }

  /** DNS rebinding gives a web page the address of the proxy, but with its own Host. */
  private isAdmitted({ url = '', headersDistinct }: IncomingMessage): boolean {
    const { prefix, authority } = this.entrance;
    const [given, expected] = [url.slice(0, prefix.length), prefix].map((text) =>
      createHash('sha256').update(text).digest(),
    );
    const { host: hosts = [] } = headersDistinct;
    // Node keeps the first of several, and another recipient the last (RFC 9112 3.2).
    return hosts.length === 1 && hosts[0] === authority && timingSafeEqual(given!, expected!);
  }

  /** True for a SPARQL query by POST. The endpoint rejects an update of media type `application/sparql-query`. */
  private isQuery({ method, headers }: IncomingMessage, path: string, body: EndpointRequest['body']): boolean {
    const [, resource, query] = /^([^?]*)\??(.*)$/s.exec(path)!;
    const { sparql } = this.session.place;
    if (method !== 'POST' || sparql === undefined || resource !== new URL(sparql).pathname) return false;
    // The storage would decode a form to other parameters than those seen here.
    if (new URLSearchParams(query).has('update') || headers['content-encoding'] !== undefined) return false;
    const [type] = (headers['content-type'] ?? '').split(';');
    if (type!.trim().toLowerCase() === 'application/sparql-query') return true;
    if (type!.trim().toLowerCase() !== 'application/x-www-form-urlencoded' || !Array.isArray(body)) return false;
    const form = new URLSearchParams(Buffer.concat(body).toString());
    return form.has('query') && !form.has('update');
  }

  /** Sends the response of the storage. An incomplete one ends with a closed connection. */
  private async relay({ status, headers, body }: EndpointAnswer, res: ServerResponse): Promise<void> {
    const fields = kept(headers, (name) => notReturned.test(name));
    for (const name of ['location', 'content-location'])
      if (fields[name] !== undefined) fields[name] = this.local(fields[name]);
    if (fields['link'] !== undefined)
      fields['link'] = fields['link'].replace(/<([^<>]*)>/g, (_all, target: string) => `<${this.local(target)}>`);
    if (status !== 207) {
      res.writeHead(status, { ...fields, ...guards });
      return pipeline(body, res).catch(() => void res.destroy());
    }
    delete fields['content-length'];
    res.writeHead(status, { ...fields, ...guards });
    await pipeline(body, (chunks: AsyncIterable<Uint8Array>) => this.localPaths(chunks), res).catch(() =>
      res.destroy(),
    );
  }

  /** Replaces the paths of resources in a multistatus document of WebDAV, where each response is a line (rule 25.2). */
  private async *localPaths(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    const start = `<D:href>${this.basePath.replaceAll('&', '&amp;')}`;
    let rest = '';
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true });
      // Splits when a line ends only, because splitting reads all that is waiting.
      const lines = text.includes('\n') ? (rest + text).split('\n') : [rest + text];
      rest = lines.pop()!;
      for (const line of lines) yield `${line.replace(start, `<D:href>${this.entrance.prefix}`)}\n`;
      if (rest.length <= maxLine) continue;
      yield rest;
      rest = '';
    }
    yield rest;
  }

  /** Replaces the address of the proxy by that of the storage. */
  private remote(reference: string): string {
    const { prefix, authority } = this.entrance;
    const own = `http://${authority}${prefix}`;
    const [start] = [own, prefix].filter((each) => reference.startsWith(each));
    return start === undefined ? reference : this.session.place.storage + reference.slice(start.length);
  }

  /** Replaces the address of the storage by that of the proxy. Other addresses stay. */
  private local(reference: string): string {
    const { prefix, authority } = this.entrance;
    const { storage } = this.session.place;
    if (reference.startsWith(storage)) return `http://${authority}${prefix}${reference.slice(storage.length)}`;
    const isPath = reference.startsWith(this.basePath) && !reference.startsWith('//');
    return isPath ? prefix + reference.slice(this.basePath.length) : reference;
  }
}

const isSafe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'PROPFIND']);

/** Fields that concern one connection (RFC 9110 7.6.1). */
const ofConnection = 'connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade';
/** The storage must not take the request for one of a web page, and its credentials are those of the proxy. */
const notForwarded = new RegExp(
  `^(?:${ofConnection}|host|expect|authorization|dpop|cookie|origin|referer|sec-.*|access-control-.*)$`,
);
/** Web pages must not read responses, and the program that sent the request cannot authenticate to the storage. */
const notReturned = new RegExp(
  `^(?:${ofConnection}|set-cookie|www-authenticate|dpop-nonce|alt-svc|strict-transport-security|access-control-.*)$`,
);

/** Content of the storage has the origin of the proxy if a browser shows it: it must not run, nor send the secret elsewhere. */
const guards = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** Returns the fields without those of the connection and those that are dropped. */
function kept(headers: IncomingHttpHeaders, isDropped: (name: string) => boolean): Record<string, string> {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/[ \t,]+/),
  );
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && !named.has(name) && !isDropped(name))
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value!]),
  );
}

/** Servers and proxies could resolve such a path to one outside the storage. */
const isClimbing = (path: string): boolean =>
  /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|$)|\\/i.test(path.split('?', 1)[0]!) || path.includes('#');

/** Returns a small body as bytes, and others as a stream that leaves the connection open if the server does not read it to its end. */
async function bodyOf(req: IncomingMessage): Promise<EndpointRequest['body']> {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  if (coding === undefined && Number(length ?? 0) === 0) return undefined;
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  if (length === undefined || Number(length) > maxBuffered) return Readable.from(chunks);
  const bytes: Uint8Array[] = [];
  for await (const chunk of chunks) bytes.push(chunk);
  return bytes;
}

/** Maximum time to read the rest of a body after the response, in milliseconds. */
const drainMs = 30_000;

/** Reads the rest of a body after an early response. Programs that send a body before they read would otherwise get a reset. */
function drain(req: IncomingMessage): void {
  const timer = setTimeout(() => req.destroy(), drainMs);
  // resume() has no effect while an iterator waits for `readable`.
  const read = (): void => {
    while (req.read() !== null);
  };
  req.once('close', () => clearTimeout(timer)).on('readable', read);
  read();
}

/** Answers with a problem document (RFC 9457), or ends a response that has begun. */
function refuse(res: ServerResponse, status: number, detail: string): void {
  if (res.headersSent) return void res.destroy();
  const body = Buffer.from(JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail }));
  const fields = {
    'content-type': 'application/problem+json',
    'content-length': body.length,
    'cache-control': 'no-store',
  };
  res.writeHead(status, { ...guards, ...fields }).end(body);
}
