/** Queries to a server process, with answers as they come: begun, slow, broken. It must not know what a query means. */
import { readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { startRequest } from './http.js';
import { resultsJson, sparqlQuery } from './sparql.js';

export interface Begun {
  readonly status: number;
  readonly response: IncomingMessage;
  /** Ends the connection. */
  abort(): void;
  /** Reads on to the end. */
  rest(): Promise<Read>;
}

export interface Read {
  readonly status: number;
  readonly text: string;
  /** Whether HTTP says that this is the whole body. */
  readonly isWhole: boolean;
}

/** Sends a query and resolves when its answer begins; nothing of its body is read yet. */
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
      // What breaks later is told by the answer.
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

/** Megabytes of memory that a process holds. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** What small GETs took, in milliseconds, while something went on; the longest first. @throws for an answer other than 200 */
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
