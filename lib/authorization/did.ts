/** DIDs: did:key, which is a public key itself, and where the document of a did:web lies. */
import { LwsError } from '../errors.js';
import { isAbsoluteIri } from '../rdf/iri.js';
import { multikeyOf, type PublicJwk, readMultikey } from './multikey.js';

export const didKeyOf = (jwk: PublicJwk): string => `did:key:${multikeyOf(jwk)}`;

/** The key of a did:key identifier and the id of its one verification method; nothing is looked up. */
export function expandDidKey(did: string): { readonly key: PublicJwk; readonly method: string } | undefined {
  const [, multikey] = /^did:key:(z[1-9A-HJ-NP-Za-km-z]+)$/.exec(did) ?? [];
  const key = multikey === undefined ? undefined : readMultikey(multikey);
  return key && { key, method: `${did}#${multikey}` };
}

/** Whether an identifier can be somebody's: an absolute IRI, and for a did:key one that decodes to a supported key. */
export const isIdentity = (text: string): boolean =>
  isAbsoluteIri(text) && (!/^did:key:/i.test(text) || expandDidKey(text) !== undefined);

export const noIdentity = (text: string): LwsError =>
  new LwsError(
    'bad-request',
    `${text} is nobody's identity: it has to be an absolute IRI, and a did:key the text of a supported key (Ed25519, P-256, P-384, P-521).`,
  );

/** The URL of the document of a did:web (its method specification, "Read"); `undefined` for any other identifier. */
export function didWebUrl(did: string): string | undefined {
  const [, host, path] = /^did:web:([A-Za-z0-9.-]+(?:%3A\d{1,5})?)((?::[A-Za-z0-9._~-]+)*)$/i.exec(did) ?? [];
  if (host === undefined || path === undefined || /:\.{1,2}(?::|$)/.test(path)) return undefined;
  const folder = path === '' ? '/.well-known' : path.replaceAll(':', '/');
  return `https://${host.replace(/%3A/i, ':')}${folder}/did.json`;
}
