/** Load generator that uses little CPU time of its own: sockets, bytes and counts. Must not depend on the requests. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

export interface Load {
  readonly port: number;
  /** Returns the complete head of the nth request with its empty line, or `undefined` to end the connection. */
  readonly head: (number: number) => string | undefined;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly count: number;
  /** Number of responses with a status other than 200. */
  readonly others: number;
}

/** Sends requests on several connections, one after the other on each. */
export async function load({ port, head, connections, seconds }: Load): Promise<LoadResult> {
  let count = 0;
  let others = 0;
  let next = 0;
  const until = performance.now() + seconds * 1000;
  const started = performance.now();
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      let rest = '';
      let expected = 0;
      const ask = (): void => {
        const request = performance.now() < until ? head(next++) : undefined;
        if (request === undefined) {
          socket.destroy();
          resolve();
        } else socket.write(request, 'latin1');
      };
      socket.on('error', reject).on('connect', ask);
      socket.setEncoding('latin1').on('data', (text: string) => {
        rest += text;
        if (expected === 0) {
          const end = rest.indexOf('\r\n\r\n');
          if (end < 0) return;
          expected = end + 4 + Number(/content-length: (\d+)/i.exec(rest)?.[1] ?? 0);
          if (!rest.startsWith('HTTP/1.1 200')) others++;
        }
        if (rest.length < expected) return;
        rest = rest.slice(expected);
        expected = 0;
        count++;
        ask();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  return { perSecond: count / ((performance.now() - started) / 1000), count, others };
}

/** Returns the CPU time of a process, in microseconds. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
