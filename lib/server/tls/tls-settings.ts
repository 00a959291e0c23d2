/** The settings of TLS. */
import { integer, optional, setting, text } from '../../settings.js';

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
} as const;
