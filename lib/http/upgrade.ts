/** Rejects connection upgrades. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Responds with a status and no body, and closes the connection. */
export function endUpgrade(socket: Duplex, status: number): void {
  if (socket.destroyed) return;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () =>
    socket.destroy(),
  );
}
