/** The combinations of TLS settings that the server refuses to start with. Pure. */
import { isIP } from 'node:net';
import { type CoreSettings, type readBaseUri, servesTls } from './core-settings.js';

type Base = ReturnType<typeof readBaseUri>;

/** Refuses what cannot work. @param refuse throws, with one sentence that names the setting */
export function assertUsableTls(core: CoreSettings, { url }: Base, refuse: (message: string) => never): void {
  const { tlsCertificate, tlsKey, tlsHttpPort, acmeDirectory, acmeWebroot, listenPort } = core;
  if ((tlsCertificate === null) !== (tlsKey === null))
    refuse(
      tlsKey === null
        ? 'lws.tls.certificate is set without lws.tls.key. Name the file of its private key.'
        : 'lws.tls.key is set without lws.tls.certificate. Name the file of its certificate.',
    );
  if (tlsCertificate !== null && acmeDirectory !== null)
    refuse(
      'lws.tls.certificate and lws.tls.acme.directory-url are both set. Unset the one that the certificate is not to come from.',
    );
  if (!servesTls(core)) {
    for (const [name, isSet] of [
      ['lws.tls.http-port', tlsHttpPort !== null],
      ['lws.tls.acme.domains', core.acmeDomains.length > 0],
      ['lws.tls.acme.email', core.acmeEmail !== null],
      ['lws.tls.acme.accept-terms-of-service', core.acmeTerms],
    ] as const)
      if (isSet)
        refuse(
          `${name} needs TLS. Set lws.tls.certificate and lws.tls.key, or lws.tls.acme.directory-url, or unset it.`,
        );
    return;
  }
  if (url.protocol !== 'https:')
    refuse(`lws.base-uri is ${JSON.stringify(core.baseUri)} while TLS is on; expected an https URI.`);
  const port = listenPort ?? (Number(url.port) || 443);
  if (tlsHttpPort !== null && tlsHttpPort !== 0 && tlsHttpPort === port)
    refuse(`lws.tls.http-port is ${port}, the port of TLS itself; expected another one, such as 80.`);
  if (acmeWebroot !== null && acmeDirectory !== null)
    refuse(
      'lws.tls.acme.webroot is for an ACME client outside, and lws.tls.acme.directory-url sets one up here. Unset one.',
    );
  if (acmeDirectory !== null) assertUsableAcme(core, url.hostname, refuse);
}

function assertUsableAcme(core: CoreSettings, host: string, refuse: (message: string) => never): void {
  const { acmeDomains, acmeEmail, acmeTerms, tlsHttpPort } = core;
  if (!acmeTerms)
    refuse(
      'lws.tls.acme.directory-url is set and lws.tls.acme.accept-terms-of-service is not. Read the terms of the authority, and set it to true.',
    );
  if (tlsHttpPort === null)
    refuse(
      'lws.tls.acme.directory-url needs lws.tls.http-port, which the authority asks for challenges. It asks at port 80: set 80, or the port that 80 is forwarded to.',
    );
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0)
    refuse(`lws.tls.acme.directory-url needs a host name in lws.base-uri; ${host} is an address.`);
  for (const domain of acmeDomains)
    if (!isHostName(domain))
      refuse(
        `lws.tls.acme.domains has ${JSON.stringify(domain)}; expected host names such as storage.example, without *.`,
      );
  if (acmeDomains.length > 0 && !acmeDomains.some((domain) => domain.toLowerCase() === host))
    refuse(`lws.tls.acme.domains lacks ${host}, the host of lws.base-uri.`);
  if (acmeEmail !== null && !/^[^\s@,?]+@[^\s@,?]+$/.test(acmeEmail))
    refuse(`lws.tls.acme.email is ${JSON.stringify(acmeEmail)}; expected an e-mail address.`);
}

const isHostName = (name: string): boolean =>
  name.length <= 253 &&
  name.split('.').every((label) => /^[A-Za-z0-9-]{1,63}$/.test(label) && !/^-|-$/.test(label)) &&
  isIP(name) === 0;
