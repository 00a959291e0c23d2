/** Authentication suite for OpenID Connect: accepts ID tokens of a provider that the subject's document names (rule 15.10). */
import { readJwt, type UnverifiedJwt, verifyJwt } from '../../lib/authentication/jwt.js';
import { refusedCredential, type Suite } from '../../lib/authentication/suite.js';
import { defineComponent } from '../../lib/component/component.js';
import type { Platform } from '../../lib/component/contract.js';
import { assertPlausible, type ProviderKeys, providerKeys, verifiedBy } from './provider-tokens.js';

export default defineComponent({
  name: 'authn-openid',
  settings: {},
  isEnabled: () => true,
  async install(platform) {
    const keyOf = providerKeys(platform);
    const tokens = platform.profile?.tokenScopes
      ? [(await import('./solid-tokens.js')).solidTokenSuite(platform, keyOf)]
      : [];
    return {
      capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-authn-openid/' }],
      suites: [openIdSuite(platform, keyOf), ...tokens],
    };
  },
});

const openIdSuite = (platform: Platform, keyOf: ProviderKeys): Suite => ({
  name: 'OpenID Connect',
  // The spelling with a hyphen is a common mistake, and accepted (rule 15.4).
  tokenTypes: ['urn:ietf:params:oauth:token-type:id_token', 'urn:ietf:params:oauth:token-type:id-token'],
  recognises: (credential) => isIdToken(readJwt(credential)),
  async verify(credential, address) {
    const jwt = readJwt(credential)!;
    const { iss, sub } = jwt.payload as { iss: string; sub: string };
    assertPlausible(jwt.payload, platform.authentication.audience);
    const { openIdProviders } = await platform.authentication.identifiers(sub, address);
    if (!openIdProviders.includes(iss))
      throw refusedCredential(
        'The document of the subject does not name this identity provider.',
        `iss is ${iss.slice(0, 300)}, ${sub.slice(0, 300)} names ${openIdProviders.join(' ').slice(0, 500) || 'none'}`,
      );
    const claims = await verifyJwt(credential, await keyOf(jwt, address), { required: ['exp', 'iat', 'iss', 'sub'] });
    return verifiedBy(claims, claims.sub!, claims['azp']);
  },
});

/** True for a JWT whose `iss` differs from `sub`, unless it is an access token. */
function isIdToken(jwt: UnverifiedJwt | undefined): boolean {
  if (!jwt || /at\+jwt$/i.test(String(jwt.header['typ'] ?? ''))) return false;
  const { iss, sub } = jwt.payload;
  return typeof iss === 'string' && typeof sub === 'string' && iss !== sub;
}
