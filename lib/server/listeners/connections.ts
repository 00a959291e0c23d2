/** Limits connections: in total, so that files can still be opened, and per address. */
import type { Server, Socket } from 'node:net';
import { maxFiles } from '../../storage/level/open-files.js';
import { addCount } from '../../tools/collections.js';
import { clientOf } from '../../tools/fields/client-address.js';

export interface ConnectionLimits {
  /** Maximum connections in total. Default: half of the open files limit. The rest is for the store and outbound requests. */
  readonly inAll: number | null;
  /** Maximum connections per address. Default: a quarter of the total, or the total behind a proxy. */
  readonly perAddress: number | null;
  readonly behindProxy: boolean;
}

/** Limits the connections of a server. Connections above the limit are closed immediately. */
export function limitConnections(server: Server, { inAll, perAddress, behindProxy }: ConnectionLimits): void {
  const all = inAll ?? maxFiles() >> 1;
  const ofOne = perAddress ?? (behindProxy ? all : Math.max(1, all >> 2));
  server.maxConnections = all;
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket.remoteAddress ?? '');
    if ((counts.get(client) ?? 0) >= ofOne) return void socket.destroy();
    addCount(counts, client, 1);
    socket.once('close', () => addCount(counts, client, -1));
  });
}
