/** Certificates of an ACME authority (RFC 8555), where `lws.tls.acme.directory-url` names one. */
import { join } from 'node:path';
import { defineComponent } from '../../lib/component/basics.js';
import { acmeCertificates } from './acme-certificates.js';
import { acmeSettings, assertUsable } from './settings.js';

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
