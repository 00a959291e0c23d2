/**
 * Connections that become something else than HTTP (RFC 9110 7.8): a component may take one. Every other wish to upgrade is ignored, and
 * the request is answered.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Installation } from '../../component/contract.js';
import { endUpgrade } from '../../http/upgrade.js';

export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** A listener for the event `upgrade` of an HTTP server: hands the connection to the component that wants it. */
export const upgradeListener =
  (installations: readonly Installation[]): Upgrade =>
  (req, socket, head) => {
    // Nobody else listens from here on.
    socket.on('error', () => socket.destroy());
    if (!installations.some((each) => each.upgrade?.(req, socket, head))) endUpgrade(socket, 404);
  };

/** Whether there is a component that takes connections. */
export const takesUpgrades = (installations: readonly Installation[]): boolean =>
  installations.some(({ upgrade }) => upgrade);

/** Has connections of a server taken. @param take absent: it stays as it is */
export function acceptUpgrades(server: Server, take: Upgrade | undefined): void {
  if (!take) return;
  // Later versions of Node ask; the others hand over each request that has the field.
  Object.assign(server, { shouldUpgradeCallback: isWebSocket });
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isWebSocket(req)) return take(req, socket, head);
    // The body is not read as one any more.
    if (hasBody(req)) return endUpgrade(socket, 400);
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => socket.end());
    server.emit('request', req, res);
  });
}
