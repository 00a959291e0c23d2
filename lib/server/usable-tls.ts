/** Who gives the certificate, and the combinations of TLS settings that the server refuses to start with. Pure. */
import type { MakeCertificateSource } from '../component/certificates.js';
import type { Component } from '../component/contract.js';
import type { Settings } from '../settings.js';
import { coreSettings, readBaseUri } from './core-settings.js';

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
export function assertUsableTls(
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
