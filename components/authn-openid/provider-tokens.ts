/** Verifies tokens of OpenID providers: checks without a fetch, keys of the issuer, and claims. */
import type { CryptoKey, JWTPayload } from 'jose';
import { type AudiencePolicy, assertAudience, clockSkew } from '../../lib/authentication/audience.js';
import { type IssuerKeys, issuerKeys } from '../../lib/authentication/issuer-keys.js';
import { boundKey, type UnverifiedJwt } from '../../lib/authentication/jwt.js';
import { refusedCredential, type VerifiedCredential } from '../../lib/authentication/suite.js';
import type { Platform } from '../../lib/component/contract.js';
import { lruCache } from '../../lib/tools/caches.js';
import { isSecureUrl } from '../../lib/tools/outbound/address-policy.js';

/** Rejects tokens by checks that need no fetch. @throws LwsError `invalid-token` */
export function assertPlausible({ aud, exp, iss, sub }: UnverifiedJwt['payload'], audience: AudiencePolicy): void {
  assertAudience(aud, audience);
  if (typeof exp !== 'number' || exp < Date.now() / 1000 - clockSkew)
    throw refusedCredential('The credential has expired.', `exp is ${String(exp)}`);
  // An issuer on this machine is fetched only if `lws.fetch.allowed-hosts` lists it.
  if (!isSecureUrl(String(iss)))
    throw refusedCredential(
      'The identity provider must be an https URL.',
      `iss is ${String(iss).slice(0, 300)}, sub ${String(sub).slice(0, 300)}`,
    );
}

export const verifiedBy = (claims: JWTPayload, subject: string, client: unknown): VerifiedCredential => ({
  principal: { subject, issuer: claims.iss!, ...(typeof client === 'string' ? { client } : {}) },
  expires: claims.exp! * 1000,
  // Time of the next verification: the subject may remove the provider, and the provider rotates its keys.
  verifyAgain: Date.now() + 300_000,
  ...boundKey(claims),
});

/**
 * Returns the key with which an OpenID provider signed a token. Call it only if the document of the subject names the provider.
 * @throws LwsError `too-busy`, or `invalid-token` if the provider does not publish the key or cannot be reached
 */
export type ProviderKeys = (jwt: UnverifiedJwt, address: string, kind?: 'ID' | 'access') => Promise<CryptoKey>;

export function providerKeys({ fetch, clock }: Platform): ProviderKeys {
  // Cached providers. A provider is cached only if a subject names it, so an attacker needs a document for each entry.
  const providers = lruCache<IssuerKeys>(1_000);
  return async ({ header, payload }, address, kind = 'ID') => {
    const issuer = payload['iss'] as string;
    // OpenID Connect Discovery 1.0, 4: the path is appended to the issuer, not inserted before its path.
    const metadataUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const keys = providers.get(issuer) ?? issuerKeys({ fetch, issuer, metadataUrl, clock });
    providers.set(issuer, keys);
    const key = await keys.key(header['kid'] as string | undefined, String(header['alg']), address);
    if (key) return key;
    throw refusedCredential(
      `The ${kind} token is signed with a key that its provider does not publish.`,
      `kid is ${String(header['kid']).slice(0, 200)}, alg ${String(header['alg']).slice(0, 20)}`,
    );
  };
}
