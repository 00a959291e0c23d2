/** Certificates of localhost that are made for a spec, and what a server shows to those who connect. */
import { writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { certificateOf, ecSigner, pemOf } from './x509.js';

export interface MadePair {
  readonly certificate: string;
  readonly key: string;
}

const day = 86_400_000;

/** A certificate for localhost with a new key. @param days until its end; negative: it has ended */
export function makePair(days = 30): MadePair {
  const signer = ecSigner();
  const validity = { from: Date.now() - 60 * day, to: Date.now() + days * day };
  return {
    certificate: pemOf(certificateOf(signer, validity, 'localhost')),
    key: signer.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** Puts a pair in the files that settings name, as flags. */
export function writePair(files: Readonly<Record<string, string>>, { certificate, key }: MadePair): void {
  writeFileSync(files['tls.certificate']!, certificate);
  writeFileSync(files['tls.key']!, key);
}

const untrusting: ConnectionOptions = { rejectUnauthorized: false };

/** Connects with TLS alone, whatever the certificate. @throws the error of the handshake */
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

/** The certificate that a new connection is shown, PEM. */
export async function presentedCertificate(root: string): Promise<string> {
  const socket = await connectTls(root);
  const certificate = socket.getPeerX509Certificate()!.toString();
  socket.destroy();
  return certificate;
}

/** A session of HTTP/2, whatever the certificate. */
export function openSession(root: string): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(new URL(root).origin, untrusting);
    session.once('remoteSettings', () => resolve(session));
    session.once('error', reject);
  });
}
