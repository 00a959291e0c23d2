/** Creates the fetch function for untrusted URLs (SSRF protection, request queue) from the settings `lws.fetch.*`. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { SettingsError } from '../../settings/settings.js';
import { Gate, type Turn } from '../../tools/gate.js';
import type { AdmissionOptions } from '../../tools/outbound/admission.js';
import { createGuardedFetch, type GuardedFetch } from '../../tools/outbound/guarded-fetch.js';
import { OutboundError } from '../../tools/outbound/outbound-error.js';
import type { CoreSettings } from '../settings/core-settings.js';

type Policy = Pick<AdmissionOptions, 'blockPrivateAddresses' | 'allowedHosts'>;

/** Maximum number of waiting requests, per client and in total. */
const waiting = { perClient: 100, inAll: 400 };

/**
 * Returns a function that creates the fetch function for a policy. Default: the policy of `lws.fetch.*`, with the configured
 * maximum of concurrent requests each. For other policies the caller limits concurrency.
 * @throws SettingsError for an unreadable certificate file
 */
export function outboundFetch(core: CoreSettings): (policy?: Policy) => GuardedFetch {
  const own = core.fetchCertificates.map(readCertificates);
  const usual: Policy = { blockPrivateAddresses: core.fetchBlock, allowedHosts: core.fetchAllowed };
  const { fetchAtOnce: inAll, fetchPerHost: perHost } = core;
  const busy = ({ host }: Turn): OutboundError =>
    new OutboundError('busy', `Too many outbound requests are waiting, one of them to ${host}.`);
  const gate = (): Gate => new Gate({ inAll, perHost, perClient: Math.max(1, inAll >> 1), waiting }, busy);
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
    throw new SettingsError(`lws.fetch.ca-certificates names ${file}, which contains no certificate (PEM).`);
  return text;
}
