/** Access tokens (RFC 9068) of the built-in authorization server and of trusted authorization servers (rule 15.7). */
import type { CryptoKey, JWTPayload } from 'jose';
import { isSameIssuer } from './issuer-keys.js';
import { boundKey, readJwt, type UnverifiedJwt, verifyJwt } from './jwt.js';
import { refusedCredential, type Suite, type VerifiedCredential } from './suite.js';

/** Authorization server whose tokens are accepted. */
export interface TrustedIssuer {
  /** Value of the claim `iss`. */
  readonly issuer: string;
  /** Returns the verification key with this ID, or `undefined`. @throws LwsError if the issuer cannot be reached */
  key(kid: string | undefined, algorithm: string): Promise<CryptoKey | undefined>;
}

export interface AccessTokenOptions {
  readonly issuers: () => readonly TrustedIssuer[];
  /** Accepted audiences: the storage URI, with and without a trailing slash. */
  readonly audiences: ReadonlySet<string>;
}

/** True for the type `at+jwt`, with or without `application/` (RFC 9068 4). */
const isAccessTokenType = (typ: unknown): boolean =>
  typeof typ === 'string' && /^(?:application\/)?at\+jwt$/i.test(typ);

/** Suites for access tokens. `ofTrusted` recognizes only tokens that an accepted issuer has issued for this storage. */
export interface AccessTokenSuites {
  readonly all: Suite;
  readonly ofTrusted: Suite;
}

export function accessTokenSuites({ issuers, audiences }: AccessTokenOptions): AccessTokenSuites {
  const issuerOf = ({ payload }: UnverifiedJwt) =>
    issuers().find((candidate) => isSameIssuer(candidate.issuer, payload['iss']));
  const all: Suite = {
    name: 'access token',
    schemes: ['bearer', 'dpop'],
    recognises: (credential) => isAccessTokenType(readJwt(credential)?.header['typ']),
    async verify(credential) {
      const jwt = readJwt(credential)!;
      const { header, payload } = jwt;
      const issuer = issuerOf(jwt);
      if (!issuer)
        throw refusedCredential(
          'The access token is from an authorization server that this server does not trust.',
          `iss is ${String(payload['iss']).slice(0, 300)}, trusted (lws.oauth.trusted-issuers) are ${issuers()
            .map((each) => each.issuer)
            .join(' ')}`,
        );
      if (!isAudience(payload['aud'], audiences))
        throw refusedCredential(
          'The access token must be for this storage only.',
          `aud is ${String(JSON.stringify(payload['aud'])).slice(0, 300)}, expected ${[...audiences][0]}`,
        );
      const key = await issuer.key(header['kid'] as string | undefined, String(header['alg']));
      if (!key)
        throw refusedCredential(
          'The access token is signed with a key that its issuer does not publish.',
          `kid is ${String(header['kid']).slice(0, 200)}, alg ${String(header['alg']).slice(0, 20)}`,
        );
      const claims = await verifyJwt(credential, key, {
        required: ['exp', 'iat', 'sub', 'client_id', 'jti', 'iss', 'aud'],
      });
      return verifiedBy(claims);
    },
  };
  const recognises = (credential: string): boolean => {
    const jwt = all.recognises(credential) ? readJwt(credential)! : undefined;
    return jwt !== undefined && issuerOf(jwt) !== undefined && isAudience(jwt.payload['aud'], audiences);
  };
  return { all, ofTrusted: { ...all, recognises } };
}

/** True if the audience is exactly one value: this storage. */
function isAudience(aud: unknown, audiences: ReadonlySet<string>): boolean {
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return values.length === 1 && audiences.has(values[0] as string);
}

function verifiedBy(claims: JWTPayload): VerifiedCredential {
  const { sub, iss, client_id: client, exp } = claims;
  return {
    principal: { subject: sub!, client: client as string, issuer: iss! },
    expires: exp! * 1000,
    // Time when the token is verified again, in milliseconds: the issuer may have removed its key.
    verifyAgain: Date.now() + 300_000,
    ...boundKey(claims),
  };
}
