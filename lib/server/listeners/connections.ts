/** How many connections the server takes: in all, so that files can be opened however many there are, and of one address. */
import type { Server, Socket } from 'node:net';
import { clientOf } from '../../fields/client-address.js';
import { maxFiles } from '../../storage/level/open-files.js';

export interface ConnectionLimits {
  /** Nothing: half of the files that may be open; the other half is for the store and for requests to others. */
  readonly inAll: number | null;
  /** Nothing: a quarter of all, or all where a proxy makes them. */
  readonly perAddress: number | null;
  readonly behindProxy: boolean;
}

/** Bounds the connections of a server; what is too much is closed at once. */
export function limitConnections(server: Server, { inAll, perAddress, behindProxy }: ConnectionLimits): void {
  const all = inAll ?? maxFiles() >> 1;
  const ofOne = perAddress ?? (behindProxy ? all : Math.max(1, all >> 2));
  server.maxConnections = all;
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket.remoteAddress ?? '');
    const count = (counts.get(client) ?? 0) + 1;
    if (count > ofOne) return void socket.destroy();
    counts.set(client, count);
    socket.once('close', () => {
      const left = counts.get(client)! - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    });
  });
}
