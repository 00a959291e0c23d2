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
  /** Maximum CPU time in milliseconds that the server's main thread used during a GET (Linux; elsewhere 0). */
  readonly mostCpuMs: number;
  /** Maximum resident memory of the process, in MB. */
  readonly maxMb: number;
}

const { url, pid } = workerData as ProberData;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const port = parentPort!;
let longestMs = 0;
let mostCpuMs = 0;
let maxMb = 0;

port.on('message', () => {
  port.postMessage({ longestMs, mostCpuMs, maxMb } satisfies Seen);
  longestMs = mostCpuMs = maxMb = 0;
});

function get(): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => void response.resume().once('end', resolve).once('error', reject))
      .once('error', reject)
      .end();
  });
}

/** Times of a thread in milliseconds: on a processor, and runnable without one (schedstat of the Linux kernel, in nanoseconds). */
function timesOf(thread: string): { readonly cpu: number; readonly waited: number } {
  const file = `${thread}/schedstat`;
  const [cpu, waited] = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : [];
  return { cpu: Number(cpu ?? 0) / 1e6, waited: Number(waited ?? 0) / 1e6 };
}

const bothTimes = (): { readonly cpu: number; readonly waited: number } => {
  const [own, server] = [timesOf('/proc/thread-self'), timesOf(`/proc/${pid}/task/${pid}`)];
  return { cpu: server.cpu, waited: own.waited + server.waited };
};

// The first requests load and compile code.
for (let at = 0; at < 20; at++) await get();
for (;;) {
  const [began, before] = [performance.now(), bothTimes()];
  await get();
  const after = bothTimes();
  longestMs = Math.max(longestMs, performance.now() - began - (after.waited - before.waited));
  mostCpuMs = Math.max(mostCpuMs, after.cpu - before.cpu);
  maxMb = Math.max(maxMb, Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
  await new Promise((wake) => setTimeout(wake, 5));
}
