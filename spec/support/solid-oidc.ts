/** Solid-OIDC: WebIDs, access tokens of their providers, and requests with both. Independent of the code under test. */
import { type Answer, request } from './http.js';
import { type Json, signingKey } from './jwt.js';
import { type ProofOptions, proof } from './proofs.js';
import { type RemoteHost, remote } from './remote.js';
import { type Provider, Subject } from './subjects.js';

export const oidcIssuer = 'http://www.w3.org/ns/solid/terms#oidcIssuer';

/** Key of the client. */
export const clientKey = signingKey('ES256');
const { kty, crv, x, y } = clientKey.jwk;

/** Returns the thumbprint of an EC key (RFC 7638). */
const thumbprint = async (): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(JSON.stringify({ crv, kty, x, y })))).toString(
    'base64url',
  );
export const jkt = await thumbprint();

/** Creates a WebID whose document is not published. */
export function webId(host: RemoteHost = remote): Subject {
  const path = host.path('profile');
  return new Subject(`${host.origin}${path}#me`, path, 'ES256', host);
}

export const turtle = { type: 'text/turtle' } as const;

/** Publishes a WebID document in Turtle that names providers. */
export const naming = (subject: Subject, ...issuers: readonly string[]): Subject =>
  subject.publish(issuers.map((issuer) => `<#me> <${oidcIssuer}> <${issuer}> .`).join('\n'), turtle);

/** Creates a WebID of a provider. */
export const webIdOf = ({ issuer, host }: Provider): Subject => naming(webId(host), issuer);

/** Returns an access token for every Solid storage. @param claims overrides of the claims */
export const solidToken = (
  provider: Provider,
  webid: string,
  claims: Json = {},
  header: Json = {},
  key = provider.key,
): string =>
  provider.token(
    'ada',
    'solid',
    { webid, azp: undefined, client_id: 'https://app.example/id', cnf: { jkt }, ...claims },
    { typ: 'at+jwt', ...header },
    key,
  );

/** Sends a request with a token and a proof, as `@inrupt/solid-client-authn` does: without `ath`. */
export function presentSolid(
  iri: string,
  token: string,
  { key = clientKey, method = 'GET', ...options }: ProofOptions & { readonly key?: typeof clientKey } = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const DPoP = proof(key, iri, { method, ...options });
  return request(iri, { method, headers: { Authorization: `DPoP ${token}`, DPoP, ...headers } });
}
