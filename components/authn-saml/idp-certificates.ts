/** Certificates of trusted identity providers, from the files in `lws.saml.idp-certificates`. No other keys are trusted. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SettingsError } from '../../lib/plugin/component.js';

export interface TrustedCertificate {
  /** File that contains the certificate. */
  readonly file: string;
  readonly key: KeyObject;
  /** Validity period of the key, in milliseconds since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
}

const settingName = 'lws.saml.idp-certificates';
/** Minimum length of RSA keys in bits (NIST SP 800-131A). */
const leastRsaBits = 2048;
const curves: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;

/**
 * Reads files with one DER certificate, or any number of PEM certificates.
 * @returns the certificates, latest expiry first
 * @throws SettingsError for an unreadable file, other content, or a weak key
 */
export function readCertificates(files: readonly string[]): readonly TrustedCertificate[] {
  const certificates = files.flatMap((file) => readFile(file).map((der) => readCertificate(der, file)));
  return certificates.sort((one, other) => other.validTo - one.validTo);
}

/** Returns true if the certificate is valid at a time, in milliseconds since the epoch. */
export const isValidAt = ({ validFrom, validTo }: TrustedCertificate, time: number): boolean =>
  validFrom <= time && time <= validTo;

/** Returns the certificates in a file, as DER. */
function readFile(file: string): Buffer[] {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (cause) {
    throw fault(file, `cannot be read: ${(cause as Error).message}`);
  }
  const text = content.toString('latin1');
  return text.includes('-----BEGIN ') ? readPem(text, file) : [content];
}

function readPem(text: string, file: string): Buffer[] {
  const blocks = [...text.matchAll(pemBlock)];
  if (blocks.length === 0 || text.replace(pemBlock, '').includes('-----')) throw fault(file, 'is malformed PEM');
  return blocks.map(([, label, body]) => {
    // A private key indicates that the setting names the wrong file.
    if (label !== 'CERTIFICATE') throw fault(file, `contains a ${label}; only certificates are allowed`);
    return Buffer.from(body!, 'base64');
  });
}

function readCertificate(der: Buffer, file: string): TrustedCertificate {
  const certificate = parseCertificate(der);
  if (!certificate) throw fault(file, 'contains no X.509 certificate in PEM or DER');
  const { publicKey: key, validFrom, validTo } = certificate;
  assertStrength(key, file);
  return { file, key, validFrom: Date.parse(validFrom), validTo: Date.parse(validTo) };
}

function parseCertificate(der: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(der);
    // Reject trailing data, which OpenSSL ignores. Accessing `publicKey` throws for an unknown kind of key.
    return certificate.raw.length === der.length && certificate.publicKey ? certificate : undefined;
  } catch {
    return undefined;
  }
}

function assertStrength({ asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject, file: string): void {
  if (kind === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    if (bits < leastRsaBits) throw fault(file, `has an RSA key of ${bits} bits; expected ${leastRsaBits} or more`);
    if ((details?.publicExponent ?? 0n) < 3n) throw fault(file, 'has an RSA key whose exponent is 1');
  } else if (kind !== 'ec') throw fault(file, `has a key of the kind ${kind}; expected RSA or EC`);
  else if (!curves.includes(details?.namedCurve))
    throw fault(file, `has a key on the curve ${details?.namedCurve}; expected P-256, P-384 or P-521`);
}

const fault = (file: string, what: string): SettingsError =>
  new SettingsError(`${settingName}: the file ${file} ${what}.`);
