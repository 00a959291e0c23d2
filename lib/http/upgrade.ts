/** The refusal of a connection that wanted to become something else than HTTP. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers with a status alone, and closes the connection. */
export function endUpgrade(socket: Duplex, status: number): void {
  if (socket.destroyed) return;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () =>
    socket.destroy(),
  );
}
