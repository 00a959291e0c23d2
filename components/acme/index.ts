/** Certificates of an ACME authority (RFC 8555), if `lws.tls.acme.directory-url` is set. */

import { isIP } from 'node:net';
import { join } from 'node:path';
import type { TlsFacts } from '../../lib/plugin/certificates.js';
import {
  defineComponent,
  flag,
  integer,
  list,
  optional,
  type SettingParser,
  SettingsError,
  type SettingsOf,
  setting,
  text,
} from '../../lib/plugin/component.js';
import { acmeCertificates } from './acme-certificates.js';

const httpsUrl: SettingParser<string> = {
  expectation: 'an https URL',
  parse: (raw) => (typeof raw === 'string' && /^https:\/\//i.test(raw) && URL.canParse(raw) ? raw : undefined),
};

const acmeSettings = {
  directory: setting(
    'lws.tls.acme.directory-url',
    optional(httpsUrl),
    null,
    'Directory URL of an ACME authority that issues certificates, such as https://acme-v02.api.letsencrypt.org/directory.',
  ),
  domains: setting(
    'lws.tls.acme.domains',
    list,
    [],
    'Host names of the certificate. Default: the host of the base URI.',
  ),
  email: setting(
    'lws.tls.acme.email',
    optional(text('an e-mail address')),
    null,
    'Contact e-mail address for the ACME authority.',
  ),
  terms: setting(
    'lws.tls.acme.accept-terms-of-service',
    flag,
    false,
    'Accept the terms of service of the ACME authority; required to order a certificate.',
  ),
  renewDays: setting(
    'lws.tls.acme.renew-before-days',
    integer(1, 365),
    30,
    'Days before expiry at which a certificate is renewed, but not before two thirds of its lifetime.',
  ),
} as const;

const refuse = (message: string): never => {
  throw new SettingsError(message);
};

/** Checks combinations of settings. @throws SettingsError with the name of the setting */
function assertUsable(
  { directory, domains, email, terms }: SettingsOf<typeof acmeSettings>,
  { host, httpPort, hasFiles, hasWebroot }: TlsFacts,
): void {
  if (directory === null) {
    for (const [name, isSet] of [
      ['lws.tls.acme.domains', domains.length > 0],
      ['lws.tls.acme.email', email !== null],
      ['lws.tls.acme.accept-terms-of-service', terms],
    ] as const)
      if (isSet && !hasFiles)
        refuse(
          `${name} requires TLS. Set lws.tls.certificate and lws.tls.key, or lws.tls.acme.directory-url, or unset it.`,
        );
    return;
  }
  if (hasFiles) refuse('lws.tls.certificate and lws.tls.acme.directory-url are both set. Unset one of them.');
  if (hasWebroot)
    refuse(
      'lws.tls.acme.webroot is for an external ACME client, and lws.tls.acme.directory-url is for the built-in one. Unset one of them.',
    );
  if (!terms)
    refuse(
      'lws.tls.acme.directory-url is set, but lws.tls.acme.accept-terms-of-service is not. Read the terms of the authority, then set it to true.',
    );
  if (httpPort === null)
    refuse(
      'lws.tls.acme.directory-url requires lws.tls.http-port, because the authority fetches challenges from port 80. Set 80, or the port that 80 is forwarded to.',
    );
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0)
    refuse(`lws.tls.acme.directory-url requires a host name in lws.base-uri; ${host} is an address.`);
  for (const domain of domains)
    if (!isHostName(domain))
      refuse(
        `lws.tls.acme.domains contains ${JSON.stringify(domain)}; expected host names such as storage.example, without *.`,
      );
  if (domains.length > 0 && !domains.some((domain) => domain.toLowerCase() === host))
    refuse(`lws.tls.acme.domains does not contain ${host}, the host of lws.base-uri.`);
  if (email !== null && !/^[^\s@,?]+@[^\s@,?]+$/.test(email))
    refuse(`lws.tls.acme.email is ${JSON.stringify(email)}; expected an e-mail address.`);
}

const isHostName = (name: string): boolean =>
  name.length <= 253 &&
  name.split('.').every((label) => /^[A-Za-z0-9-]{1,63}$/.test(label) && !/^-|-$/.test(label)) &&
  isIP(name) === 0;

export default defineComponent({
  name: 'acme',
  settings: acmeSettings,
  isEnabled: ({ directory }) => directory !== null,
  install: () => ({}),
  certificates(settings, tls) {
    assertUsable(settings, tls);
    const { directory, domains, email, renewDays } = settings;
    if (directory === null) return undefined;
    return ({ dataDir, ...equipment }) =>
      acmeCertificates({
        ...{ directory, email, renewBeforeDays: renewDays, folder: join(dataDir, 'acme') },
        domains: domains.length > 0 ? domains.map((domain) => domain.toLowerCase()) : [tls.host],
        ...equipment,
      });
  },
});
