/** Conflicting TLS settings: each is reported in one sentence that names the setting to change. */
import { expect } from 'chai';
import { createServer } from 'quadpod';
import { standardComponents } from '../../../../components/index.js';
import { coreSettings } from '../../../../lib/server/settings/core-settings.js';
import { assertUsable } from '../../../../lib/server/storage/usable-settings.js';
import { loadSettings, SettingsError } from '../../../../lib/settings/settings.js';

const tables = [coreSettings, ...standardComponents.map(({ settings }) => settings)];
const check = (flags: Record<string, string>) =>
  assertUsable(loadSettings(tables, { flags: { owners: 'did:example:a', ...flags } }), standardComponents);

const https = { 'base-uri': 'https://storage.example' };
const files = { 'tls.certificate': 'c', 'tls.key': 'k' };
const acme = {
  ...https,
  'tls.acme.directory-url': 'https://acme.example/dir',
  'tls.acme.accept-terms-of-service': 'true',
  'tls.http-port': '80',
};

describe('TLS settings', () => {
  const refused: [string, Record<string, string>, RegExp][] = [
    ['a certificate without its key', { ...https, 'tls.certificate': 'c' }, /certificate is set without lws\.tls\.key/],
    ['a key without its certificate', { ...https, 'tls.key': 'k' }, /key is set without lws\.tls\.certificate/],
    ['a plain base URI', { 'base-uri': 'http://storage.example', ...files }, /base-uri.*Use an https URI/],
    [
      'certificates of two sources',
      { ...acme, ...files },
      /certificate and lws\.tls\.acme\.directory-url are both set/,
    ],
    ['a port for redirects without TLS', { ...https, 'tls.http-port': '80' }, /http-port requires TLS/],
    ['domains without an authority', { ...https, 'tls.acme.domains': 'a.example' }, /domains requires TLS/],
    ['one port for both', { ...https, ...files, 'tls.http-port': '443' }, /http-port is 443, the port of TLS/],
    [
      'terms that are not accepted',
      { ...acme, 'tls.acme.accept-terms-of-service': 'false' },
      /accept-terms-of-service is not/,
    ],
    ['challenges without a responder', { ...acme, 'tls.http-port': '' }, /directory-url requires lws\.tls\.http-port/],
    ['an address', { ...acme, 'base-uri': 'https://192.0.2.1' }, /requires a host name/],
    ['an IPv6 address', { ...acme, 'base-uri': 'https://[2001:db8::1]' }, /requires a host name/],
    ['a wildcard', { ...acme, 'tls.acme.domains': 'storage.example,*.example' }, /domains contains "\*\.example"/],
    ['other domains', { ...acme, 'tls.acme.domains': 'other.example' }, /domains does not contain storage\.example/],
    ['an invalid e-mail address', { ...acme, 'tls.acme.email': 'a b' }, /email is "a b"/],
    ['two ACME clients', { ...acme, 'tls.acme.webroot': '/x' }, /webroot is for an external ACME client/],
    [
      'an authority over plain HTTP',
      { ...acme, 'tls.acme.directory-url': 'http://a.example/' },
      /expected an https URL/,
    ],
    ['HTTPS without a listener', { ...https, 'require-https': 'true' }, /require-https requires TLS/],
  ];
  for (const [what, flags, message] of refused)
    it(`refuses to start with ${what}`, () => {
      expect(() => check(flags)).to.throw(SettingsError, message);
    });

  it('accepts valid settings', () => {
    check({ ...https, ...files });
    check({ ...https, ...files, 'tls.http-port': '80', 'tls.acme.webroot': '/x', 'require-https': 'true' });
    check({ ...acme, 'tls.acme.domains': 'storage.example, www.storage.example', 'tls.acme.email': 'a@b.example' });
    check({ 'base-uri': 'http://localhost:8080', 'tls.acme.webroot': '/x' });
  });

  it('refuses to start with files that are not a pair, and names them', async () => {
    const settings = {
      'lws.base-uri': 'https://localhost:1',
      'lws.tls.certificate': '/nowhere/c.pem',
      'lws.tls.key': '/nowhere/k.pem',
    };
    const error = await createServer(settings).catch((cause) => cause);
    expect(error).to.be.instanceOf(SettingsError);
    expect(error.message).to.match(/lws\.tls\.certificate is \/nowhere\/c\.pem.*no such file/);
  });
});
