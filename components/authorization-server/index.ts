/**
 * The embedded authorization server: RFC 8693 token exchange for tokens of this storage, RFC 8414 metadata, a JWKS (rule 15.3).
 * Nothing else of OAuth: no authorization codes, no refresh tokens, no client registration.
 */
import { join } from 'node:path';
import { defineComponent } from '../../lib/component/contract.js';
import { flag, integer, setting } from '../../lib/settings.js';
import { tokenRoutes } from './routes.js';
import { SignInLinks } from './sign-in-links.js';
import { SigningKeys } from './signing-keys.js';

const settings = {
  enabled: setting(
    'lws.oauth.enabled',
    flag,
    true,
    'Embed an authorization server that exchanges credentials for access tokens.',
  ),
  lifetime: setting(
    'lws.oauth.access-token-lifetime-seconds',
    integer(1, 86_400),
    300,
    'Seconds that an access token is valid; never longer than the credential that it was exchanged for.',
    'storage',
  ),
  requests: setting(
    'lws.rate-limit.token-requests',
    integer(0),
    600,
    'Token requests of one address in a minute before it has to wait, in all storages of the server; 0: no limit.',
  ),
};

const keysIn = (dataDir: string): string => join(dataDir, 'oauth-keys.json');
/** The longest lifetime that the setting allows: so long a token of an old key may still be about. */
const longestLifetime = 86_400;

export default defineComponent({
  name: 'authorization-server',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { lifetime, requests }) {
    const keys = await SigningKeys.open(keysIn(platform.dataDir), longestLifetime, (error) =>
      platform.log.error({ err: error }, 'the signing keys cannot be read again'),
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
      help: 'sign access tokens with a new key from now on; the old one verifies for another day',
      example: 'rotate-keys --data-dir=lws-data',
      async run({ assertStorage, dataDir, print }) {
        assertStorage();
        const keys = await SigningKeys.open(keysIn(dataDir), longestLifetime);
        print(
          `Access tokens are signed with the key ${await keys.rotate()} now; a running server takes it up by itself.`,
        );
        return 0;
      },
    },
  },
});
