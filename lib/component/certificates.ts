/** Certificates of the server: sources, validation and contents. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Log } from '../tools/log.js';

/** A certificate with its chain and private key, validated. */
export interface KeyPair {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isFor: (host: string) => boolean;
}

/** Checks that a key belongs to a certificate and that a TLS server can use both. @throws Error with a message that says what is wrong */
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
  /** Returns the current pair, or undefined if there is none yet. */
  current(): KeyPair | undefined;
  /** Starts to look for newer pairs. @param use installs a pair; throws if it is not valid */
  start(use: (pair: KeyPair) => void): void;
  /** Looks for a newer pair now. */
  reload(): void;
  stop(): void;
}

/** Answers to the challenges of an ACME authority (RFC 8555 8.3), served on the plain HTTP port. */
export interface ChallengeAnswers {
  set(token: string, keyAuthorization: string): void;
  delete(token: string): void;
}

/** TLS settings of the server. */
export interface TlsFacts {
  /** Host of `lws.base-uri`. */
  readonly host: string;
  /** `lws.tls.http-port` */
  readonly httpPort: number | null;
  /** True if certificate files are configured. */
  readonly hasFiles: boolean;
  /** True if an external ACME client gets the certificates. */
  readonly hasWebroot: boolean;
}

/** Dependencies of a certificate source. */
export interface CertificateEquipment {
  /** `lws.data-dir`. Files with keys in it have mode 0600. */
  readonly dataDir: string;
  /** PEM files of authorities that are trusted in addition to those of Node.js. */
  readonly authorities: readonly string[];
  readonly challenges: ChallengeAnswers;
  readonly log: Log;
}

export type MakeCertificateSource = (equipment: CertificateEquipment) => CertificateSource;
