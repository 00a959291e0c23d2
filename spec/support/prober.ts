/** Worker thread that polls a resource and measures its responses, undisturbed by the work of its parent. */
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface ProberData {
  readonly url: string;
  readonly pid: number;
}

/** Measurements since the last request. */
export interface Seen {
  /** Longest GET in milliseconds, without the time that this thread and the server's main thread waited for a processor (Linux). */
  readonly longestMs: number;
  /** Maximum resident memory of the process, in MB. */
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

/**
 * Returns the milliseconds that the two threads were runnable but had no processor: the second number of schedstat (sched-stats,
 * in nanoseconds).
 */
const waited = (): number =>
  ['/proc/thread-self', `/proc/${pid}/task/${pid}`]
    .map((thread) => (existsSync(`${thread}/schedstat`) ? readFileSync(`${thread}/schedstat`, 'utf8') : '0 0'))
    .reduce((sum, text) => sum + Number(text.split(' ')[1]) / 1e6, 0);

// The first requests load and compile code.
for (let at = 0; at < 20; at++) await get();
for (;;) {
  const [began, before] = [performance.now(), waited()];
  await get();
  longestMs = Math.max(longestMs, performance.now() - began - (waited() - before));
  maxMb = Math.max(maxMb, Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
  await new Promise((wake) => setTimeout(wake, 5));
}
