/** Certificates of localhost, and the certificate that a server presents. */
import { writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { certificateOf, ecSigner, pemOf } from './x509.js';

export interface MadePair {
  readonly certificate: string;
  readonly key: string;
}

const day = 86_400_000;

/** Creates a certificate for localhost with a new key. @param days until it expires, negative if it has expired */
export function makePair(days = 30): MadePair {
  const signer = ecSigner();
  const validity = { from: Date.now() - 60 * day, to: Date.now() + days * day };
  return {
    certificate: pemOf(certificateOf(signer, validity, 'localhost')),
    key: signer.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** Writes a pair to the files that the settings name. */
export function writePair(files: Readonly<Record<string, string>>, { certificate, key }: MadePair): void {
  writeFileSync(files['tls.certificate']!, certificate);
  writeFileSync(files['tls.key']!, key);
}

const untrusting: ConnectionOptions = { rejectUnauthorized: false };

/** Opens a TLS connection, with any certificate. @throws the error of the handshake */
export function connectTls(root: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { port } = new URL(root);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      servername: 'localhost',
      port: Number(port),
      ...untrusting,
      ...options,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

/** Returns the certificate presented to a new connection, as PEM. */
export async function presentedCertificate(root: string): Promise<string> {
  const socket = await connectTls(root);
  const certificate = socket.getPeerX509Certificate()!.toString();
  socket.destroy();
  return certificate;
}

/** Opens an HTTP/2 session, with any certificate. */
export function openSession(root: string): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(new URL(root).origin, untrusting);
    session.once('remoteSettings', () => resolve(session));
    session.once('error', reject);
  });
}
