/** The console: browser interface of the storage (rule 1.3,; `lws.console.*`, `lws.oidc.*`). */
import { defineComponent, flag, optional, type SettingParser, setting, text } from '../../lib/plugin/component.js';
import { isSecureUrl } from '../../lib/plugin/requests.js';

const configuration: SettingParser<string> = {
  expectation: 'the https URL of an OpenID configuration (http on this machine only)',
  parse: (raw) => (typeof raw === 'string' && /^https?:\/\/[^\s#]+$/i.test(raw) && isSecureUrl(raw) ? raw : undefined),
};
const uri: SettingParser<string> = {
  expectation: 'a URI',
  parse: (raw) => (typeof raw === 'string' && /^[a-z][a-z0-9+.-]*:[^\s<>"]+$/i.test(raw) ? raw : undefined),
};

export default defineComponent({
  name: 'console',
  settings: {
    enabled: setting('lws.console.enabled', flag, true, 'Serve the browser console at /app.', 'storage'),
    discoveryUri: setting(
      'lws.oidc.discovery-uri',
      optional(configuration),
      null,
      'Discovery URL of the identity provider for the console (.../.well-known/openid-configuration).',
    ),
    clientId: setting(
      'lws.oidc.client-id',
      optional(uri),
      null,
      'Client id (a URI) of the console at the identity provider. Default: the URI of the storage.',
    ),
    clientSecret: setting(
      'lws.oidc.client-secret',
      optional(text('a string')),
      null,
      'Client secret of the console at the identity provider.',
    ),
  },
  isEnabled: ({ enabled }) => enabled,
  page: '/app',
  // Pages and their routes are loaded on first use.
  async install(platform, openId) {
    const { fileRoutes } = await import('./files.js');
    const { explainRoute, rightsRoute, sizeRoute, statusRoute, ticketRoutes } = await import('./answers.js');
    const { openIdRoutes } = await import('./openid.js');
    const { ownerRoutes } = await import('./owners.js');
    const page = `${platform.baseUri}/app`;
    return {
      viewOf: (iri) => `${page}#/${iri.endsWith('/') ? 'browse' : 'resource'}?${new URLSearchParams({ at: iri })}`,
      routes: [
        ...openIdRoutes(platform, openId),
        ...ticketRoutes(platform),
        ...ownerRoutes(platform),
        explainRoute(platform),
        rightsRoute(platform),
        sizeRoute(platform),
        statusRoute(platform),
        ...fileRoutes(platform),
      ],
    };
  },
});
