/**
 * SPARQL endpoint on loopback for specs of SERVICE. It evaluates queries with Oxigraph, has paths with configurable responses,
 * and records requests. Independent of the code under test.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Store } from 'oxigraph';

export interface Asked {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  /** Form parameter `query`. */
  readonly query: string;
}

type Answerer = (res: ServerResponse, asked: Asked) => void;

export class SparqlEndpoint {
  readonly store = new Store();
  readonly asked: Asked[] = [];
  /** Connections, including those without a request. */
  connections = 0;
  /** Requests aborted before their response ended. */
  aborted = 0;
  readonly authority: string;
  private readonly answers = new Map<string, Answerer>();

  constructor(
    port: number,
    readonly close: () => void,
  ) {
    this.authority = `127.0.0.1:${port}`;
  }

  /** Its URL. */
  get url(): string {
    return `http://${this.authority}/sparql`;
  }

  load(turtle: string): void {
    this.store.load(turtle, { format: 'text/turtle', base_iri: 'https://remote.example/' });
  }

  /** Sets the response of a path. @returns its URL */
  answer(path: string, answerer: Answerer): string {
    this.answers.set(path, answerer);
    return `http://${this.authority}${path}`;
  }

  /** Sets a text response. @returns the URL */
  text(path: string, text: string | Buffer, status = 200): string {
    return this.answer(path, (res) =>
      res.writeHead(status, { 'Content-Type': 'application/sparql-results+json' }).end(text),
    );
  }

  /** Sets a response with result rows. @returns the URL */
  rows(path: string, bindings: readonly unknown[]): string {
    return this.text(path, JSON.stringify({ head: { vars: [] }, results: { bindings } }));
  }

  forget(): void {
    this.asked.length = 0;
    this.connections = 0;
    this.aborted = 0;
  }

  readonly listen = (req: IncomingMessage, res: ServerResponse): void => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    res.on('close', () => {
      if (!res.writableEnded) this.aborted++;
    });
    req.on('end', () => {
      const query = new URLSearchParams(Buffer.concat(chunks).toString()).get('query') ?? '';
      const asked: Asked = { path: req.url ?? '', method: req.method ?? '', headers: req.headers, query };
      this.asked.push(asked);
      (this.answers.get(asked.path) ?? this.evaluate)(res, asked);
    });
  };

  private readonly evaluate: Answerer = (res, { query }) => {
    try {
      const text = this.store.query(query, { results_format: 'json', base_iri: this.url }) as string;
      res.writeHead(200, { 'Content-Type': 'application/sparql-results+json' }).end(text);
    } catch (error) {
      res.writeHead(400, { 'Content-Type': 'text/plain' }).end(String(error));
    }
  };
}

/** Starts an endpoint. */
export async function startSparqlEndpoint(): Promise<SparqlEndpoint> {
  const server = createServer((req, res) => endpoint.listen(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint: SparqlEndpoint = new SparqlEndpoint(port, () => {
    server.close();
    server.closeAllConnections();
  });
  server.on('connection', () => {
    endpoint.connections++;
  });
  return endpoint;
}
