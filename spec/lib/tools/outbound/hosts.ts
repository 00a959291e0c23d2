/** Servers on loopback for outbound requests, correct and incorrect ones. Must not depend on the tested code. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net';

const open = new Set<{ close: () => void }>();

/** Serves on a port of loopback until `closeHosts`. */
export async function serve(listener: RequestListener): Promise<number> {
  return listen(createServer(listener));
}

/** Serves with TLS, as `guard.example` and `other.example`. */
export async function serveSecurely(listener: RequestListener): Promise<number> {
  return listen(createSecureServer({ cert: certificate, key }, listener));
}

/** Passes on every connection, before any data is read. */
export async function serveRaw(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  open.add({ close: () => [...sockets].map((socket) => socket.destroy()) });
  return listen(server);
}

/** Repeats bytes while the client is connected. */
export function repeat(socket: Socket, text: string | Buffer): void {
  const again = (): void => {
    if (!socket.destroyed) socket.write(text, () => setImmediate(again));
  };
  again();
}

/** Loopback port without a listener. */
export async function closedPort(): Promise<number> {
  const server = createRawServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export function closeHosts(): void {
  for (const host of open) host.close();
  open.clear();
}

async function listen(server: Server | RawServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.add({
    close: () => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    },
  });
  return (server.address() as AddressInfo).port;
}

/** Self-signed test certificate of `guard.example` and `other.example`, valid from 2020 to 2125. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBejCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1ndWFyZC5l
eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1ndWFyZC5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVxr7
ZQh38RBNuMJd9dho7vATM5vwUU7mKN4EfVLhx39krsTS3qcSgj2vLJyGcsl2U5P6
MfMf/L5Gjuj2EBAlCqNYMFYwJwYDVR0RBCAwHoINZ3VhcmQuZXhhbXBsZYINb3Ro
ZXIuZXhhbXBsZTAMBgNVHRMEBTADAQH/MB0GA1UdDgQWBBRI0oE20OiosUhYsz3a
rVClRyiBEDAKBggqhkjOPQQDAgNJADBGAiEAmTeZHZv+FVVBX68yqwWM+PtFmFFl
V+x7aYngirkRIGsCIQC4kooun5BZp8ft1TXdU3CLYVRb+Z6bwnVRIX/bGetZFQ==
-----END CERTIFICATE-----`;

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggPSbKtzxjL/p6VIu
udt8RWX5QKukyUXn0+iaLN+PEmOhRANCAARXGvtlCHfxEE24wl312Gju8BMzm/BR
TuYo3gR9UuHHf2SuxNLepxKCPa8snIZyyXZTk/ox8x/8vkaO6PYQECUK
-----END PRIVATE KEY-----`;
