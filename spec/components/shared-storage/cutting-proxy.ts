/** Proxy before a database that cuts a connection at its next commit: before the database receives it, or before its response arrives. */
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../support/free-port.js';

export interface CuttingProxy {
  readonly port: number;
  /** Number of cut connections. */
  readonly cuts: number;
  cut(when: 'before' | 'after'): void;
  /** Forwards nothing more and closes no connection, like a machine without power. */
  stall(): void;
  close(): Promise<void>;
}

export async function startCuttingProxy(to: number): Promise<CuttingProxy> {
  const port = await freePort();
  let planned: 'before' | 'after' | undefined;
  let cuts = 0;
  let isStalled = false;
  const open = new Set<Socket>();
  const proxy = createServer((socket) => {
    const database = connect(to, '127.0.0.1');
    let isCut = false;
    for (const each of [socket, database]) {
      open.add(each);
      each.on('error', () => each.destroy());
      each.on('close', () => {
        open.delete(each);
        if (!isCut) for (const both of [socket, database]) both.destroy();
      });
    }
    socket.on('data', (bytes) => {
      if (isStalled) return;
      const isCommit = planned !== undefined && bytes.includes('COMMIT\0');
      if (isCommit) {
        isCut = true;
        cuts++;
        if (planned === 'after') database.write(bytes);
        planned = undefined;
        // The database reads it, and the server gets no response.
        database.removeAllListeners('data');
        database.resume();
        socket.destroy();
        setTimeout(() => database.destroy(), 200);
      } else database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (!isStalled) socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  return {
    port,
    get cuts() {
      return cuts;
    },
    cut: (when) => {
      planned = when;
    },
    stall: () => {
      isStalled = true;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
