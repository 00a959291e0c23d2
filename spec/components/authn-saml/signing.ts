/** Signs by hand: every part of a Signature can be invalid and is still signed, as with an attacker's key. */
import { constants, createHash, createHmac, type KeyObject, sign } from 'node:crypto';
import { createRequire } from 'node:module';
import { ExclusiveCanonicalization } from 'xml-crypto';
import type { Signer } from '../../support/x509.js';

const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as {
  DOMParser: new () => { parseFromString(text: string, type: string): { documentElement: { firstChild: unknown } } };
};

export const dsNamespace = 'http://www.w3.org/2000/09/xmldsig#';
export const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

type Change = (text: string) => string;
const same: Change = (text) => text;

export interface SignatureParts {
  readonly signer: Signer;
  readonly uri?: string;
  readonly method?: string;
  /** Signs octets, by default according to the method. */
  readonly signWith?: (octets: Buffer) => Buffer;
  readonly canonicalization?: string;
  readonly transforms?: readonly string[];
  readonly digestMethod?: string;
  readonly hash?: string;
  /** Content of the digest. Default: the assertion. */
  readonly digested?: string;
  /** Changes the signed content: the canonical SignedInfo, written with the prefix `ds`. */
  readonly signedInfo?: Change;
  readonly signatureValue?: Change;
  /** Inserted after SignatureValue. */
  readonly keyInfo?: string;
  /** Changes the finished Signature, after signing. */
  readonly signature?: Change;
}

const algorithm = (name: string, uri: string): string => `<ds:${name} Algorithm="${uri}"></ds:${name}>`;

export const transformsOf = (uris: readonly string[]): string =>
  `<ds:Transforms>${uris.map((uri) => algorithm('Transform', uri)).join('')}</ds:Transforms>`;

/** Returns the Signature of an assertion in canonical form. */
export function signatureOf(assertion: string, parts: SignatureParts): string {
  const { uri = '#_a1', method = rsaSha256, canonicalization = exclusive, transforms = [enveloped, exclusive] } = parts;
  const { digestMethod = sha256, hash = 'sha256', digested = assertion, keyInfo = '' } = parts;
  const { signedInfo: change = same, signatureValue: changeValue = same, signature: changeSignature = same } = parts;
  const digest = createHash(hash).update(digested).digest('base64');
  const reference = `<ds:Reference URI="${uri}">${transformsOf(transforms)}${algorithm('DigestMethod', digestMethod)}<ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`;
  const signedInfo = change(
    `<ds:SignedInfo>${algorithm('CanonicalizationMethod', canonicalization)}${algorithm('SignatureMethod', method)}${reference}</ds:SignedInfo>`,
  );
  const octets = Buffer.from(canonical(signedInfo));
  const value = (parts.signWith ?? signerOf(method, parts.signer.privateKey))(octets).toString('base64');
  return changeSignature(
    `<ds:Signature xmlns:ds="${dsNamespace}">${signedInfo}<ds:SignatureValue>${changeValue(value)}</ds:SignatureValue>${keyInfo}</ds:Signature>`,
  );
}

/** Returns an assertion with its signature after the issuer, as in the schema. */
export function signed(assertion: string, parts: SignatureParts): string {
  return insertAfterIssuer(assertion, signatureOf(assertion, parts));
}

export const insertAfterIssuer = (assertion: string, part: string): string =>
  assertion.includes('</saml:Issuer>')
    ? assertion.replace('</saml:Issuer>', `</saml:Issuer>${part}`)
    : assertion.replace('</saml:Assertion>', `${part}</saml:Assertion>`);

/** Returns the canonical form of a SignedInfo with the prefix `ds`. */
function canonical(signedInfo: string): string {
  const wrapped = new DOMParser().parseFromString(`<ds:S xmlns:ds="${dsNamespace}">${signedInfo}</ds:S>`, 'text/xml');
  return new ExclusiveCanonicalization().process(wrapped.documentElement.firstChild as never, {});
}

function signerOf(method: string, key: KeyObject): (octets: Buffer) => Buffer {
  const hash = `sha${/sha(\d+)/.exec(method)?.[1] ?? '256'}`;
  if (method.includes('hmac')) throw new Error('HMAC has no private key: give signWith');
  if (method.includes('MGF1'))
    return (octets) =>
      sign(hash, octets, {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      });
  if (method.includes('ecdsa')) return (octets) => sign(hash, octets, { key, dsaEncoding: 'ieee-p1363' });
  return (octets) => sign(hash, octets, key);
}

/** The classic key confusion: a public key as the secret of an HMAC. */
export const hmacWith =
  (hash: string, secret: string | Buffer) =>
  (octets: Buffer): Buffer =>
    createHmac(hash, secret).update(octets).digest();
