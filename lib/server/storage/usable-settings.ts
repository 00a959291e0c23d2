/** The combinations of settings that the server refuses to start with (rule 5.4). Pure. */
import { isIdentity } from '../../authorization/did.js';
import type { MakeCertificateSource } from '../../component/certificates.js';
import type { Component } from '../../component/contract.js';
import { type Settings, SettingsError } from '../../settings.js';
import { coreSettings, readBaseUri } from '../settings/core-settings.js';
import { blobPlaceOf, formatsOf, serversOf } from './open-store.js';

/**
 * Refuses what would be unsafe or cannot work, in the settings of components too.
 * @throws SettingsError with one sentence that names the setting, and where its value is from
 */
export function assertUsable(all: Settings, components: readonly Component[]): void {
  try {
    assertEach(all, components);
    for (const component of components) {
      const own = all.of(component.settings);
      if (component.isEnabled(own)) component.assertUsable?.(own);
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
    refuse(`lws.system-prefix is ${JSON.stringify(systemPrefix)}; expected one path segment such as /.lws.`);
  for (const owner of owners)
    if (!isIdentity(owner))
      refuse(
        `lws.owners has ${JSON.stringify(owner)}; expected URIs, and a did:key has to be whole: "quadpod owner" prints one.`,
      );
  if (owners.length === 0 && !devOpen && !loopback)
    refuse(
      'lws.owners is empty, so nobody could use a storage at a public lws.base-uri. Name an owner ' +
        '(quadpod owner makes one), or set lws.dev.open=true for a storage that everybody may change.',
    );
  if (devOpen && owners.length === 0 && accessControl === 'wac')
    refuse(
      'lws.dev.open opens a storage whose owners decide, and with lws.access-control=wac access control lists do, which ' +
        'would be closed to everybody. Unset one of the two, or name an owner in lws.owners.',
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
  const servesTls = assertUsableTls(all, components, refuse);
  if (requireHttps && !settings.behindProxy && !servesTls)
    refuse(
      'lws.require-https needs TLS, here or at a proxy. Set lws.tls.certificate and lws.tls.key, or lws.behind-proxy=true, ' +
        'or unset lws.require-https.',
    );
  if (listenPort === 0 && url.port === '' && loopback) refuse('lws.listen-port is 0; expected a port from 1 to 65535.');
}

/** Where the settings that a message names have their values from, but for defaults: in brackets, or nothing. */
export function sourcesOf(settings: Settings, message: string): string {
  const given = settings
    .all()
    .filter(({ setting: { name }, source }) => source !== 'default' && new RegExp(`${name}(?![\\w-])`).test(message))
    .map(({ setting: { name }, source }) => `${name} from ${source}`);
  return given.length === 0 ? '' : ` (${given.join(', ')})`;
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** What a component gives certificates by; none: they are in files, or there is no TLS. @throws SettingsError */
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

/**
 * Refuses what cannot work.
 * @param refuse throws, with one sentence that names the setting
 * @returns whether the server speaks TLS
 */
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
        'lws.tls.http-port needs TLS. Set lws.tls.certificate and lws.tls.key, or lws.tls.acme.directory-url, or unset it.',
      );
    return false;
  }
  const { url } = readBaseUri(core);
  if (url.protocol !== 'https:')
    refuse(`lws.base-uri is ${JSON.stringify(core.baseUri)} while TLS is on; expected an https URI.`);
  const port = listenPort ?? (Number(url.port) || 443);
  if (tlsHttpPort !== null && tlsHttpPort !== 0 && tlsHttpPort === port)
    refuse(`lws.tls.http-port is ${port}, the port of TLS itself; expected another one, such as 80.`);
  return true;
}
