/** Embeds a storage in a program by the API of the package: at /data, in open mode, with a captured log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type StorageServer } from 'quadpod';
import { type Answer, request } from './http.js';
import { freePort } from './server.js';

export class Program {
  readonly folder = mkdtempSync(join(tmpdir(), 'quadpod-embedding-'));
  /** Log lines of the latest storage. */
  readonly log: string[] = [];
  private readonly ends: (() => unknown)[] = [];

  private constructor(readonly origin: string) {}

  static async begin(): Promise<Program> {
    return new Program(`http://localhost:${await freePort()}`);
  }

  async storage(settings: Readonly<Record<string, unknown>> = {}): Promise<StorageServer> {
    this.log.length = 0;
    const server = await createServer(
      { 'lws.base-uri': `${this.origin}/data`, 'lws.data-dir': this.folder, 'lws.dev.open': true, ...settings },
      { log: { write: (line) => this.log.push(line) } },
    );
    this.ends.push(() => server.close());
    return server;
  }

  /** Starts an HTTP server of the program. */
  async listening(listener: RequestListener): Promise<Server> {
    const http = createHttpServer(listener);
    await new Promise<void>((resolve) => http.listen(Number(new URL(this.origin).port), '127.0.0.1', resolve));
    this.ends.push(() => {
      http.close();
      http.closeAllConnections();
    });
    return http;
  }

  async end(): Promise<void> {
    for (const end of this.ends.reverse()) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const text = { 'Content-Type': 'text/plain' };

export const putText = (iri: string, body = 'content'): Promise<Answer> =>
  request(iri, { method: 'PUT', headers: text, body });
