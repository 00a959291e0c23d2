/** Where the certificate comes from, as the settings say. */
import { join } from 'node:path';
import type { Log } from '../log.js';
import type { Settings } from '../settings.js';
import { coreSettings, readBaseUri, servesTls } from './core-settings.js';
import { acmeCertificates } from './tls/acme-certificates.js';
import { certificateFiles } from './tls/certificate-files.js';
import type { CertificateSource } from './tls/certificate-source.js';
import { Challenges } from './tls/challenges.js';
import { assertUsable } from './usable-settings.js';

export interface Certificates {
  /** Absent: the server speaks plain HTTP, and only answers the challenges of a client outside. */
  readonly source: CertificateSource | undefined;
  readonly challenges: Challenges;
}

/** @throws SettingsError for settings that cannot work, and for files that hold no usable pair */
export function certificatesOf(settings: Settings, log: Log): Certificates | undefined {
  assertUsable(settings);
  const core = settings.of(coreSettings);
  const { tlsCertificate, tlsKey, acmeDirectory, acmeWebroot } = core;
  if (!servesTls(core) && acmeWebroot === null) return undefined;
  const challenges = new Challenges(acmeWebroot);
  const host = readBaseUri(core).url.hostname;
  if (tlsCertificate !== null && tlsKey !== null)
    return { challenges, source: certificateFiles({ certificate: tlsCertificate, key: tlsKey, host, log }) };
  if (acmeDirectory === null) return { challenges, source: undefined };
  const source = acmeCertificates({
    directory: acmeDirectory,
    domains: core.acmeDomains.length > 0 ? core.acmeDomains.map((domain) => domain.toLowerCase()) : [host],
    email: core.acmeEmail,
    renewBeforeDays: core.acmeRenewDays,
    folder: join(core.dataDir, 'acme'),
    authorities: core.fetchCertificates,
    challenges,
    log,
  });
  return { challenges, source };
}
