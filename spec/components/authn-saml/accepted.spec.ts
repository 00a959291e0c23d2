/** Accepted assertions: every encoding, every algorithm, and variants of real identity providers. */
import { expect } from 'chai';
import { SignedXml } from 'xml-crypto';
import { createAlgorithms } from '../../../components/authn-saml/algorithms.js';
import { decodeCredential } from '../../../components/authn-saml/saml-suite.js';
import { ecSigner } from '../../support/x509.js';
import { alice, assertionXml, client, confirmationOf, instant, issuer, usualConfirmation } from './assertions.js';
import { enveloped, exclusive, rsaSha256, sha256, signatureOf, signed } from './signing.js';
import { attacker, expectAccepted, provider, trusted, usual, verify } from './trust.js';

const assertion = assertionXml();
const credential = signed(assertion, { signer: provider });
const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const mgf1 = 'http://www.w3.org/2007/05/xmldsig-more#';

/** Signed by xml-crypto itself, like a provider that uses it. */
function signedByXmlCrypto(xml: string, prefix?: string): string {
  const signer = new SignedXml({
    privateKey: provider.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    signatureAlgorithm: rsaSha256,
    canonicalizationAlgorithm: exclusive,
  });
  signer.addReference({
    xpath: "//*[local-name(.)='Assertion']",
    transforms: [enveloped, exclusive],
    digestAlgorithm: sha256,
  });
  signer.computeSignature(xml, {
    ...(prefix === undefined ? {} : { prefix }),
    location: { reference: "//*[local-name(.)='Issuer']", action: 'after' },
  });
  return signer.getSignedXml();
}

describe('authn-saml: accepted', () => {
  it('maps NameID, Issuer and Recipient to subject, issuer and client (rule 15.12)', async () => {
    expect(await verify(credential)).to.deep.equal(usual);
  });

  it('accepts raw XML, base64 and base64url, with padding or without (rule 15.12)', async () => {
    for (const length of [0, 1, 2]) {
      const xml = credential + ' '.repeat(length);
      const base64 = Buffer.from(xml).toString('base64');
      const base64url = Buffer.from(xml).toString('base64url');
      const padded = base64url.padEnd(Math.ceil(base64url.length / 4) * 4, '=');
      for (const text of [xml, base64, base64.replace(/=+$/, ''), base64url, padded]) {
        expect(decodeCredential(text)).to.equal(xml);
        await expectAccepted(text);
      }
    }
  });

  it('accepts an XML declaration of UTF-8, and white space around the root', async () => {
    for (const prolog of [
      '<?xml version="1.0"?>',
      '<?xml version="1.0" encoding="UTF-8"?>\r\n',
      "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>",
      '\n ',
    ])
      await expectAccepted(`${prolog}${credential}\n`);
  });

  it('accepts a signature by xml-crypto, with a prefix and without', async () => {
    await expectAccepted(signedByXmlCrypto(assertion, 'ds'));
    await expectAccepted(signedByXmlCrypto(assertion));
    await expectAccepted(signedByXmlCrypto(assertion.replaceAll('saml:', '').replace('xmlns:saml', 'xmlns')));
  });

  for (const [name, uri] of [
    ['RSA with SHA-256', `${more}rsa-sha256`],
    ['RSA with SHA-384', `${more}rsa-sha384`],
    ['RSA with SHA-512', `${more}rsa-sha512`],
    ['RSA-PSS with SHA-256', `${mgf1}sha256-rsa-MGF1`],
    ['RSA-PSS with SHA-384', `${mgf1}sha384-rsa-MGF1`],
    ['RSA-PSS with SHA-512', `${mgf1}sha512-rsa-MGF1`],
  ] as const)
    it(`verifies ${name}`, () => expectAccepted(signed(assertion, { signer: provider, method: uri })));

  for (const [curve, hash] of [
    ['P-256', 'sha256'],
    ['P-384', 'sha384'],
    ['P-521', 'sha512'],
    ['P-256', 'sha512'],
  ] as const)
    it(`verifies ECDSA on ${curve} with ${hash}`, () => {
      const signer = ecSigner(curve);
      const certificates = [trusted(provider), trusted(signer)];
      return expectAccepted(signed(assertion, { signer, method: `${more}ecdsa-${hash}` }), { certificates });
    });

  for (const [hash, digestMethod] of [
    ['sha384', `${more}sha384`],
    ['sha512', 'http://www.w3.org/2001/04/xmlenc#sha512'],
  ] as const)
    it(`verifies a digest of ${hash}`, () =>
      expectAccepted(signed(assertion, { signer: provider, hash, digestMethod })));

  it('accepts SHA-1 if lws.saml.allow-sha1 is on', async () => {
    const algorithms = createAlgorithms(true);
    const ds = 'http://www.w3.org/2000/09/xmldsig#';
    const parts = { signer: provider, method: `${ds}rsa-sha1`, digestMethod: `${ds}sha1`, hash: 'sha1' };
    await expectAccepted(signed(assertion, parts), { algorithms });
  });

  it('tries every configured certificate that is valid, in any order', async () => {
    const other = trusted(attacker);
    await expectAccepted(credential, { certificates: [other, trusted(provider)] });
    await expectAccepted(credential, { certificates: [trusted(provider), other] });
  });

  it('ends no later than the certificate does', async () => {
    const certificate = { ...trusted(provider), validTo: usual.expires - 200_000 };
    expect((await verify(credential, { certificates: [certificate] })).expires).to.equal(certificate.validTo);
  });

  it('ignores the content of KeyInfo', async () => {
    const key = '<ds:KeyInfo><ds:KeyName>whoever</ds:KeyName><x:Y xmlns:x="urn:x"></x:Y></ds:KeyInfo>';
    await expectAccepted(signed(assertion, { signer: provider, keyInfo: key }));
  });

  it('accepts values with line breaks', async () => {
    const lines = (text: string): string => text.replace(/.{76}/g, '$&&#13;\r\n');
    await expectAccepted(signed(assertion, { signer: provider, signatureValue: lines }));
  });

  it('accepts the signature at any position among the children of the assertion', async () => {
    const signature = signatureOf(assertion, { signer: provider });
    await expectAccepted(assertion.replace('</saml:Assertion>', `${signature}</saml:Assertion>`));
    await expectAccepted(assertion.replace('<saml:Issuer>', `${signature}<saml:Issuer>`));
  });

  it('accepts a prefix list of exclusive canonicalization', async () => {
    const withXs = assertion
      .replace('xmlns:saml=', 'xmlns:q="urn:q" xmlns:saml=')
      .replace(
        '<saml:AttributeValue>',
        '<saml:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="q:string">',
      );
    const list = `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="q xs"></ec:InclusiveNamespaces>`;
    const withList = (text: string): string => text.replace(`<ds:Transform Algorithm="${exclusive}">`, `$&${list}`);
    await expectAccepted(signed(withXs, { signer: provider, signedInfo: withList }));
  });

  it('accepts many attributes that declare the same prefixes each', async () => {
    const value = `<saml:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">v</saml:AttributeValue>`;
    const content = `<saml:Attribute Name="a">${value}</saml:Attribute>`.repeat(100);
    const statements = `<saml:AttributeStatement>${content}</saml:AttributeStatement>`;
    await expectAccepted(signed(assertionXml({ statements }), { signer: provider }));
  });

  it('accepts names with references and with letters of any script', async () => {
    const subject = 'https://example/%C3%A9/é/愛?a=1&amp;b=2';
    const xml = assertionXml({ nameId: `<saml:NameID>${subject}</saml:NameID>` });
    const sent = signed(xml, { signer: provider }).replace('/é/', '/&#xE9;/');
    for (const text of [sent, Buffer.from(sent).toString('base64url')])
      expect((await verify(text)).principal.subject).to.equal('https://example/%C3%A9/é/愛?a=1&b=2');
  });

  it('returns the same claims when white space, quotes and order inside a tag change', async () => {
    const changed = credential
      .replace(/ ID="_a1" IssueInstant="([^"]+)" Version="2.0"/, "\n Version = '2.0'\tIssueInstant='$1'\r\n ID='_a1' ")
      .replace('</saml:Assertion>', '</saml:Assertion >');
    expect(changed).not.to.equal(credential);
    await expectAccepted(changed);
  });

  it('uses the earliest expiry', async () => {
    const endOf = async (parts: Parameters<typeof assertionXml>[0]): Promise<number> =>
      (await verify(signed(assertionXml(parts), { signer: provider }))).expires;
    const session = `<saml:AuthnStatement AuthnInstant="${instant(-10)}" SessionNotOnOrAfter="${instant(30)}"></saml:AuthnStatement>`;
    expect(await endOf({ statements: session })).to.equal(Date.parse(instant(30)));
    const conditions = assertion.replace(instant(600), instant(20));
    expect((await verify(signed(conditions, { signer: provider }))).expires).to.equal(Date.parse(instant(20)));
    expect(await endOf({ confirmation: confirmationOf(`Recipient="${client}"`) })).to.equal(Date.parse(instant(600)));
  });

  it('accepts an issuer with the entity format, and a subject of any format that is a URI', async () => {
    const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format';
    const xml = assertionXml({
      issuer: `<saml:Issuer Format="${format}:entity">${issuer}</saml:Issuer>`,
      subject: `<saml:Subject><saml:NameID Format="${format}:persistent">${alice}</saml:NameID>${usualConfirmation}</saml:Subject>`,
    });
    await expectAccepted(signed(xml, { signer: provider }));
  });
});
