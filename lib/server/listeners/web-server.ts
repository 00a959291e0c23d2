/** A server that listens, whatever it speaks: where, and how it ends. */
import type { AddressInfo, Server as NetServer } from 'node:net';

/** A listening server and its connections. */
export interface WebServer {
  readonly server: NetServer;
  /** Ends connections without a request under way, and keeps the others from getting a further one. */
  closeIdle(): void;
  /** Ends all. */
  closeAll(): void;
}

/** Listens, and returns the port. @param host absent: every address */
export function listenOn({ server }: WebServer, port: number, host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Takes no new connection, and returns when those under way have ended; after so many milliseconds they are closed. */
export async function drain({ server, closeIdle, closeAll }: WebServer, maxMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeIdle();
  const impatient = setTimeout(closeAll, maxMs);
  // Connections that become idle while others are drained.
  const idle = setInterval(closeIdle, 100);
  await closed;
  clearTimeout(impatient);
  clearInterval(idle);
}
