/** The certificates of the trusted identity providers, from the files of `lws.saml.idp-certificates`. It is the only source of keys. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SettingsError } from '../../lib/plugin/component.js';

export interface TrustedCertificate {
  /** The file that it came from. */
  readonly file: string;
  readonly key: KeyObject;
  /** Milliseconds since the epoch: the period in which its key is believed. */
  readonly validFrom: number;
  readonly validTo: number;
}

const settingName = 'lws.saml.idp-certificates';
/** NIST SP 800-131A: shorter ones are not to be believed any more. */
const leastRsaBits = 2048;
const curves: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;

/**
 * Reads files of one certificate in DER, or of any number in PEM.
 * @returns the certificates, those that are valid longest first
 * @throws SettingsError for a file that cannot be read, holds anything else, or a key that is too weak
 */
export function readCertificates(files: readonly string[]): readonly TrustedCertificate[] {
  const certificates = files.flatMap((file) => readFile(file).map((der) => readCertificate(der, file)));
  return certificates.sort((one, other) => other.validTo - one.validTo);
}

/** Whether its key may be believed at a time, in milliseconds since the epoch. */
export const isValidAt = ({ validFrom, validTo }: TrustedCertificate, time: number): boolean =>
  validFrom <= time && time <= validTo;

/** The certificates of a file, in DER. */
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
    // A private key has no business here, and is a sign that the wrong file was named.
    if (label !== 'CERTIFICATE') throw fault(file, `holds a ${label}; only certificates belong into it`);
    return Buffer.from(body!, 'base64');
  });
}

function readCertificate(der: Buffer, file: string): TrustedCertificate {
  const certificate = parseCertificate(der);
  if (!certificate) throw fault(file, 'holds no X.509 certificate in PEM or DER');
  const { publicKey: key, validFrom, validTo } = certificate;
  assertStrength(key, file);
  return { file, key, validFrom: Date.parse(validFrom), validTo: Date.parse(validTo) };
}

function parseCertificate(der: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(der);
    // OpenSSL reads over what follows a certificate; and a key of an unknown kind throws only when it is asked for.
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
