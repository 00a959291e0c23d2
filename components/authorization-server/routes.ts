/** Endpoints of the authorization server: metadata, keys, and the token endpoint (rule 15.3). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignJWT } from 'jose';
import type { DpopProof } from '../../lib/authentication/dpop.js';
import { wellKnownOf } from '../../lib/authentication/issuer-keys.js';
import { signatureAlgorithms } from '../../lib/authentication/jwt.js';
import type { VerifiedCredential } from '../../lib/authentication/suite.js';
import type { Throttle } from '../../lib/authentication/throttle.js';
import { controls } from '../../lib/authorization/guard.js';
import type { Platform } from '../../lib/component/contract.js';
import type { Reply } from '../../lib/http/reply.js';
import { field } from '../../lib/http/request.js';
import { type Route, type RouteRequest, route, urlOfRoute } from '../../lib/http/route.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import { readBody } from '../../lib/resources/body.js';
import { LwsError } from '../../lib/tools/errors.js';
import { OAuthError, oauthErrorReply, oauthFields } from './oauth-error.js';
import type { SignInLinks } from './sign-in-links.js';
import type { SigningKeys } from './signing-keys.js';

export interface TokenIssuer {
  readonly platform: Platform;
  readonly keys: SigningKeys;
  /** Lifetime of a token in seconds. */
  readonly lifetime: number;
  readonly requests: Throttle;
  readonly links: SignInLinks;
}

/** Maximum size of a form in bytes: an assertion in base64, percent-encoded, and the other parameters. */
const longestForm = 256 << 10;
/** Well-known names of the metadata: the name of LWS, and the default name of RFC 8414. */
const metadataNames = ['lws-configuration', 'oauth-authorization-server'];

export function tokenRoutes(issuer: TokenIssuer): readonly Route[] {
  const { platform, keys } = issuer;
  const metadata = { methods: ['GET', 'HEAD'], access: 'public', handle: () => json(metadataOf(platform)) } as const;
  return [
    ...metadataNames.flatMap((name) => {
      const below = `/.well-known/${name}`;
      const inserted = new URL(wellKnownOf(platform.baseUri, name)).pathname;
      // RFC 8414 3.1: the well-known part is inserted before the path of the issuer, so this URL is outside of the storage.
      const elsewhere = inserted === below ? [] : [{ ...metadata, place: 'origin', path: inserted } as const];
      return [{ ...metadata, path: below }, ...elsewhere];
    }),
    route('public', 'GET HEAD {prefix}/jwks', () => json(keys.jwks())),
    route('public', `POST ${tokenPath}`, (request) => answer(issuer, request)),
  ];
}

const json = (document: object): Reply => ({
  status: 200,
  fields: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' },
  body: Buffer.from(JSON.stringify(document)),
});

const tokenPath = '{prefix}/token';

const metadataOf = ({ baseUri, systemPrefix, offered }: Platform): object => ({
  issuer: baseUri,
  token_endpoint: urlOfRoute({ baseUri, systemPrefix }, tokenPath),
  jwks_uri: `${baseUri}${systemPrefix}/jwks`,
  grant_types_supported: [tokenExchange],
  response_types_supported: ['token'],
  token_endpoint_auth_methods_supported: ['none'],
  subject_token_types_supported: [
    ...new Set(offered('suites').flatMap(({ tokenTypes = [] }) => tokenTypes.slice(0, 1))),
  ],
  subject_identifier_types_supported: ['https', 'did:key', 'did:web'],
  claims_supported: ['iss', 'sub', 'client_id', 'aud', 'jti', 'exp', 'nbf', 'iat', 'cnf'],
  dpop_signing_alg_values_supported: signatureAlgorithms,
});

async function answer(issuer: TokenIssuer, request: RouteRequest): Promise<Reply> {
  const { log } = issuer.platform;
  try {
    await issuer.requests.begin(request.address);
    return await exchange(issuer, request);
  } catch (error) {
    const refusal = asOAuthError(error);
    log.info({
      endpoint: 'token',
      error: refusal.code,
      reason: refusal.reason ?? refusal.message,
      address: request.address,
    });
    return oauthErrorReply(refusal);
  }
}

/** Converts an error to an OAuth error: errors of authentication suites to `invalid_request`. Rethrows unexpected errors. */
function asOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (!(error instanceof LwsError)) throw error;
  const status = { 'too-many-requests': 429, 'too-busy': 503 }[error.code as string];
  if (status !== undefined)
    return new OAuthError('temporarily_unavailable', error.message, error.reason, error.fields, status);
  return new OAuthError('invalid_request', error.message, error.reason);
}

async function exchange({ platform, keys, lifetime, links }: TokenIssuer, request: RouteRequest): Promise<Reply> {
  const { subjectToken, subjectTokenType } = readTokenRequest(await readForm(request), platform.rootIri);
  const proof = await proofOf(platform, request.req);
  const credential = await verified(platform, {
    token: subjectToken,
    type: subjectTokenType,
    address: request.address,
  });
  const client = assertUris(credential);
  const { link, principal } = credential;
  if (link === undefined && credential.boundTo !== undefined && credential.boundTo !== proof?.thumbprint)
    throw new OAuthError('invalid_dpop_proof', 'The credential is bound to a key and requires a proof of that key.');
  const now = Math.floor(Date.now() / 1000);
  const expires = Math.min(now + lifetime, Math.floor(credential.expires / 1000));
  if (expires <= now) throw new OAuthError('invalid_request', 'The credential has expired.');
  await proof?.consume();
  if (link !== undefined) {
    const isOwners = await controls(platform, platform.store, { principal });
    await links.bind({ name: link, isOwners, expires: credential.expires }, proof?.thumbprint);
  }
  const { kid, key } = keys.signingKey();
  const token = await new SignJWT({
    client_id: client,
    ...(proof ? { cnf: { jkt: proof.thumbprint } } : {}),
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
    .setIssuer(platform.baseUri)
    .setSubject(principal.subject)
    .setAudience(platform.rootIri)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(expires)
    .sign(key);
  const body = {
    access_token: token,
    issued_token_type: accessTokenType,
    token_type: proof ? 'DPoP' : 'Bearer',
    expires_in: expires - now,
  };
  return { status: 200, fields: oauthFields, body: Buffer.from(JSON.stringify(body)) };
}

async function readForm({ body: open }: RouteRequest): Promise<URLSearchParams> {
  const body = open();
  if (body.mediaType !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'Send the request as application/x-www-form-urlencoded.');
  return new URLSearchParams((await readBody(body, longestForm)).toString('utf8'));
}

/** Returns the DPoP proof, if sent or required. @throws OAuthError `use_dpop_nonce`, `invalid_dpop_proof` (also if missing) */
async function proofOf(platform: Platform, req: IncomingMessage): Promise<DpopProof | undefined> {
  const proof = field(req, 'dpop');
  if (proof === undefined && !platform.authentication.dpop.required) return undefined;
  try {
    return consumable(
      await platform.authentication.dpop.verify(proof, { method: 'POST', url: urlOfRoute(platform, tokenPath) }),
    );
  } catch (error) {
    throw dpopError(error);
  }
}

/** Returns a proof whose `consume` throws an OAuth error. A replayed proof is an invalid proof. */
const consumable = ({ thumbprint, consume }: DpopProof): DpopProof => ({
  thumbprint,
  async consume() {
    try {
      await consume();
    } catch (error) {
      throw dpopError(error);
    }
  },
});

function dpopError(error: unknown): unknown {
  if (!(error instanceof LwsError)) return error;
  const code = error.code === 'use-dpop-nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof';
  return new OAuthError(code, error.message, error.reason, error.fields);
}

async function verified(
  platform: Platform,
  { token, type, address }: { readonly token: string; readonly type: string; readonly address: string },
): Promise<VerifiedCredential> {
  const ofType = platform.offered('suites').filter(({ tokenTypes = [] }) => tokenTypes.includes(type));
  if (ofType.length === 0)
    throw new OAuthError(
      'invalid_request',
      'The subject_token_type is not supported.',
      /^urn:[\w:.-]{1,80}$/.test(type) ? `it is ${type}` : 'it is not a URN',
    );
  const suite = ofType.find(({ recognises }) => recognises(token));
  if (!suite) throw new OAuthError('invalid_request', 'The subject_token does not match its subject_token_type.');
  return suite.verify(token, address);
}

/** Asserts that subject and client are URIs (rule 15.4). @returns the client */
function assertUris({ principal: { subject, client } }: VerifiedCredential): string {
  if (!isAbsoluteIri(subject)) throw new OAuthError('invalid_request', 'The subject of the credential must be a URI.');
  if (client === undefined || !isAbsoluteIri(client))
    throw new OAuthError(
      'invalid_request',
      'The credential must name a client, which is a URI.',
      `client is ${String(client).slice(0, 200)}`,
    );
  return client;
}

const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

export interface TokenRequest {
  readonly subjectToken: string;
  readonly subjectTokenType: string;
}

/**
 * Parses a token exchange request strictly (RFC 8693 2.1), before its credential is verified.
 * @param storage URI of the storage, which `resource` must equal, with or without the trailing slash
 * @throws OAuthError `invalid_request`, `unsupported_grant_type`, `invalid_target`
 */
function readTokenRequest(form: URLSearchParams, storage: string): TokenRequest {
  assertSimple(form);
  const get = (name: string): string | undefined => form.get(name) || undefined;
  const grant = get('grant_type');
  if (grant === undefined) throw invalid('The parameter grant_type is missing.');
  if (grant !== tokenExchange)
    throw new OAuthError('unsupported_grant_type', `The grant type must be ${tokenExchange}.`);
  assertTarget(get('resource'), get('audience'), storage);
  if (get('actor_token') !== undefined || get('actor_token_type') !== undefined)
    throw invalid('Actor tokens are not supported.');
  const requested = get('requested_token_type');
  if (requested !== undefined && requested !== accessTokenType)
    throw invalid(`The requested_token_type must be ${accessTokenType}.`);
  const subjectToken = get('subject_token');
  const subjectTokenType = get('subject_token_type');
  if (subjectToken === undefined || subjectTokenType === undefined)
    throw invalid('The parameters subject_token and subject_token_type are required.');
  return { subjectToken, subjectTokenType };
}

const maxParameters = 100;

/** Asserts that no parameter is repeated (RFC 6749 3.2). Takes one pass, because a form can have very many names. */
function assertSimple(form: URLSearchParams): void {
  const names = new Set<string>();
  for (const name of form.keys()) {
    if (names.has(name)) throw invalid(`The parameter ${name.slice(0, 50)} is repeated.`);
    names.add(name);
    if (names.size > maxParameters) throw invalid(`The request has more than ${maxParameters} parameters.`);
  }
}

/** Asserts that the token is requested for this storage only (RFC 8707 2). */
function assertTarget(resource: string | undefined, audience: string | undefined, storage: string): void {
  if (resource === undefined) throw invalid('The parameter resource is missing. Send the URI of the storage.');
  for (const target of [resource, audience])
    if (target !== undefined && target !== storage && `${target}/` !== storage)
      throw new OAuthError(
        'invalid_target',
        `Tokens are for ${storage} only.`,
        `resource or audience is ${target.slice(0, 300)}`,
      );
}

const invalid = (message: string): OAuthError => new OAuthError('invalid_request', message);
