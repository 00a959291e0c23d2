/**
 * The built-in authorization server: RFC 8693 token exchange for tokens of this storage, RFC 8414 metadata and a JWKS (rule
 * 15.3). It has no authorization codes, refresh tokens or client registration.
 */
import { join } from 'node:path';
import { defineComponent } from '../../lib/component/component.js';
import { flag, integer, setting } from '../../lib/settings/settings.js';
import { tokenRoutes } from './routes.js';
import { SignInLinks } from './sign-in-links.js';
import { SigningKeys } from './signing-keys.js';

const settings = {
  enabled: setting(
    'lws.oauth.enabled',
    flag,
    true,
    'Run an embedded authorization server that exchanges credentials for access tokens.',
  ),
  lifetime: setting(
    'lws.oauth.access-token-lifetime-seconds',
    integer(1, 86_400),
    300,
    'Lifetime of an access token, in seconds, limited by the lifetime of the exchanged credential.',
    'storage',
  ),
  requests: setting(
    'lws.rate-limit.token-requests',
    integer(0),
    600,
    'Maximum token requests per client address and minute, over all storages of the server; 0: unlimited.',
  ),
};

const keysIn = (dataDir: string): string => join(dataDir, 'oauth-keys.json');
/** Maximum lifetime of a token in seconds. A retired key must verify tokens for this time. */
const longestLifetime = 86_400;

export default defineComponent({
  name: 'authorization-server',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { lifetime, requests }) {
    const keys = await SigningKeys.open(keysIn(platform.dataDir), longestLifetime, (error) =>
      platform.log.error({ err: error }, 'the signing keys could not be read again'),
    );
    const { coordination } = platform.store;
    if (coordination.hasOthers) keys.onUnknown = async () => coordination.refreshSecrets();
    return {
      routes: tokenRoutes({
        platform,
        keys,
        lifetime,
        requests: platform.throttle('token', requests),
        links: new SignInLinks(platform),
      }),
      authorizationServer: { issuer: platform.baseUri, key: (kid, algorithm) => keys.verificationKey(kid, algorithm) },
    };
  },
  commands: {
    'rotate-keys': {
      help: 'sign access tokens with a new key; the old one verifies for another day',
      example: 'rotate-keys --data-dir=lws-data',
      async run({ assertStorage, dataDir, print }) {
        assertStorage();
        const keys = await SigningKeys.open(keysIn(dataDir), longestLifetime);
        print(
          `Access tokens are now signed with the key ${await keys.rotate()}. A running server loads it automatically.`,
        );
        return 0;
      },
    },
  },
});
