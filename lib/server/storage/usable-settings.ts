/** Rejects invalid combinations of settings at startup (rule 5.4). */
import { isIdentity } from '../../authorization/did.js';
import type { MakeCertificateSource } from '../../component/certificates.js';
import type { Component } from '../../component/component.js';
import { type Settings, SettingsError } from '../../settings/settings.js';
import { coreSettings, readBaseUri } from '../settings/core-settings.js';
import { blobPlaceOf, formatsOf, serversOf } from './open-store.js';

/** Rejects unsafe or impossible settings, including those of components. @throws SettingsError with the setting and the source of its value */
export function assertUsable(all: Settings, components: readonly Component[]): void {
  try {
    assertEach(all, components);
    const core = all.of(coreSettings);
    const names = { rootIri: readBaseUri(core).storage, systemPrefix: core.systemPrefix };
    for (const component of components) {
      const own = all.of(component.settings);
      if (component.isEnabled(own)) component.assertUsable?.(own, names);
    }
    blobPlaceOf(all, components);
    formatsOf(all, components);
    serversOf(all, components);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new SettingsError(error.message + sourcesOf(all, error.message));
  }
}

function assertEach(all: Settings, components: readonly Component[]): void {
  const settings = all.of(coreSettings);
  const { accessControl, owners, devOpen, requireHttps, corsOrigins, systemPrefix, listenPort } = settings;
  const refuse = (message: string): never => {
    throw new SettingsError(message);
  };
  const { url, loopback } = readBaseUri(settings);
  if (!/^\/[A-Za-z0-9._~-]+$/.test(systemPrefix) || /^\/(?:app|callback|\.well-known|\.{1,2})$/i.test(systemPrefix))
    refuse(`lws.system-prefix is ${JSON.stringify(systemPrefix)}. Use one path segment such as /.lws.`);
  for (const owner of owners)
    if (!isIdentity(owner))
      refuse(
        `lws.owners contains ${JSON.stringify(owner)}. Use URIs; a did:key must be complete ("quadpod owner" prints one).`,
      );
  if (owners.length === 0 && !devOpen && !loopback)
    refuse(
      'lws.owners is empty, so no caller could use a storage at a public lws.base-uri. Name an owner ' +
        '("quadpod owner" creates one), or set lws.dev.open=true for a storage that all callers may change.',
    );
  if (devOpen && owners.length === 0 && accessControl === 'wac')
    refuse(
      'lws.dev.open has no effect with lws.access-control=wac: access control lists decide, and without owners they give no access. ' +
        'Unset one of the two, or name an owner in lws.owners.',
    );
  if (devOpen && requireHttps)
    refuse('lws.dev.open is for development only and excludes lws.require-https. Unset one of the two.');
  if (devOpen && owners.length === 0 && corsOrigins.includes('*'))
    refuse(
      'lws.cors.allowed-origins contains * while lws.dev.open allows all callers to write, so any web page could write. List origins.',
    );
  for (const origin of corsOrigins)
    if (origin !== '*' && !isOrigin(origin))
      refuse(
        `lws.cors.allowed-origins contains ${JSON.stringify(origin)}. Use an origin such as https://app.example, without a path.`,
      );
  if (corsOrigins.includes('*') && corsOrigins.length > 1)
    refuse('lws.cors.allowed-origins contains * and other origins. Use either * or a list of origins.');
  if (requireHttps && url.protocol === 'http:' && !loopback)
    refuse(
      'lws.require-https is true, but lws.base-uri is plain http. Set lws.base-uri to the https URI of the proxy.',
    );
  const servesTls = assertUsableTls(all, components, refuse);
  if (requireHttps && !settings.behindProxy && !servesTls)
    refuse(
      'lws.require-https requires TLS, here or at a proxy. Set lws.tls.certificate and lws.tls.key, or lws.behind-proxy=true, ' +
        'or unset lws.require-https.',
    );
  if (listenPort === 0 && url.port === '' && loopback) refuse('lws.listen-port is 0. Use a port from 1 to 65535.');
}

/** Returns, in parentheses, the sources of the settings that a message names. Omits defaults. */
export function sourcesOf(settings: Settings, message: string): string {
  const given = settings
    .all()
    .filter(({ setting: { name }, source }) => source !== 'default' && new RegExp(`${name}(?![\\w-])`).test(message))
    .map(({ setting: { name }, source }) => `${name} from ${source}`);
  return given.length === 0 ? '' : ` (${given.join(', ')})`;
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** Returns the component that provides certificates; `undefined` for certificate files or no TLS. @throws SettingsError */
export function certificateMaker(
  settings: Settings,
  components: readonly Component[],
): MakeCertificateSource | undefined {
  const core = settings.of(coreSettings);
  const facts = {
    host: readBaseUri(core).url.hostname,
    httpPort: core.tlsHttpPort,
    hasFiles: core.tlsCertificate !== null || core.tlsKey !== null,
    hasWebroot: core.acmeWebroot !== null,
  };
  return components.map((component) => component.certificates?.(settings.of(component.settings), facts)).find(Boolean);
}

/** Rejects invalid TLS settings. @param refuse throws an error that names the setting @returns true if the server speaks TLS */
function assertUsableTls(
  settings: Settings,
  components: readonly Component[],
  refuse: (message: string) => never,
): boolean {
  const core = settings.of(coreSettings);
  const { tlsCertificate, tlsKey, tlsHttpPort, listenPort } = core;
  if ((tlsCertificate === null) !== (tlsKey === null))
    refuse(
      tlsKey === null
        ? 'lws.tls.certificate is set without lws.tls.key. Name the file of its private key.'
        : 'lws.tls.key is set without lws.tls.certificate. Name the file of its certificate.',
    );
  if (certificateMaker(settings, components) === undefined && tlsCertificate === null) {
    if (tlsHttpPort !== null)
      refuse(
        'lws.tls.http-port requires TLS. Set lws.tls.certificate and lws.tls.key, or lws.tls.acme.directory-url, or unset it.',
      );
    return false;
  }
  const { url } = readBaseUri(core);
  if (url.protocol !== 'https:')
    refuse(`lws.base-uri is ${JSON.stringify(core.baseUri)}, but TLS is on. Use an https URI.`);
  const port = listenPort ?? (Number(url.port) || 443);
  if (tlsHttpPort !== null && tlsHttpPort !== 0 && tlsHttpPort === port)
    refuse(`lws.tls.http-port is ${port}, the port of TLS itself. Use another one, such as 80.`);
  return true;
}
