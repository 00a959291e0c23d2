/** The component: its settings, its suite, and its errors for invalid certificate files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCertificates } from '../../../components/authn-saml/idp-certificates.js';
import component from '../../../components/authn-saml/index.js';
import type { Installation, Platform } from '../../../lib/component/contract.js';
import { loadSettings, SettingsError } from '../../../lib/settings/settings.js';
import { certificateOf, ecSigner, ed25519Signer, pemOf, rsaSigner, type Signer } from '../../support/x509.js';
import { assertionXml, now, storage } from './assertions.js';
import { signed } from './signing.js';
import { attacker, provider, usual } from './trust.js';

const validity = { from: now - 1000, to: now + 86_400_000 };
const credential = signed(assertionXml(), { signer: provider });

describe('authn-saml: the component', () => {
  let folder: string;
  const warnings: unknown[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'authn-saml-'));
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => warnings.splice(0));

  const file = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const der = (signer: Signer, period = validity): Buffer => certificateOf(signer, period);
  const platform = (clock = now): Platform =>
    ({
      clock: () => clock,
      authentication: { audience: { accepted: new Set([storage]), required: true } },
      log: { warn: (...line: readonly unknown[]) => warnings.push(line) },
    }) as unknown as Platform;
  const settingsWith = (flags: Readonly<Record<string, string>>) =>
    loadSettings([component.settings], { flags }).of(component.settings);
  const install = async (flags: Readonly<Record<string, string>>): Promise<Installation> =>
    component.install(platform(), settingsWith(flags));
  const faultOf = (path: string): string => {
    try {
      readCertificates([path]);
    } catch (error) {
      expect(error).to.be.instanceOf(SettingsError);
      return (error as Error).message.replace(path, 'FILE');
    }
    throw new Error('it was read');
  };

  it('is off without a certificate (rule 15.12)', () => {
    expect(component.isEnabled(settingsWith({}))).to.equal(false);
    expect(component.isEnabled(settingsWith({ 'saml.idp-certificates': 'a.pem' }))).to.equal(true);
  });

  it('adds one suite and its capability', async () => {
    const { suites, capabilities } = await install({ 'saml.idp-certificates': file('idp.pem', pemOf(der(provider))) });
    expect(capabilities).to.deep.equal([{ type: 'https://w3c.github.io/lws-protocol/lws10-authn-saml/' }]);
    const [suite, ...others] = suites!;
    expect(others).to.have.length(0);
    expect(suite!.tokenTypes).to.deep.equal(['urn:ietf:params:oauth:token-type:saml2']);
    expect(suite!.schemes).to.deep.equal(['bearer', 'saml2']);
    expect(suite!.recognises(credential)).to.equal(true);
    expect(suite!.recognises('eyJhbGciOiJFUzI1NiJ9.e30.c2ln')).to.equal(false);
    expect(await suite!.verify(credential, '127.0.0.1')).to.deep.equal(usual);
    expect(warnings).to.deep.equal([]);
  });

  it('reads certificates in PEM and DER, several of a file, with text around', async () => {
    const other = pemOf(der(attacker)).replaceAll('\n', '\r\n');
    for (const content of [
      der(provider),
      pemOf(der(provider)),
      `subject=/CN=idp\n${other}\n\nand\n${pemOf(der(provider))}end`,
    ]) {
      const { suites } = await install({ 'saml.idp-certificates': file('some', content) });
      expect(await suites![0]!.verify(credential, '127.0.0.1')).to.deep.equal(usual);
    }
    const files = [file('a.pem', pemOf(der(attacker))), file('b.der', der(provider))];
    expect(readCertificates(files)).to.have.length(2);
  });

  it('hands its settings to the checks', async () => {
    const certificates = { 'saml.idp-certificates': file('idp.pem', pemOf(der(provider))) };
    const reasonOf = async (flags: Readonly<Record<string, string>>): Promise<string> => {
      const { suites } = await install({ ...certificates, ...flags });
      return suites![0]!.verify(credential, '127.0.0.1').then(String, (error) => String(error.reason));
    };
    expect(await reasonOf({ 'saml.audience': 'urn:x' })).to.match(/lws.saml.audience is "urn:x"$/);
    expect(await reasonOf({ 'saml.trusted-issuers': 'urn:a urn:b' })).to.match(
      /lws.saml.trusted-issuers are urn:a urn:b$/,
    );
    await install({ ...certificates, 'saml.allow-sha1': 'true' });
    expect(warnings).to.have.length(1);
  });

  it('starts with a certificate that has expired, and warns', async () => {
    const path = file('old.pem', pemOf(der(provider, { from: 0, to: now - 1000 })));
    const { suites } = await install({ 'saml.idp-certificates': path });
    expect(JSON.stringify(warnings)).to.contain(path).and.to.contain('2026-11-21T11:59:59.000Z');
    const refused = await suites![0]!.verify(credential, '127.0.0.1').catch((error) => error.reason);
    expect(refused).to.match(/^no certificate of lws.saml.idp-certificates is currently valid$/);
  });

  it('names the setting and the file that cannot be read', () => {
    expect(faultOf(join(folder, 'absent'))).to.match(
      /^lws.saml.idp-certificates: the file FILE cannot be read: ENOENT/,
    );
    expect(faultOf(folder)).to.match(/^lws.saml.idp-certificates: the file FILE cannot be read: EISDIR/);
  });

  it('refuses files that hold anything but certificates', () => {
    const certificate = der(provider);
    const key = provider.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const none = 'lws.saml.idp-certificates: the file FILE contains no X.509 certificate in PEM or DER.';
    for (const content of [
      '',
      'x',
      Buffer.alloc(10),
      certificate.subarray(0, -1),
      Buffer.concat([certificate, Buffer.of(0)]),
      certificate.toString('base64'),
      pemOf(Buffer.from('x')),
      pemOf(Buffer.concat([certificate, certificate])),
      provider.publicKey.export({ type: 'spki', format: 'der' }),
    ])
      expect(faultOf(file('bad', content))).to.equal(none);
    expect(faultOf(file('key', key as string))).to.contain('contains a PRIVATE KEY; only certificates are allowed.');
    expect(faultOf(file('both', pemOf(certificate) + key))).to.contain('contains a PRIVATE KEY;');
    for (const content of [
      pemOf(certificate).replace('END', 'FIN'),
      pemOf(certificate).slice(0, -10),
      `${pemOf(certificate)}-----BEGIN X-----\n`,
    ])
      expect(faultOf(file('bad.pem', content))).to.equal('lws.saml.idp-certificates: the file FILE is malformed PEM.');
  });

  it('refuses keys that are too weak or of another kind', () => {
    const fault = (signer: Signer): string => faultOf(file('weak.pem', pemOf(der(signer))));
    expect(fault(rsaSigner(1024))).to.contain('has an RSA key of 1024 bits; expected 2048 or more.');
    expect(fault(ed25519Signer())).to.contain('has a key of the kind ed25519; expected RSA or EC.');
    expect(fault(ecSigner('secp256k1'))).to.contain(
      'has a key on the curve secp256k1; expected P-256, P-384 or P-521.',
    );
    for (const curve of ['P-256', 'P-384', 'P-521'])
      expect(readCertificates([file('ec.pem', pemOf(der(ecSigner(curve))))])).to.have.length(1);
  });
});
