/** The console: the storage for people, in a browser (rule 1.3; `lws.console.*`, `lws.oidc.*`). */
import { defineComponent, flag, optional, type SettingParser, setting, text } from '../../lib/plugin/component.js';
import { isSecureUrl } from '../../lib/plugin/requests.js';

const configuration: SettingParser<string> = {
  expectation: 'the https URL of an OpenID configuration (http on this machine alone)',
  parse: (raw) => (typeof raw === 'string' && /^https?:\/\/[^\s#]+$/i.test(raw) && isSecureUrl(raw) ? raw : undefined),
};
const uri: SettingParser<string> = {
  expectation: 'a URI',
  parse: (raw) => (typeof raw === 'string' && /^[a-z][a-z0-9+.-]*:[^\s<>"]+$/i.test(raw) ? raw : undefined),
};

export default defineComponent({
  name: 'console',
  settings: {
    enabled: setting('lws.console.enabled', flag, true, 'Serve the console for browsers, at /app.', 'storage'),
    discoveryUri: setting(
      'lws.oidc.discovery-uri',
      optional(configuration),
      null,
      'Where the identity provider of the console describes itself (.../.well-known/openid-configuration).',
    ),
    clientId: setting(
      'lws.oidc.client-id',
      optional(uri),
      null,
      'What the console is called there, a URI; nothing: the URI of the storage.',
    ),
    clientSecret: setting('lws.oidc.client-secret', optional(text('a string')), null, 'The secret that goes with it.'),
  },
  isEnabled: ({ enabled }) => enabled,
  page: '/app',
  // Pages and their routes are read when they are wanted alone.
  async install(platform, openId) {
    const { fileRoutes } = await import('./files.js');
    const { explainRoute, rightsRoute, statusRoute, ticketRoutes } = await import('./answers.js');
    const { openIdRoutes } = await import('./openid.js');
    const { ownerRoutes } = await import('./owners.js');
    return {
      routes: [
        ...openIdRoutes(platform, openId),
        ...ticketRoutes(platform),
        ...ownerRoutes(platform),
        explainRoute(platform),
        rightsRoute(platform),
        statusRoute(platform),
        ...fileRoutes(platform),
      ],
    };
  },
});
