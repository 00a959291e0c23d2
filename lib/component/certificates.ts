/** Certificates of the server: sources, validation and contents. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Log } from '../tools/log.js';

/** Validated certificate with its chain, and its private key. */
export interface KeyPair {
  /** Certificate chain and private key in PEM format. */
  readonly certificate: string;
  readonly key: string;
  /** Start of the validity, in milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isFor: (host: string) => boolean;
}

/** Returns a key pair that a TLS server can use. @throws Error with the reason if the key is unusable or does not match */
export function keyPair(certificate: string, key: string): KeyPair {
  const leaf = attempt('the certificate is not in PEM format', () => new X509Certificate(certificate));
  const privateKey = attempt('the key is not a PEM private key without a passphrase', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) throw new Error('the key does not belong to the certificate');
  attempt('the certificate and key cannot be used', () => createSecureContext({ cert: certificate, key }));
  return {
    certificate,
    key,
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Date.parse(leaf.validTo),
    isFor: (host) => leaf.checkHost(host) !== undefined || leaf.checkIP(host.replace(/^\[|\]$/g, '')) !== undefined,
  };
}

function attempt<T>(fault: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`${fault} (${(cause as Error).message})`, { cause });
  }
}

/** Source of the server's certificate. */
export interface CertificateSource {
  /** Returns the current certificate and key, or `undefined` if none is available yet. */
  current(): KeyPair | undefined;
  /** Starts to check for newer certificates. @param use function that installs a certificate, and throws if it is not valid */
  start(use: (pair: KeyPair) => void): void;
  /** Checks for a newer certificate now. */
  reload(): void;
  stop(): void;
}

/** Responses to challenges of an ACME authority (RFC 8555 8.3), served on the plain HTTP port. */
export interface ChallengeAnswers {
  set(token: string, keyAuthorization: string): void;
  delete(token: string): void;
}

/** TLS settings of the server. */
export interface TlsFacts {
  /** Host name in `lws.base-uri`. */
  readonly host: string;
  /** Port for plain HTTP (`lws.tls.http-port`), or null. */
  readonly httpPort: number | null;
  /** True if certificate files are configured. */
  readonly hasFiles: boolean;
  /** True if an external ACME client obtains the certificates. */
  readonly hasWebroot: boolean;
}

/** Dependencies of a certificate source. */
export interface CertificateEquipment {
  /** Data directory (`lws.data-dir`). Files with keys have mode 0600. */
  readonly dataDir: string;
  /** PEM files of certificate authorities that are trusted in addition to the certificate authorities of Node.js. */
  readonly authorities: readonly string[];
  readonly challenges: ChallengeAnswers;
  readonly log: Log;
}

export type MakeCertificateSource = (equipment: CertificateEquipment) => CertificateSource;
