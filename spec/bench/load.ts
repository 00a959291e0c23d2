/** A load of requests that costs its own process little: sockets, bytes and counts. It must not know what is asked. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

export interface Load {
  readonly port: number;
  /** The whole head of the nth request, with its empty line; `undefined` ends the connection's work. */
  readonly head: (number: number) => string | undefined;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly count: number;
  /** Answers other than 200. */
  readonly others: number;
}

/** Asks again and again on so many connections, one request after the other on each. */
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
      let owed = 0;
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
        if (owed === 0) {
          const end = rest.indexOf('\r\n\r\n');
          if (end < 0) return;
          owed = end + 4 + Number(/content-length: (\d+)/i.exec(rest)?.[1] ?? 0);
          if (!rest.startsWith('HTTP/1.1 200')) others++;
        }
        if (rest.length < owed) return;
        rest = rest.slice(owed);
        owed = 0;
        count++;
        ask();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  return { perSecond: count / ((performance.now() - started) / 1000), count, others };
}

/** Microseconds of processor time that a process has used. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
