/** Finds an unused loopback port. */
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections and to listeners without a port (from 32 768 with Linux, from 49 152 elsewhere): nothing else takes
 * the port before the spec listens at it.
 */
const [lowest, highest] = [15_000, 32_000];

export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
