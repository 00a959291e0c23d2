/** Self-signed X.509 certificates with temporary keys, in hand-written DER. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface Signer {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface Validity {
  readonly from: number;
  readonly to: number;
}

export const rsaSigner = (modulusLength = 2048): Signer => generateKeyPairSync('rsa', { modulusLength });
export const ecSigner = (namedCurve = 'P-256'): Signer => generateKeyPairSync('ec', { namedCurve });
export const ed25519Signer = (): Signer => generateKeyPairSync('ed25519');

const tags = { integer: 0x02, bits: 0x03, utf8: 0x0c, generalizedTime: 0x18, sequence: 0x30, set: 0x31, version: 0xa0 };

/** RSA with SHA-256 and parameters NULL, ECDSA with SHA-256, Ed25519, and the attribute `commonName`. */
const algorithms: Readonly<Record<string, Buffer>> = {
  rsa: Buffer.from('06092a864886f70d01010b0500', 'hex'),
  ec: Buffer.from('06082a8648ce3d040302', 'hex'),
  ed25519: Buffer.from('06032b6570', 'hex'),
};
const commonName = Buffer.from('0603550403', 'hex');

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length;
  const prefix =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(prefix), content]);
}

/** `YYYYMMDDHHMMSSZ`. */
const generalizedTime = (time: number): Buffer =>
  der(tags.generalizedTime, Buffer.from(new Date(time).toISOString().replace(/\.\d+|[-:T]/g, '')));

/** Returns a certificate in DER. */
export function certificateOf(
  { privateKey, publicKey }: Signer,
  { from, to }: Validity,
  subject = 'throwaway test key',
): Buffer {
  const kind = publicKey.asymmetricKeyType!;
  const algorithm = der(tags.sequence, algorithms[kind]!);
  const name = der(tags.sequence, der(tags.set, der(tags.sequence, commonName, der(tags.utf8, Buffer.from(subject)))));
  const content = der(
    tags.sequence,
    der(tags.version, der(tags.integer, Buffer.of(2))),
    der(tags.integer, Buffer.of(1)),
    algorithm,
    name,
    der(tags.sequence, generalizedTime(from), generalizedTime(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign(kind === 'ed25519' ? null : 'sha256', content, privateKey);
  return der(tags.sequence, content, algorithm, der(tags.bits, Buffer.of(0), signature));
}

export const pemOf = (certificate: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
