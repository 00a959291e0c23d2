/** The combinations of settings that the server refuses to start with (open-points 1.5, 10). Pure. */
import { SettingsError } from '../settings.js';
import { type CoreSettings, readBaseUri } from './core-settings.js';

/** Refuses what would be unsafe or cannot work. @throws SettingsError with one sentence that names the setting */
export function assertUsable(settings: CoreSettings): void {
  const { url, loopback } = readBaseUri(settings);
  const { owners, devOpen, requireHttps, corsOrigins, systemPrefix, listenPort } = settings;
  const refuse = (message: string): never => {
    throw new SettingsError(message);
  };
  if (!/^\/[A-Za-z0-9._~-]+$/.test(systemPrefix) || /^\/(?:app|callback|\.well-known|\.{1,2})$/i.test(systemPrefix))
    refuse(`lws.system-prefix is ${JSON.stringify(systemPrefix)}; expected one path segment such as /.lws.`);
  for (const owner of owners)
    if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(owner)) refuse(`lws.owners has ${JSON.stringify(owner)}; expected URIs.`);
  if (owners.length === 0 && !devOpen && !loopback)
    refuse(
      'lws.owners is empty, so nobody could use a storage at a public lws.base-uri. Name an owner ' +
        '(quadpod owner makes one), or set lws.dev.open=true for a storage that everybody may change.',
    );
  if (devOpen && requireHttps)
    refuse('lws.dev.open is for development alone and excludes lws.require-https. Unset one of the two.');
  if (devOpen && owners.length === 0 && corsOrigins.includes('*'))
    refuse('lws.cors.allowed-origins has * while lws.dev.open lets everybody write: any web page could. List origins.');
  for (const origin of corsOrigins)
    if (origin !== '*' && !isOrigin(origin))
      refuse(
        `lws.cors.allowed-origins has ${JSON.stringify(origin)}; expected an origin such as https://app.example, without a path.`,
      );
  if (corsOrigins.includes('*') && corsOrigins.length > 1)
    refuse('lws.cors.allowed-origins has * beside other origins; expected * alone, or a list of origins.');
  if (requireHttps && url.protocol === 'http:' && !loopback)
    refuse('lws.require-https is true and lws.base-uri is plain http. Set lws.base-uri to the https URI of the proxy.');
  if (requireHttps && !settings.behindProxy)
    refuse('lws.require-https needs a proxy that speaks TLS. Set lws.behind-proxy=true, or unset lws.require-https.');
  if (listenPort === 0 && url.port === '' && loopback) refuse('lws.listen-port is 0; expected a port from 1 to 65535.');
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}
