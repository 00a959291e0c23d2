/** HTTPS host on loopback for subject documents, provider metadata and keys. Counts requests. Independent of the code under test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localhostCertificate, localhostKey } from './localhost-certificate.js';

export interface Served {
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class RemoteHost {
  readonly origin: string;
  readonly authority: string;
  private readonly listeners = new Map<string, RequestListener>();
  private readonly asked = new Map<string, number>();
  private unused = 0;

  constructor(
    port: number,
    /** Settings that let a server fetch from this host, as flags. */
    readonly settings: Readonly<Record<string, string>>,
    readonly close: () => void,
  ) {
    this.authority = `localhost:${port}`;
    this.origin = `https://${this.authority}`;
  }

  /** Returns an unused path. */
  path(name = 'p'): string {
    this.unused += 1;
    return `/${name}${this.unused}`;
  }

  /** Sets the response of a path: a string, or a value as JSON. @returns its URI */
  serve(path: string, content: unknown, { type, status = 200, headers = {} }: Served = {}): string {
    const isText = typeof content === 'string';
    const body = isText ? content : JSON.stringify(content);
    const media = type ?? (isText ? 'text/plain' : 'application/json');
    return this.handle(path, (_req, res) => {
      res.writeHead(status, { 'Content-Type': media, ...headers }).end(body);
    });
  }

  handle(path: string, listener: RequestListener): string {
    this.listeners.set(path, listener);
    return this.origin + path;
  }

  /** Closes requests for the paths after 100 ms without a response. @returns the maximum number of concurrent requests so far */
  hold(paths: readonly string[]): () => number {
    const held = new Set<ServerResponse>();
    let most = 0;
    for (const path of paths)
      this.handle(path, (_req, res) => {
        held.add(res.once('close', () => held.delete(res)));
        most = Math.max(most, held.size);
        setTimeout(() => res.destroy(), 100);
      });
    return () => most;
  }

  remove(path: string): void {
    this.listeners.delete(path);
  }

  /** Number of requests for a path, including 404 responses. */
  count(path: string): number {
    return this.asked.get(path) ?? 0;
  }

  /** Total number of requests. */
  total(): number {
    return [...this.asked.values()].reduce((sum, count) => sum + count, 0);
  }

  readonly answer: RequestListener = (req, res) => {
    const path = req.url ?? '';
    this.asked.set(path, this.count(path) + 1);
    const listener = this.listeners.get(path);
    if (listener) listener(req, res);
    else res.writeHead(404, { 'Content-Type': 'text/plain' }).end('nothing here');
  };
}

/** Starts a host at `https://localhost:PORT`. */
export async function startRemoteHost(): Promise<RemoteHost> {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-remote-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, localhostCertificate);
  const server = createServer({ cert: localhostCertificate, key: localhostKey }, (req, res) => host.answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const settings = { 'fetch.ca-certificates': caFile, 'fetch.allowed-hosts': `localhost:${port}` };
  const host: RemoteHost = new RemoteHost(port, settings, () => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  return host;
}

/** Shared by all files. It starts before blocks are registered, because settings contain its port. */
export const remote = await startRemoteHost();

// Root hook: runs after the last block of all files.
after(() => remote.close());
