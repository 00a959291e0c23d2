/** The guarded fetch of this server, from its settings. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { AdmissionOptions } from '../../outbound/admission.js';
import { Gate } from '../../outbound/gate.js';
import { createGuardedFetch, type GuardedFetch } from '../../outbound/guarded-fetch.js';
import { SettingsError } from '../../settings.js';
import type { CoreSettings } from '../settings/core-settings.js';

type Policy = Pick<AdmissionOptions, 'blockPrivateAddresses' | 'allowedHosts'>;

/** Requests of one client, and of all, that may wait for their turn. */
const waiting = { perClient: 100, inAll: 400 };

/**
 * Makes fetches under a policy; that of `lws.fetch.*` when none is given, each of which then has so many requests under way at
 * once; under any other, who asks sees to that.
 * @throws SettingsError for a file of certificates that cannot be read
 */
export function outboundFetch(core: CoreSettings): (policy?: Policy) => GuardedFetch {
  const own = core.fetchCertificates.map(readCertificates);
  const usual: Policy = { blockPrivateAddresses: core.fetchBlock, allowedHosts: core.fetchAllowed };
  const { fetchAtOnce: inAll, fetchPerHost: perHost } = core;
  const gate = (): Gate => new Gate({ inAll, perHost, perClient: Math.max(1, inAll >> 1), waiting });
  return (policy = usual) =>
    createGuardedFetch({
      ...policy,
      ...(policy === usual ? { gate: gate() } : {}),
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
