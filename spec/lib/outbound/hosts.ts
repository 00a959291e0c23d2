/**
 * The other side of outbound requests: servers on loopback that behave, and some that do not.
 * It must not know the code under test.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net';

const open = new Set<{ close: () => void }>();

/** Serves on a port of loopback until `closeHosts`. */
export async function serve(listener: RequestListener): Promise<number> {
  return listen(createServer(listener));
}

/** The same with TLS, as `guard.example` and `other.example`. */
export async function serveSecurely(listener: RequestListener): Promise<number> {
  return listen(createSecureServer({ cert: certificate, key }, listener));
}

/** Hands every connection over, with whatever was said first not read yet. */
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

/** Writes the same again for as long as the other side is there. */
export function repeat(socket: Socket, text: string | Buffer): void {
  const again = (): void => {
    if (!socket.destroyed) socket.write(text, () => setImmediate(again));
  };
  again();
}

/** A port of loopback where nobody listens. */
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

/** Of `guard.example` and `other.example`, signed by itself, valid from 2020 to 2125; it protects nothing. */
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
