/** Certificates of the server: where they come from, whether they fit their keys, and what they say. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Log } from '../log.js';

/** A certificate with its chain and its private key, checked to fit. */
export interface KeyPair {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isFor: (host: string) => boolean;
}

/**
 * Checks that a key belongs to a certificate, and that a server could use both.
 * @throws Error with a sentence that says what is wrong
 */
export function keyPair(certificate: string, key: string): KeyPair {
  const leaf = attempt('the certificate is not PEM', () => new X509Certificate(certificate));
  const privateKey = attempt('the key is not a private key in PEM without a passphrase', () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey)) throw new Error('the key does not belong to the certificate');
  attempt('the pair cannot be used', () => createSecureContext({ cert: certificate, key }));
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

/** Where the certificate of the server comes from, as the server sees it. */
export interface CertificateSource {
  /** The pair to serve with; undefined while there is none yet. */
  current(): KeyPair | undefined;
  /** Goes on to look for newer pairs. @param use puts one to use; throws when it cannot */
  start(use: (pair: KeyPair) => void): void;
  /** Looks for a newer pair now. */
  reload(): void;
  stop(): void;
}

/** Answers to the challenges of an ACME authority (RFC 8555 8.3), at the port of plain HTTP. */
export interface ChallengeAnswers {
  set(token: string, keyAuthorization: string): void;
  delete(token: string): void;
}

/** What the server's own settings say of TLS. */
export interface TlsFacts {
  /** Of `lws.base-uri`. */
  readonly host: string;
  /** `lws.tls.http-port` */
  readonly httpPort: number | null;
  /** The operator names the files of a certificate. */
  readonly hasFiles: boolean;
  /** An ACME client outside gets certificates. */
  readonly hasWebroot: boolean;
}

/** What a source works with. */
export interface CertificateEquipment {
  /** `lws.data-dir`; files with keys in it have mode 0600. */
  readonly dataDir: string;
  /** Files with certificates (PEM) to trust authorities by, beside the well-known ones. */
  readonly authorities: readonly string[];
  readonly challenges: ChallengeAnswers;
  readonly log: Log;
}

export type MakeCertificateSource = (equipment: CertificateEquipment) => CertificateSource;
