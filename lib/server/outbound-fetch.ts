/** The guarded fetch of this server, from its settings. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { AdmissionOptions } from '../outbound/admission.js';
import { createGuardedFetch, type GuardedFetch } from '../outbound/guarded-fetch.js';
import { SettingsError } from '../settings.js';
import type { CoreSettings } from './core-settings.js';

type Policy = Pick<AdmissionOptions, 'blockPrivateAddresses' | 'allowedHosts'>;

/**
 * Makes fetches under a policy; that of `lws.fetch.*` when none is given.
 * @throws SettingsError for a file of certificates that cannot be read
 */
export function outboundFetch({
  fetchBlock,
  fetchAllowed,
  fetchCertificates,
}: CoreSettings): (policy?: Policy) => GuardedFetch {
  const own = fetchCertificates.map(readCertificates);
  const usual: Policy = { blockPrivateAddresses: fetchBlock, allowedHosts: fetchAllowed };
  return (policy = usual) =>
    createGuardedFetch({
      ...policy,
      ...(own.length > 0 ? { ca: [...rootCertificates, ...own].join('\n') } : {}),
    });
}

function readCertificates(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SettingsError(
      `lws.fetch.ca-certificates names ${file}, which cannot be read: ${(cause as Error).message}.`,
    );
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new SettingsError(`lws.fetch.ca-certificates names ${file}, which holds no certificate (PEM).`);
  return text;
}
