/** Signatures over other content than their own assertion: references, transforms, structure. */
import { assertionXml, mallory, nameIdOf } from './assertions.js';
import { enveloped, exclusive, type SignatureParts, sha256, signatureOf, signed, transformsOf } from './signing.js';
import { replace } from './tampering.js';
import { attacker, expectRefusal, provider } from './trust.js';

const assertion = assertionXml();
const by = (parts: Partial<SignatureParts>): string => signed(assertion, { signer: provider, ...parts });

describe('authn-saml: references', () => {
  it('refuses a reference to the whole document, or to none', async () => {
    await expectRefusal(by({ uri: '' }), /^the Reference names "", expected "#_a1"$/);
    const without = by({ signedInfo: replace(/ URI="[^"]*"/, '') });
    await expectRefusal(without, /^the Reference names nothing, expected "#_a1"$/);
  });

  it('refuses a reference to another element, even one of the assertion', async () => {
    const xml = assertionXml({ nameId: `<saml:NameID ID="_n1">${mallory}</saml:NameID>` });
    const digested = `<saml:NameID xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_n1">${mallory}</saml:NameID>`;
    await expectRefusal(
      signed(xml, { signer: provider, uri: '#_n1', digested }),
      /^the Reference names "#_n1", expected "#_a1"$/,
    );
  });

  it('refuses pointers, other documents and spellings of the same', async () => {
    for (const uri of [
      "#xpointer(id('_a1'))",
      '#xpointer(/)',
      '_a1',
      'https://idp.example/#_a1',
      '#_A1',
      '#_a1 ',
      '#%5Fa1',
      '#',
    ])
      await expectRefusal(by({ uri }), /^the Reference names ".*", expected "#_a1"$/);
  });

  it('refuses two references, and none', async () => {
    const twice = by({ signedInfo: (text) => text.replace(/<ds:Reference .*<\/ds:Reference>/, '$&$&') });
    await expectRefusal(twice, /^2 Transforms elements, expected one$/);
    const bare = by({
      signedInfo: replace('</ds:Reference>', '</ds:Reference><ds:Reference URI="#_a1"></ds:Reference>'),
    });
    await expectRefusal(
      bare,
      /^SignedInfo contains "CanonicalizationMethod SignatureMethod Reference Reference", expected/,
    );
    const none = by({ signedInfo: replace(/<ds:Reference .*<\/ds:Reference>/, '') });
    await expectRefusal(none, /^0 Transforms elements, expected one$/);
    const elsewhere = by({ signedInfo: replace(/<ds:Reference .*<\/ds:Reference>/, '<ds:Manifest>$&</ds:Manifest>') });
    await expectRefusal(elsewhere, /^SignedInfo contains "CanonicalizationMethod SignatureMethod Manifest", expected/);
  });

  it('refuses two SignedInfo elements, with either of them signed (CVE-2025-29774)', async () => {
    const forged = signatureOf(assertionXml({ nameId: nameIdOf(mallory) }), { signer: attacker });
    const [signedInfo] = /<ds:SignedInfo>.*<\/ds:SignedInfo>/.exec(forged)!;
    for (const change of [
      replace('<ds:SignedInfo>', `${signedInfo}<ds:SignedInfo>`),
      replace('</ds:SignedInfo>', `</ds:SignedInfo>${signedInfo}`),
    ])
      await expectRefusal(by({ signature: change }), /^2 SignedInfo elements, expected one$/);
  });

  it('refuses a comment in DigestValue, and text around it (CVE-2025-29775)', async () => {
    const comment = replace('<ds:DigestValue>', '<ds:DigestValue><!--forged-->');
    await expectRefusal(by({ signature: comment }), /^a comment is not accepted$/);
    const child = replace('<ds:DigestValue>', '<ds:DigestValue><ds:X></ds:X>');
    await expectRefusal(by({ signature: child }), /^DigestValue contains something other than one text$/);
    await expectRefusal(
      by({ signature: replace('<ds:DigestValue>', '<ds:DigestValue>AAAA') }),
      /^DigestValue has 35 bytes, expected 32$/,
    );
    for (const digest of ['', '=', 'AAA', 'not!base64', '\u00e9'])
      await expectRefusal(
        by({ signedInfo: replace(/(<ds:DigestValue>)[^<]*/, `$1${digest}`) }),
        /^DigestValue (?:is not base64|contains something other than one text)$/,
      );
  });

  it('refuses text and unknown elements between the parts', async () => {
    await expectRefusal(
      by({ signature: replace('<ds:SignatureValue>', 'x<ds:SignatureValue>') }),
      /^Signature contains text between its elements$/,
    );
    await expectRefusal(
      by({ signedInfo: replace('<ds:SignatureMethod', 'x<ds:SignatureMethod') }),
      /^SignedInfo contains text between its elements$/,
    );
    await expectRefusal(
      by({ signature: replace('<ds:SignatureValue>', '<ds:X></ds:X><ds:SignatureValue>') }),
      /^the Signature contains "SignedInfo X SignatureValue", expected/,
    );
    await expectRefusal(
      by({ keyInfo: '<ds:KeyInfo></ds:KeyInfo><ds:KeyInfo></ds:KeyInfo>' }),
      /^the Signature contains "SignedInfo SignatureValue KeyInfo KeyInfo"/,
    );
    await expectRefusal(
      by({ signature: replace(/(<ds:SignedInfo>.*<\/ds:SignedInfo>)(.*)(<\/ds:Signature>)/, '$2$1$3') }),
      /^the Signature contains "SignatureValue SignedInfo"/,
    );
    await expectRefusal(
      by({ signedInfo: replace('</ds:DigestValue>', '</ds:DigestValue><ds:X></ds:X>') }),
      /^Reference contains "Transforms DigestMethod DigestValue X"/,
    );
  });
});

describe('authn-saml: transforms and canonicalisation', () => {
  it('refuses every other transform, and XPath and XSLT above all', async () => {
    const expected = / expected http:\S+#enveloped-signature http:\S+xml-exc-c14n#$/;
    for (const transforms of [
      [],
      [enveloped],
      [exclusive],
      [exclusive, enveloped],
      [enveloped, enveloped, exclusive],
      [enveloped, exclusive, exclusive],
      [enveloped, `${exclusive}WithComments`],
      [enveloped, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'],
      [enveloped, 'http://www.w3.org/2006/12/xml-c14n11'],
      [enveloped, 'http://www.w3.org/TR/1999/REC-xpath-19991116', exclusive],
      [enveloped, 'http://www.w3.org/2002/06/xmldsig-filter2', exclusive],
      ['http://www.w3.org/TR/1999/REC-xslt-19991116', exclusive],
      [enveloped, 'http://www.w3.org/2000/09/xmldsig#base64'],
      ['constructor', exclusive],
      [enveloped, '__proto__'],
    ])
      await expectRefusal(by({ transforms }), expected);
  });

  it('refuses a transform with content of its own', async () => {
    const xpath = '<ds:XPath>not(ancestor-or-self::saml:Subject)</ds:XPath>';
    const xslt = '<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"></xsl:stylesheet>';
    for (const content of [xpath, xslt]) {
      await expectRefusal(
        by({ signedInfo: replace(`<ds:Transform Algorithm="${enveloped}">`, `$&${content}`) }),
        /^Transform contains "(?:XPath|stylesheet)", expected ""$/,
      );
      await expectRefusal(
        by({ signedInfo: replace(`<ds:Transform Algorithm="${exclusive}">`, `$&${content}`) }),
        /^Transform contains "(?:XPath|stylesheet)", expected at most InclusiveNamespaces$/,
      );
    }
  });

  it('refuses a list of prefixes that is no such list', async () => {
    for (const list of ['#default', "saml' or '1", 'a  b', 'a,b', ' a']) {
      const parameter = `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="${list}"></ec:InclusiveNamespaces>`;
      await expectRefusal(
        by({ signedInfo: replace(`<ds:Transform Algorithm="${exclusive}">`, `$&${parameter}`) }),
        /^the PrefixList is ".*", expected prefixes$/,
      );
      await expectRefusal(
        by({ signedInfo: replace(/<ds:CanonicalizationMethod[^>]*>/, `$&${parameter}`) }),
        /^the PrefixList is /,
      );
    }
  });

  it('refuses other canonicalisations of SignedInfo', async () => {
    for (const canonicalization of [
      `${exclusive}WithComments`,
      'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      'http://www.w3.org/2006/12/xml-c14n11',
      '',
      enveloped,
    ])
      await expectRefusal(by({ canonicalization }), /^the canonicalization is ".*", expected http:\S+xml-exc-c14n#$/);
  });

  it('refuses a second Algorithm in another namespace, which xml-crypto might use', async () => {
    for (const name of ['CanonicalizationMethod', 'SignatureMethod', 'DigestMethod', 'Transform'])
      await expectRefusal(
        by({ signedInfo: replace(`<ds:${name} `, `<ds:${name} xmlns:x="urn:x" x:Algorithm="urn:x" `) }),
        new RegExp(`^${name} has 2 attributes, expected Algorithm only$`),
      );
    await expectRefusal(
      by({ signedInfo: replace(` Algorithm="${sha256}"`, '') }),
      /^DigestMethod has 0 attributes, expected/,
    );
  });

  it('refuses transforms outside their place', async () => {
    const moved = by({
      signedInfo: (text) =>
        text
          .replace(/<ds:Transforms>.*<\/ds:Transforms>/, '')
          .replace('</ds:Reference>', `${transformsOf([enveloped, exclusive])}</ds:Reference>`),
    });
    await expectRefusal(moved, /^Reference contains "DigestMethod DigestValue Transforms", expected/);
  });
});
