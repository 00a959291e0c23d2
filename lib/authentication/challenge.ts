/** Challenges in 401 responses (rule 15.1, RFC 6750 section 3, RFC 9449 section 7, RFC 9728 section 5.1). */
import type { LwsError } from '../tools/errors.js';
import { signatureAlgorithms } from './jwt.js';

export interface ChallengePolicy {
  /** URI of the storage. */
  readonly realm: string;
  /** Authorization server that issues tokens, if there is one. */
  readonly authorizationServer: string | undefined;
  /** URL of the protected resource metadata (RFC 9728), if there is an authorization server. */
  readonly resourceMetadata: string;
  /** True if bearer tokens are rejected, and therefore not offered (`lws.dpop.require`). */
  readonly dpopOnly: boolean;
  /** Scopes to request from an OpenID provider whose access tokens are accepted (rule 20.11). */
  readonly scope?: string | undefined;
}

const quoted = (text: string): string => `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, "'")}"`;

const errors: Readonly<Record<string, string>> = {
  'invalid-token': 'invalid_token',
  'invalid-request': 'invalid_request',
  'use-dpop-nonce': 'use_dpop_nonce',
  forbidden: 'insufficient_scope',
};

/** Returns the `WWW-Authenticate` values for a request with a missing or rejected credential. */
export function challenges(
  { realm, authorizationServer, resourceMetadata, dpopOnly, scope }: ChallengePolicy,
  error: LwsError,
): string[] {
  const code = errors[error.code];
  const detail = code === undefined ? '' : `, error="${code}", error_description=${quoted(error.message)}`;
  const server =
    authorizationServer === undefined
      ? ''
      : `as_uri=${quoted(authorizationServer)}, resource_metadata=${quoted(resourceMetadata)}, `;
  const ofDpop = dpopOnly || error.scheme === 'DPoP';
  const bearer = `Bearer ${server}realm=${quoted(realm)}${ofDpop ? '' : detail}`;
  const scopes = scope === undefined ? '' : `, scope=${quoted(scope)}`;
  const algorithms = `algs="${signatureAlgorithms.join(' ')}"`;
  const dpop = `DPoP ${server}realm=${quoted(realm)}, ${algorithms}${scopes}${ofDpop ? detail : ''}`;
  return dpopOnly ? [dpop] : [bearer, dpop];
}
