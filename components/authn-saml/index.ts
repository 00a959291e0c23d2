/**
 * Authentication suite for SAML 2.0 bearer assertions, signed by an identity provider with a configured certificate (rule
 * 15.12). It fetches nothing, and uses no key from an assertion.
 */
import { defineComponent, flag, list, optional, type Platform, setting, text } from '../../lib/plugin/component.js';
import { isValidAt, readCertificates, type TrustedCertificate } from './idp-certificates.js';

const settings = {
  certificates: setting(
    'lws.saml.idp-certificates',
    list,
    [] as readonly string[],
    'Files with the certificates of the trusted identity providers, PEM or DER. Default: SAML is off.',
    'storage',
  ),
  trustedIssuers: setting(
    'lws.saml.trusted-issuers',
    list,
    [] as readonly string[],
    'Accepted issuers of assertions. Default: all issuers signed by a configured certificate.',
    'storage',
  ),
  audience: setting(
    'lws.saml.audience',
    optional(text()),
    null,
    'Audience that every audience restriction of an assertion must name. Default: as for other credentials.',
    'storage',
  ),
  allowSha1: setting('lws.saml.allow-sha1', flag, false, 'Accept assertions that are signed or hashed with SHA-1.'),
};

export default defineComponent({
  name: 'authn-saml',
  settings,
  isEnabled: ({ certificates }) => certificates.length > 0,
  assertUsable: ({ certificates }) => void readCertificates(certificates),
  async install(platform, { certificates: files, trustedIssuers, audience, allowSha1 }) {
    const certificates = readCertificates(files);
    warn(platform, certificates, allowSha1);
    const [{ createSuite }, { createAlgorithms }] = await Promise.all([
      import('./saml-suite.js'),
      import('./algorithms.js'),
    ]);
    const suite = createSuite({
      certificates,
      trustedIssuers,
      audience: { own: audience, general: platform.authentication.audience },
      algorithms: createAlgorithms(allowSha1),
      clock: platform.clock,
    });
    return { capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-authn-saml/' }], suites: [suite] };
  },
});

/** Logs warnings about settings with which the server can still start. */
function warn({ log, clock }: Platform, certificates: readonly TrustedCertificate[], allowSha1: boolean): void {
  for (const { file, validFrom, validTo } of certificates.filter((certificate) => !isValidAt(certificate, clock())))
    log.warn(
      { file, validFrom: new Date(validFrom), validTo: new Date(validTo) },
      'certificate of an identity provider is not currently valid',
    );
  if (allowSha1) log.warn('lws.saml.allow-sha1 is on: assertions signed with SHA-1 are accepted');
}
