/** The proxy: forwards requests of local programs to one storage, with authentication. */
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
  /** URL of the storage, or of a resource in it. */
  readonly url: string;
  readonly identity: Identity;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
  readonly isReadOnly: boolean;
}

export interface LocalProxy {
  /** URL of the proxy for the given URL. Contains the secret. */
  readonly url: string;
  readonly sparql: string | undefined;
  /** URL of the proxy for the endpoint for agents, if the storage has one. */
  readonly agents: string | undefined;
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** Maximum bytes of a body that is buffered, so that it can be sent again with a new token. Larger bodies are streamed. */
const maxBuffered = 256 << 10;
/** Maximum characters of a line in a multistatus document. Longer lines are forwarded unchanged. */
const maxLine = 64 << 10;

/** Opens the session, and listens on the loopback address. @throws CommandError, or the system error if the port is in use */
export async function openProxy({ url, identity, port, isReadOnly }: ProxyOptions): Promise<LocalProxy> {
  const session = await Session.open(url, identity);
  const { storage, sparql, agents } = session.place;
  const secret = randomBytes(16).toString('base64url');
  // Disable Node's limit of five minutes, because uploads can take longer.
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
  /** Path prefix: the secret between slashes. */
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
    // Send the same response to every request without the secret, so that the response reveals nothing about the proxy.
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

  /** True if a request has the secret and the right Host. With DNS rebinding, requests of a web page have its own Host. */
  private isAdmitted({ url = '', headersDistinct }: IncomingMessage): boolean {
    const { prefix, authority } = this.entrance;
    const [given, expected] = [url.slice(0, prefix.length), prefix].map((text) =>
      createHash('sha256').update(text).digest(),
    );
    const { host: hosts = [] } = headersDistinct;
    // If Host is repeated, Node uses the first value, and another recipient may use the last (RFC 9112 3.2).
    return hosts.length === 1 && hosts[0] === authority && timingSafeEqual(given!, expected!);
  }

  /** True for a SPARQL query by POST. The endpoint rejects an update sent as `application/sparql-query`. */
  private isQuery({ method, headers }: IncomingMessage, path: string, body: EndpointRequest['body']): boolean {
    const [, resource, query] = /^([^?]*)\??(.*)$/s.exec(path)!;
    const { sparql } = this.session.place;
    if (method !== 'POST' || sparql === undefined || resource !== new URL(sparql).pathname) return false;
    // With a content coding, the parameters that the storage reads are not visible here.
    if (new URLSearchParams(query).has('update') || headers['content-encoding'] !== undefined) return false;
    const [type] = (headers['content-type'] ?? '').split(';');
    if (type!.trim().toLowerCase() === 'application/sparql-query') return true;
    if (type!.trim().toLowerCase() !== 'application/x-www-form-urlencoded' || !Array.isArray(body)) return false;
    const form = new URLSearchParams(Buffer.concat(body).toString());
    return form.has('query') && !form.has('update');
  }

  /** Forwards the response of the storage. If it is incomplete, closes the connection. */
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

  /** Replaces the paths of resources in a WebDAV multistatus document, in which each response is one line (rule 25.2). */
  private async *localPaths(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    const start = `<D:href>${this.basePath.replaceAll('&', '&amp;')}`;
    let rest = '';
    for await (const chunk of chunks) {
      const text = decoder.decode(chunk, { stream: true });
      // Split only if a line ends: splitting reads all buffered text.
      const lines = text.includes('\n') ? (rest + text).split('\n') : [rest + text];
      rest = lines.pop()!;
      for (const line of lines) yield `${line.replace(start, `<D:href>${this.entrance.prefix}`)}\n`;
      if (rest.length <= maxLine) continue;
      yield rest;
      rest = '';
    }
    yield rest;
  }

  /** Converts a URL of the proxy to a URL of the storage. */
  private remote(reference: string): string {
    const { prefix, authority } = this.entrance;
    const own = `http://${authority}${prefix}`;
    const [start] = [own, prefix].filter((each) => reference.startsWith(each));
    return start === undefined ? reference : this.session.place.storage + reference.slice(start.length);
  }

  /** Converts a URL of the storage to a URL of the proxy. Returns other URLs unchanged. */
  private local(reference: string): string {
    const { prefix, authority } = this.entrance;
    const { storage } = this.session.place;
    if (reference.startsWith(storage)) return `http://${authority}${prefix}${reference.slice(storage.length)}`;
    const isPath = reference.startsWith(this.basePath) && !reference.startsWith('//');
    return isPath ? prefix + reference.slice(this.basePath.length) : reference;
  }
}

const isSafe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'PROPFIND']);

/** Header fields of a single connection (RFC 9110 7.6.1). */
const ofConnection = 'connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade';
/**
 * Request fields that are removed: browser fields, so that the storage does not treat requests as those of a web page, and
 * credentials, which the proxy replaces.
 */
const notForwarded = new RegExp(
  `^(?:${ofConnection}|host|expect|authorization|dpop|cookie|origin|referer|sec-.*|access-control-.*)$`,
);
/** Response fields that are removed: web pages must not read responses, and programs cannot authenticate to the storage. */
const notReturned = new RegExp(
  `^(?:${ofConnection}|set-cookie|www-authenticate|dpop-nonce|alt-svc|strict-transport-security|access-control-.*)$`,
);

/** Response fields that are added. In a browser, content has the origin of the proxy: it must not run, or leak the secret. */
const guards = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** Returns the header fields without connection fields and dropped fields. */
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

/** True if a server or proxy might resolve the path to a path outside of the storage. */
const isClimbing = (path: string): boolean =>
  /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|$)|\\/i.test(path.split('?', 1)[0]!) || path.includes('#');

/** Returns a small body as bytes, other bodies as a stream. If the stream is not read to the end, the connection stays open. */
async function bodyOf(req: IncomingMessage): Promise<EndpointRequest['body']> {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  if (coding === undefined && Number(length ?? 0) === 0) return undefined;
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  if (length === undefined || Number(length) > maxBuffered) return Readable.from(chunks);
  const bytes: Uint8Array[] = [];
  for await (const chunk of chunks) bytes.push(chunk);
  return bytes;
}

/** Maximum time to read the rest of a request body after the response, in milliseconds. */
const drainMs = 30_000;

/** Reads the rest of a body after an early response. Otherwise, clients that first send and then read would get a reset. */
function drain(req: IncomingMessage): void {
  const timer = setTimeout(() => req.destroy(), drainMs);
  // Read in a loop, because resume() has no effect while an iterator waits for `readable`.
  const read = (): void => {
    while (req.read() !== null);
  };
  req.once('close', () => clearTimeout(timer)).on('readable', read);
  read();
}

/** Sends a problem document (RFC 9457), or aborts a response that has begun. */
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
