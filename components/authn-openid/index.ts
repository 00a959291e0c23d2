/**
 * Authentication suite of OpenID Connect: an ID token of a provider that the subject's own document names (rule 15.10). Other
 * documents cannot name a provider.
 */

import { assertAudience, clockSkew } from '../../lib/authentication/audience.js';
import { type IssuerKeys, issuerKeys } from '../../lib/authentication/issuer-keys.js';
import { boundKey, readJwt, type UnverifiedJwt, verifyJwt } from '../../lib/authentication/jwt.js';
import { refusedCredential, type Suite, type VerifiedCredential } from '../../lib/authentication/suite.js';
import { lruCache } from '../../lib/caches.js';
import { defineComponent, type Platform } from '../../lib/component/contract.js';
import { isSecureUrl } from '../../lib/outbound/address-policy.js';

export default defineComponent({
  name: 'authn-openid',
  settings: {},
  isEnabled: () => true,
  install: (platform) => ({
    capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-authn-openid/' }],
    suites: [openIdSuite(platform)],
  }),
});

function openIdSuite(platform: Platform): Suite {
  // A provider is cached only after a subject has named it, so filling the cache takes a document per entry.
  const providers = lruCache<IssuerKeys>(1_000);
  return {
    name: 'OpenID Connect',
    // The hyphen is a common misspelling, and accepted (rule 15.4).
    tokenTypes: ['urn:ietf:params:oauth:token-type:id_token', 'urn:ietf:params:oauth:token-type:id-token'],
    recognises: (credential) => isIdToken(readJwt(credential)),
    async verify(credential, address) {
      const { header, payload } = readJwt(credential)!;
      const { iss, sub } = payload as { iss: string; sub: string };
      assertPlausible(payload, platform);
      const { openIdProviders } = await platform.identifiers(sub, address);
      if (!openIdProviders.includes(iss))
        throw refusedCredential(
          'The document of the subject does not name this identity provider.',
          `iss is ${iss.slice(0, 300)}, ${sub.slice(0, 300)} names ${openIdProviders.join(' ').slice(0, 500) || 'none'}`,
        );
      const keys = providers.get(iss) ?? providerKeys(platform, iss);
      providers.set(iss, keys);
      const key = await keys.key(header['kid'] as string | undefined, String(header['alg']), address);
      if (!key)
        throw refusedCredential(
          'The ID token is signed with a key that its provider does not publish.',
          `kid is ${String(header['kid']).slice(0, 200)}, alg ${String(header['alg']).slice(0, 20)}`,
        );
      return verifiedBy(await verifyJwt(credential, key, { required: ['exp', 'iat', 'iss', 'sub'] }));
    },
  };
}

/** `iss` differs from `sub`, and it is not an access token. */
function isIdToken(jwt: UnverifiedJwt | undefined): boolean {
  if (!jwt || /at\+jwt$/i.test(String(jwt.header['typ'] ?? ''))) return false;
  const { iss, sub } = jwt.payload;
  return typeof iss === 'string' && typeof sub === 'string' && iss !== sub;
}

/** Checks that need no request. */
function assertPlausible({ aud, exp, iss, sub }: UnverifiedJwt['payload'], platform: Platform): void {
  assertAudience(aud, platform.audience);
  if (typeof exp !== 'number' || exp < Date.now() / 1000 - clockSkew)
    throw refusedCredential('The credential has expired.', `exp is ${String(exp)}`);
  // An issuer on this machine is fetched only if lws.fetch.allowed-hosts lists it.
  if (!isSecureUrl(String(iss)))
    throw refusedCredential(
      'The identity provider must be an https URL.',
      `iss is ${String(iss).slice(0, 300)}, sub ${String(sub).slice(0, 300)}`,
    );
}

/** OpenID Connect Discovery 1.0, 4: appended to the issuer, not inserted before its path. */
const providerKeys = ({ fetch, clock }: Platform, issuer: string): IssuerKeys =>
  issuerKeys({ fetch, issuer, metadataUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, clock });

function verifiedBy(claims: Awaited<ReturnType<typeof verifyJwt>>): VerifiedCredential {
  const { sub, iss, exp, azp } = claims;
  return {
    principal: { subject: sub!, issuer: iss!, ...(typeof azp === 'string' ? { client: azp } : {}) },
    expires: exp! * 1000,
    // The subject may remove the provider, and the provider rotates its keys.
    verifyAgain: Date.now() + 300_000,
    ...boundKey(claims),
  };
}
