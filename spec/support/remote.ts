/**
 * The rest of the web as specs need it: an HTTPS host on loopback that serves subject documents, provider metadata and keys,
 * and counts who asked. It must not know the code under test.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
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
    /** What a server needs to come here, as flags. */
    readonly settings: Readonly<Record<string, string>>,
    readonly close: () => void,
  ) {
    this.authority = `localhost:${port}`;
    this.origin = `https://${this.authority}`;
  }

  /** A path that nobody has used. */
  path(name = 'p'): string {
    this.unused += 1;
    return `/${name}${this.unused}`;
  }

  /** What a path answers from now on: a string, or a value as JSON. @returns its URI */
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

  remove(path: string): void {
    this.listeners.delete(path);
  }

  /** How often a path was asked for, there or not. */
  count(path: string): number {
    return this.asked.get(path) ?? 0;
  }

  /** How often anything was. */
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

/** Starts a host, at `https://localhost:PORT`. */
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

/** One for all files, up before their blocks are registered, since settings name its port. */
export const remote = await startRemoteHost();

// A hook of the root suite: after the last block of all files.
after(() => remote.close());
