/** Certificates with their keys: whether they fit, and what they say. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

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

/** Reads both files. @throws Error with a sentence that names the file */
export function readKeyPair(certificateFile: string, keyFile: string): KeyPair {
  return keyPair(readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8'));
}

function attempt<T>(fault: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`${fault} (${(cause as Error).message})`, { cause });
  }
}
