/** Queries to a server process with partially read, slow or broken responses. Independent of the queries. */
import { readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { startRequest } from './http.js';
import { resultsJson, sparqlQuery } from './sparql.js';

export interface Begun {
  readonly status: number;
  readonly response: IncomingMessage;
  /** Closes the connection. */
  abort(): void;
  /** Reads the rest of the response. */
  rest(): Promise<Read>;
}

export interface Read {
  readonly status: number;
  readonly text: string;
  /** True if the body is complete according to HTTP. */
  readonly isWhole: boolean;
}

/** Sends a query and resolves when the response begins. Its body is not read yet. */
export function begin(root: string, query: string, accept = resultsJson): Promise<Begun> {
  return new Promise((resolve, reject) => {
    const req: ClientRequest = startRequest(`${root}.lws/sparql`, {
      method: 'QUERY',
      agent: false,
      headers: { 'Content-Type': sparqlQuery, Accept: accept, 'Content-Length': Buffer.byteLength(query) },
    });
    req.once('error', reject);
    req.once('response', (response) => {
      const status = response.statusCode!;
      // Later errors are reported by the response.
      req.off('error', reject).on('error', () => {});
      resolve({ status, response, abort: () => void req.destroy(), rest: () => readAll(response, status) });
    });
    req.end(query);
  });
}

function readAll(response: IncomingMessage, status: number): Promise<Read> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => void chunks.push(chunk));
    response.on('error', () => {});
    response.once('close', () =>
      resolve({ status, text: Buffer.concat(chunks).toString('utf8'), isWhole: response.complete }),
    );
  });
}

export const read = async (root: string, query: string, accept?: string): Promise<Read> =>
  (await begin(root, query, accept)).rest();

/** Returns the resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** Sends small GETs until the work ends. @returns their durations in milliseconds, longest first @throws Error for a status other than 200 */
export async function readsDuring(iri: string, work: Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    const started = performance.now();
    const answer = await fetch(iri);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`GET ${iri}: ${answer.status}`);
    waits.push(performance.now() - started);
    await new Promise((wake) => setTimeout(wake, 10));
  }
  return waits.sort((a, b) => b - a);
}
