/** Selects the certificate source by the settings. */
import type { CertificateSource } from '../../component/certificates.js';
import type { Component } from '../../component/component.js';
import type { Settings } from '../../settings/settings.js';
import type { Log } from '../../tools/log.js';
import { coreSettings, readBaseUri } from '../settings/core-settings.js';
import { assertUsable, certificateMaker } from '../storage/usable-settings.js';
import { certificateFiles } from './certificate-files.js';
import { Challenges } from './challenges.js';

export interface Certificates {
  /** Certificate source. Undefined: the server uses plain HTTP, and only answers the challenges of an external client. */
  readonly source: CertificateSource | undefined;
  readonly challenges: Challenges;
}

/** Returns the certificate source and the challenges. @throws SettingsError for invalid settings or certificate files */
export function certificatesOf(
  settings: Settings,
  { components, log }: { readonly components: readonly Component[]; readonly log: Log },
): Certificates | undefined {
  assertUsable(settings, components);
  const core = settings.of(coreSettings);
  const { tlsCertificate, tlsKey, acmeWebroot, dataDir, fetchCertificates: authorities } = core;
  const challenges = new Challenges(acmeWebroot);
  if (tlsCertificate !== null && tlsKey !== null) {
    const host = readBaseUri(core).url.hostname;
    return { challenges, source: certificateFiles({ certificate: tlsCertificate, key: tlsKey, host, log }) };
  }
  const source = certificateMaker(settings, components)?.({ dataDir, authorities, challenges, log });
  return source || acmeWebroot !== null ? { challenges, source } : undefined;
}
