/** Passes connection upgrades (RFC 9110 7.8) to components. Other upgrade requests are answered as usual. */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Installation } from '../../component/contract.js';
import { endUpgrade } from '../../http/upgrade.js';

export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Returns a listener for the `upgrade` event of an HTTP server: it passes the connection to the component that handles it. */
export const upgradeListener =
  (installations: readonly Installation[]): Upgrade =>
  (req, socket, head) => {
    // From here on, no other listener handles errors of the socket.
    socket.on('error', () => socket.destroy());
    if (!installations.some((each) => each.upgrade?.(req, socket, head))) endUpgrade(socket, 404);
  };

/** Returns true if a component handles upgrades. */
export const takesUpgrades = (installations: readonly Installation[]): boolean =>
  installations.some(({ upgrade }) => upgrade);

/** Installs the upgrade handler on a server. @param take handler; undefined: the server is not changed */
export function acceptUpgrades(server: Server, take: Upgrade | undefined): void {
  if (!take) return;
  // Later versions of Node call `shouldUpgradeCallback` first. Earlier versions emit `upgrade` for each request with the field.
  Object.assign(server, { shouldUpgradeCallback: isWebSocket });
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isWebSocket(req)) return take(req, socket, head);
    // Reject a request body: after an upgrade, Node does not read it.
    if (hasBody(req)) return endUpgrade(socket, 400);
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => socket.end());
    server.emit('request', req, res);
  });
}
