/** Subjects with a dereferenceable identifier: their documents on a host, their keys and credentials. */
import { randomUUID } from 'node:crypto';
import { base58 } from '@scure/base';
import { nowSeconds } from './identity.js';
import { type Json, jws, type SigningKey, signingKey } from './jwt.js';
import { type RemoteHost, remote, type Served } from './remote.js';

export const cidContext = 'https://www.w3.org/ns/cid/v1';
export const lwsContext = 'https://www.w3.org/ns/lws/v1';

const prefixes: Readonly<Record<string, readonly number[]>> = {
  EdDSA: [0xed, 0x01],
  ES256: [0x80, 0x24],
  ES384: [0x81, 0x24],
  ES512: [0x82, 0x24],
};

/** Returns the public key as a Multikey. */
export function multikey({ alg, jwk }: SigningKey): string {
  const x = Buffer.from(jwk['x'] as string, 'base64url');
  const point = alg === 'EdDSA' ? x : [2 + (Buffer.from(jwk['y'] as string, 'base64url').at(-1)! & 1), ...x];
  return `z${base58.encode(Uint8Array.from([...prefixes[alg]!, ...point]))}`;
}

/** Returns the did:key of a key. */
export const didKey = (key: SigningKey): string => `did:key:${multikey(key)}`;

export class Subject {
  readonly key: SigningKey;

  constructor(
    /** Identifier. */
    readonly iri: string,
    /** Path of its document. */
    readonly path: string,
    alg = 'ES256',
    readonly host: RemoteHost = remote,
  ) {
    this.key = signingKey(alg, 'key-1');
  }

  get kid(): string {
    return `${this.iri}#key-1`;
  }

  /** Returns a valid verification method of type JsonWebKey. */
  method(changes: Json = {}): Json {
    const { iri: controller, kid: id } = this;
    return { id, type: 'JsonWebKey', controller, publicKeyJwk: this.key.jwk, ...changes };
  }

  multikeyMethod(changes: Json = {}): Json {
    const { iri: controller, kid: id } = this;
    return { id, type: 'Multikey', controller, publicKeyMultibase: multikey(this.key), ...changes };
  }

  /** Returns a valid document. @param changes overrides of its members, `undefined` removes one */
  document(changes: Json = {}): Json {
    const { iri: id, kid } = this;
    return { '@context': [cidContext], id, verificationMethod: [this.method()], authentication: [kid], ...changes };
  }

  publish(document: unknown = this.document(), served: Served = { type: 'application/json' }): this {
    this.host.serve(this.path, document, served);
    return this;
  }

  /** Returns a self-signed credential. @param claims overrides of the claims */
  credential(aud: unknown, claims: Json = {}, header: Json = {}, signer = this.key): string {
    const { iri, kid } = this;
    const iat = nowSeconds();
    const good = { iss: iri, sub: iri, client_id: iri, aud, iat, exp: iat + 300, jti: randomUUID() };
    return jws(signer, { typ: 'JWT', kid, ...header }, { ...good, ...claims });
  }
}

/** Creates a subject whose identifier is the URL of its document. */
export function webSubject(alg = 'ES256', host: RemoteHost = remote): Subject {
  const path = host.path('subject');
  return new Subject(host.origin + path, path, alg, host);
}

/** Creates a did:web below the host, or for the host itself. */
export function didWebSubject(name?: string, host: RemoteHost = remote): Subject {
  const did = `did:web:${host.authority.replace(':', '%3A')}`;
  return name === undefined
    ? new Subject(did, '/.well-known/did.json')
    : new Subject(`${did}:${name.replaceAll('/', ':')}`, `/${name}/did.json`);
}

/** OpenID provider. */
export class Provider {
  readonly issuer: string;
  key = signingKey('RS256');

  constructor(
    readonly host: RemoteHost = remote,
    readonly path = host.path('provider'),
  ) {
    this.issuer = host.origin + path;
    this.publish();
  }

  get jwksPath(): string {
    return `${this.path}/jwks`;
  }

  get discoveryPath(): string {
    return `${this.path}/.well-known/openid-configuration`;
  }

  publish(changes: Json = {}, keys: readonly Json[] = [this.key.jwk]): this {
    const { issuer, host } = this;
    host.serve(this.discoveryPath, { issuer, jwks_uri: host.origin + this.jwksPath, ...changes });
    host.serve(this.jwksPath, { keys });
    return this;
  }

  /** Returns an ID token. @param claims overrides of the claims */
  token(sub: string, aud: unknown, claims: Json = {}, header: Json = {}, key = this.key): string {
    const iat = nowSeconds();
    const good = { iss: this.issuer, sub, aud, azp: 'https://app.example/id', iat, exp: iat + 300 };
    return jws(key, { typ: 'JWT', ...header }, { ...good, ...claims });
  }

  /** Returns a subject document that links to this provider. */
  document(id: string, service: Json = {}): Json {
    const own = { type: 'https://www.w3.org/ns/lws#OpenIdProvider', serviceEndpoint: this.issuer, ...service };
    return { '@context': [cidContext, lwsContext], id, service: [own] };
  }
}
