/** Clients of the authorization server, and other servers that a storage can trust. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import type { StorageUnderTest } from './conformance.js';
import { type Answer, request } from './http.js';
import { credential, type Identity, nowSeconds } from './identity.js';
import { type Json, jws, type SigningKey, signingKey } from './jwt.js';
import { mediaType } from './rdf.js';
import { type RemoteHost, remote } from './remote.js';

export const tokenType = 'urn:ietf:params:oauth:token-type:';
export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Storage of a token request. */
export type Storage = Pick<StorageUnderTest, 'root'>;

/** Returns the base URI of a storage: its root without the trailing slash. */
export const baseOf = ({ root }: Storage): string => root.slice(0, -1);

/** Returns the URL of an issuer's metadata (RFC 8414 section 3.1). */
export function metadataIri(issuer: string, name = 'lws-configuration'): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/${name}${pathname === '/' ? '' : pathname}`;
}

type Fields = Readonly<Record<string, string>>;
export type Form = readonly [string, string][];

/** Returns the form of a valid token request. */
export const form = (s: Storage, subjectToken: string, kind = 'jwt'): Form => [
  ['grant_type', exchangeGrant],
  ['resource', s.root],
  ['subject_token', subjectToken],
  ['subject_token_type', tokenType + kind],
];

/** Returns the form with other values. `undefined` removes a parameter. */
export const changed = (fields: Form, changes: Readonly<Record<string, string | undefined>>): Form => [
  ...fields.filter(([name]) => !(name in changes)),
  ...Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  ),
];

export function requestToken(s: Storage, fields: Form, headers: Fields = {}): Promise<Answer> {
  return request(`${s.root}.lws/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams([...fields]).toString(),
  });
}

/** Requests an access token for the owner of a did:key. */
export async function accessToken(s: Storage, owner: Identity, headers: Fields = {}): Promise<string> {
  const answer = await requestToken(s, form(s, credential(owner, { aud: baseOf(s) })), headers);
  expect(answer.status, answer.text).to.equal(200);
  return (JSON.parse(answer.text) as { access_token: string }).access_token;
}

/** Fetches a public JSON document. */
export async function json<T>(iri: string): Promise<T> {
  const answer = await request(iri);
  expect(answer.status, answer.text).to.equal(200);
  return JSON.parse(answer.text) as T;
}

export const jwksOf = (s: Storage): Promise<JSONWebKeySet> => json(`${s.root}.lws/jwks`);

/** Returns the claims of a token, verified by an independent library. */
export async function verified(s: Storage, token: string): Promise<JWTPayload> {
  const options = { issuer: baseOf(s), audience: s.root, typ: 'at+jwt', algorithms: ['ES256'] };
  return (await jwtVerify(token, createLocalJWKSet(await jwksOf(s)), options)).payload;
}

/** Asserts an error response of RFC 6749 section 5.2 with one of the errors. */
export function expectOauthError(answer: Answer, ...errors: string[]): void {
  expect(answer.status, answer.text).to.equal(400);
  expect(mediaType(answer), answer.text).to.equal('application/json');
  expect(answer.headers['cache-control']).to.equal('no-store');
  const body = JSON.parse(answer.text) as Record<string, unknown>;
  expect(body['error'], answer.text).to.be.oneOf(errors);
  // Characters allowed by RFC 6749 section 5.2.
  expect(body['error_description']).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(body).not.to.have.any.keys('access_token', 'stack');
}

/** Asserts that the presented credential is rejected. */
export function expectRefused(answer: Answer, error = 'invalid_token'): void {
  expect(answer.status, answer.text.slice(0, 200)).to.equal(401);
  expect(answer.headers['www-authenticate']).to.include(`error="${error}"`);
}

export const bearer = (iri: string, token: string, headers: Fields = {}): Promise<Answer> =>
  request(iri, { headers: { Authorization: `Bearer ${token}`, ...headers } });

/** Another authorization server. Its access tokens are valid by default. */
export class TrustedIssuer {
  readonly issuer: string;
  key: SigningKey;

  constructor(
    readonly host: RemoteHost = remote,
    readonly path = host.path('issuer'),
    alg = 'ES256',
  ) {
    this.issuer = host.origin + path;
    this.key = signingKey(alg);
    host.serve(this.metadataPath, this.metadata);
    this.publish([this.key.jwk]);
  }

  get metadataPath(): string {
    return new URL(metadataIri(this.issuer)).pathname;
  }

  get jwksPath(): string {
    return `${this.path}/jwks`;
  }

  get metadata(): Json {
    const { issuer, host } = this;
    return { issuer, jwks_uri: host.origin + this.jwksPath, token_endpoint: `${issuer}/token` };
  }

  publish(keys: readonly Json[]): void {
    this.host.serve(this.jwksPath, { keys });
  }

  claims(aud: unknown, sub: string): Json {
    const iat = nowSeconds();
    const jti = randomUUID();
    return { iss: this.issuer, sub, client_id: 'https://app.example/id', aud, jti, iat, nbf: iat, exp: iat + 300 };
  }

  /** Returns an access token. @param changes overrides of the claims, `undefined` removes one */
  token(aud: unknown, sub: string, changes: Json = {}, header: Json = {}, key = this.key): string {
    return jws(key, { typ: 'at+jwt', ...header }, { ...this.claims(aud, sub), ...changes });
  }
}
