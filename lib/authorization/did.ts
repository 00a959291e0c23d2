/** DIDs: did:key, which contains the public key, and the document URL of a did:web. */

import { isAbsoluteIri } from '../rdf/iri.js';
import { LwsError } from '../tools/errors.js';
import { multikeyOf, type PublicJwk, readMultikey } from './multikey.js';

export const didKeyOf = (jwk: PublicJwk): string => `did:key:${multikeyOf(jwk)}`;

/** Returns the key in a did:key, and the ID of its only verification method. Returns `undefined` for other identifiers. */
export function expandDidKey(did: string): { readonly key: PublicJwk; readonly method: string } | undefined {
  const [, multikey] = /^did:key:(z[1-9A-HJ-NP-Za-km-z]+)$/.exec(did) ?? [];
  const key = multikey === undefined ? undefined : readMultikey(multikey);
  return key && { key, method: `${did}#${multikey}` };
}

/** True for a valid identity: an absolute IRI. A did:key must contain a supported key. */
export const isIdentity = (text: string): boolean =>
  isAbsoluteIri(text) && (!/^did:key:/i.test(text) || expandDidKey(text) !== undefined);

export const noIdentity = (text: string): LwsError =>
  new LwsError(
    'bad-request',
    `${text} is not a valid identity. Enter an absolute URI. A did:key must contain a complete Ed25519, P-256, P-384 or P-521 key.`,
  );

/** Returns the document URL of a did:web (section "Read" of its specification), or `undefined` for other identifiers. */
export function didWebUrl(did: string): string | undefined {
  const [, host, path] = /^did:web:([A-Za-z0-9.-]+(?:%3A\d{1,5})?)((?::[A-Za-z0-9._~-]+)*)$/i.exec(did) ?? [];
  if (host === undefined || path === undefined || /:\.{1,2}(?::|$)/.test(path)) return undefined;
  const folder = path === '' ? '/.well-known' : path.replaceAll(':', '/');
  return `https://${host.replace(/%3A/i, ':')}${folder}/did.json`;
}
