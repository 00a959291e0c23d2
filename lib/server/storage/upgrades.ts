/** Connection upgrades (RFC 9110 7.8): a component may handle one. All other upgrade requests are answered as usual. */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Installation } from '../../component/contract.js';
import { endUpgrade } from '../../http/upgrade.js';

export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Listener for the `upgrade` event of an HTTP server: passes the connection to the component that handles it. */
export const upgradeListener =
  (installations: readonly Installation[]): Upgrade =>
  (req, socket, head) => {
    // No other listener from here on.
    socket.on('error', () => socket.destroy());
    if (!installations.some((each) => each.upgrade?.(req, socket, head))) endUpgrade(socket, 404);
  };

/** True if a component handles upgrades. */
export const takesUpgrades = (installations: readonly Installation[]): boolean =>
  installations.some(({ upgrade }) => upgrade);

/** Installs the upgrade handler on a server. @param take absent: unchanged */
export function acceptUpgrades(server: Server, take: Upgrade | undefined): void {
  if (!take) return;
  // Later versions of Node ask first. Earlier ones pass on each request with the field.
  Object.assign(server, { shouldUpgradeCallback: isWebSocket });
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isWebSocket(req)) return take(req, socket, head);
    // The body is no longer read as a request body.
    if (hasBody(req)) return endUpgrade(socket, 400);
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => socket.end());
    server.emit('request', req, res);
  });
}
