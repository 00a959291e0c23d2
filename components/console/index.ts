/** The console: browser interface of the storage (rule 1.3, settings `lws.console.*` and `lws.oidc.*`). */
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

const tileUrl: SettingParser<string> = {
  expectation: 'the URL of tiles with {z}, {x} and {y}, such as https://tiles.example/{z}/{x}/{y}.png',
  parse: (raw) =>
    typeof raw === 'string' &&
    /^https?:\/\/[\w.-]+(?::\d+)?\/[\w./{}?=@~-]*$/.test(raw) &&
    ['{z}', '{x}', '{y}'].every((each) => raw.includes(each)) &&
    URL.canParse(raw)
      ? raw
      : undefined,
};
const attribution: SettingParser<string> = {
  expectation: 'a text of at most 200 characters, without markup',
  parse: (raw) => (typeof raw === 'string' && /^[^<>"&]{1,200}$/.test(raw) ? raw : undefined),
};

export default defineComponent({
  name: 'console',
  settings: {
    enabled: setting('lws.console.enabled', flag, true, 'Serve the browser console at /app.', 'storage'),
    mapTiles: setting(
      'lws.console.map-tiles',
      optional(tileUrl),
      null,
      'Tiles (Web Mercator) of maps in the console. Browsers fetch them from there. Default: coasts, borders and names of the console.',
    ),
    mapAttribution: setting(
      'lws.console.map-attribution',
      optional(attribution),
      null,
      'Attribution that the provider of the tiles requires, shown beside maps.',
    ),
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
  async install(platform, { mapTiles, mapAttribution, ...openId }) {
    const { fileRoutes } = await import('./files.js');
    const { explainRoute, rightsRoute, sizeRoute, statusRoute, ticketRoutes } = await import('./answers.js');
    const { openIdRoutes } = await import('./openid.js');
    const { ownerRoutes } = await import('./owners.js');
    const page = `${platform.baseUri}/app`;
    const signIn = (to: string): string => `${page}#/signin?${new URLSearchParams({ to })}`;
    const placeOf = (iri: string): string =>
      `#/${iri.endsWith('/') ? 'browse' : 'resource'}?${new URLSearchParams({ at: iri })}`;
    return {
      pages: {
        viewOf: (iri) => page + placeOf(iri),
        signInOf: (iri) => signIn(placeOf(iri)),
        requestOf: (iri) => signIn(`#/requests?${new URLSearchParams({ ask: iri })}`),
      },
      routes: [
        ...openIdRoutes(platform, openId),
        ...ticketRoutes(platform),
        ...ownerRoutes(platform),
        explainRoute(platform),
        rightsRoute(platform),
        sizeRoute(platform),
        statusRoute(platform),
        ...fileRoutes(platform, { tiles: mapTiles ?? '', attribution: mapAttribution ?? '' }),
      ],
    };
  },
});
