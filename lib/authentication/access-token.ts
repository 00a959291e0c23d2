/** RFC 9068 access tokens of the embedded authorization server and of trusted ones (rule 15.7). */
import type { CryptoKey, JWTPayload } from 'jose';
import { isSameIssuer } from './issuer-keys.js';
import { boundKey, readJwt, verifyJwt } from './jwt.js';
import { refusedCredential, type Suite, type VerifiedCredential } from './suite.js';

/** An authorization server with accepted tokens. */
export interface TrustedIssuer {
  /** Value of the `iss` claim. */
  readonly issuer: string;
  /** Returns the verification key with this id, or `undefined`. @throws LwsError if the issuer cannot be reached */
  key(kid: string | undefined, algorithm: string): Promise<CryptoKey | undefined>;
}

export interface AccessTokenOptions {
  readonly issuers: () => readonly TrustedIssuer[];
  /** The storage URI, with and without a trailing slash. */
  readonly audiences: ReadonlySet<string>;
}

/** RFC 9068 4: `at+jwt`, with or without `application/`. */
const isAccessTokenType = (typ: unknown): boolean =>
  typeof typ === 'string' && /^(?:application\/)?at\+jwt$/i.test(typ);

export function accessTokenSuite({ issuers, audiences }: AccessTokenOptions): Suite {
  return {
    name: 'access token',
    schemes: ['bearer', 'dpop'],
    recognises: (credential) => isAccessTokenType(readJwt(credential)?.header['typ']),
    async verify(credential) {
      const { header, payload } = readJwt(credential)!;
      const trusted = issuers();
      const issuer = trusted.find((candidate) => isSameIssuer(candidate.issuer, payload['iss']));
      if (!issuer)
        throw refusedCredential(
          'The access token is from an authorization server that this server does not trust.',
          `iss is ${String(payload['iss']).slice(0, 300)}, trusted (lws.oauth.trusted-issuers) are ${trusted.map((each) => each.issuer).join(' ')}`,
        );
      assertAudience(payload['aud'], audiences);
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
}

/** Exactly one value: this storage. */
function assertAudience(aud: unknown, audiences: ReadonlySet<string>): void {
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (values.length !== 1 || !audiences.has(values[0] as string))
    throw refusedCredential(
      'The access token must be for this storage only.',
      `aud is ${String(JSON.stringify(aud)).slice(0, 300)}, expected ${[...audiences][0]}`,
    );
}

function verifiedBy(claims: JWTPayload): VerifiedCredential {
  const { sub, iss, client_id: client, exp } = claims;
  return {
    principal: { subject: sub!, client: client as string, issuer: iss! },
    expires: exp! * 1000,
    // Keys rotate. A token should not outlive its key by more than this.
    verifyAgain: Date.now() + 300_000,
    ...boundKey(claims),
  };
}
