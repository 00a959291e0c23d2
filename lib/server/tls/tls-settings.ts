/** The settings of TLS and of certificates by ACME. */
import { flag, integer, list, optional, type SettingParser, setting, text } from '../../settings.js';

const httpsUrl: SettingParser<string> = {
  expectation: 'an https URL',
  parse: (raw) => (typeof raw === 'string' && /^https:\/\//i.test(raw) && URL.canParse(raw) ? raw : undefined),
};

export const tlsSettings = {
  tlsCertificate: setting(
    'lws.tls.certificate',
    optional(text('a file')),
    null,
    'The file of the certificate and its chain (PEM); read again on SIGHUP and when it changes. With lws.tls.key: serve HTTP/2 and HTTP/1.1 over TLS.',
  ),
  tlsKey: setting(
    'lws.tls.key',
    optional(text('a file')),
    null,
    'The file of the private key of the certificate (PEM).',
  ),
  tlsHttpPort: setting(
    'lws.tls.http-port',
    optional(integer(0, 65535)),
    null,
    'A port for plain HTTP that answers ACME challenges and redirects everything else to the base URI (308).',
  ),
  acmeWebroot: setting(
    'lws.tls.acme.webroot',
    optional(text('a folder')),
    null,
    'The webroot of an ACME client outside: the challenges in its .well-known/acme-challenge are answered.',
  ),
  acmeDirectory: setting(
    'lws.tls.acme.directory-url',
    optional(httpsUrl),
    null,
    'The directory of an ACME authority to get certificates of, such as https://acme-v02.api.letsencrypt.org/directory.',
  ),
  acmeDomains: setting(
    'lws.tls.acme.domains',
    list,
    [],
    'The host names of the certificate; none: the host of the base URI.',
  ),
  acmeEmail: setting(
    'lws.tls.acme.email',
    optional(text('an e-mail address')),
    null,
    'Where the ACME authority may write to.',
  ),
  acmeTerms: setting(
    'lws.tls.acme.accept-terms-of-service',
    flag,
    false,
    'Accept the terms of service of the ACME authority; without it no certificate is asked for.',
  ),
  acmeRenewDays: setting(
    'lws.tls.acme.renew-before-days',
    integer(1, 365),
    30,
    'Days before its end at which a certificate is renewed; never before two thirds of its life.',
  ),
} as const;
