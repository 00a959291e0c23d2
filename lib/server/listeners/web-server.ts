/** Common interface of listening servers. */
import type { AddressInfo, Server as NetServer } from 'node:net';

/** A listening server and its connections. */
export interface WebServer {
  readonly server: NetServer;
  /** Closes idle connections, and other connections after their current request. */
  closeIdle(): void;
  closeAll(): void;
}

/** Listens and returns the port. @param host default: every address */
export function listenOn(
  { server }: Pick<WebServer, 'server'>,
  port: number,
  host: string | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Closes the port and resolves when pending requests have ended. Closes connections after the timeout. */
export async function drain({ server, closeIdle, closeAll }: WebServer, maxMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeIdle();
  const impatient = setTimeout(closeAll, maxMs);
  // Also close connections that become idle during the drain.
  const idle = setInterval(closeIdle, 100);
  await closed;
  clearTimeout(impatient);
  clearInterval(idle);
}
