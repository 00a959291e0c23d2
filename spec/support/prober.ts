/** A thread that asks for a resource again and again, and measures: what its maker does at the same time delays nothing here. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface ProberData {
  readonly url: string;
  readonly pid: number;
}

/** What it has seen until it was asked. */
export interface Seen {
  /** The longest that a GET took, in milliseconds. */
  readonly longestMs: number;
  /** The most memory that the process held, in MB. */
  readonly maxMb: number;
}

const { url, pid } = workerData as ProberData;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const port = parentPort!;
let longestMs = 0;
let maxMb = 0;

port.on('message', () => {
  port.postMessage({ longestMs, maxMb } satisfies Seen);
  longestMs = maxMb = 0;
});

function get(): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => void response.resume().once('end', resolve).once('error', reject))
      .once('error', reject)
      .end();
  });
}

// The first ones load and compile.
for (let at = 0; at < 20; at++) await get();
for (;;) {
  const began = performance.now();
  await get();
  longestMs = Math.max(longestMs, performance.now() - began);
  maxMb = Math.max(maxMb, Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
  await new Promise((wake) => setTimeout(wake, 5));
}
