/**
 * Names, tags and their canonical form: rejected before the parser and the signature check, also with a valid signature. Each is
 * made from an accepted assertion.
 */
import { expect } from 'chai';
import { parseDocument } from '../../../components/authn-saml/document.js';
import { alice, assertionXml, conditionsOf, mallory, restrictionOf } from './assertions.js';
import { signed } from './signing.js';
import { attributed, changed, credential, inside, preceded, specify } from './tampering.js';
import { expectAccepted, expectRefusal, provider } from './trust.js';

const reserved = (prefix: string): RegExp => new RegExp(`^the prefix "${prefix}" is reserved$`);
specify('namespaces', {
  'a prefix that is redefined': [
    attributed('xmlns:saml="urn:x"'),
    /^the prefix saml is redefined from ".*" to "urn:x"$/,
  ],
  'a prefix that is redefined in the signature': [
    changed('<ds:SignedInfo>', '<ds:SignedInfo xmlns:ds="urn:x">'),
    /^the prefix ds is redefined/,
  ],
  'a prefix without a declaration': [inside('<x:Y></x:Y>'), /^the prefix "x" is not declared$/],
  'an attribute with a prefix without a declaration': [attributed('x:y="z"'), /^the prefix "x" is not declared$/],
  'a prefix that is undeclared': [attributed('xmlns:saml=""'), /^the namespace "" is not an absolute URI$/],
  'a default namespace that is undeclared': [attributed('xmlns=""'), /^the namespace "" is not an absolute URI$/],
  'a relative namespace': [attributed('xmlns:x="../x"'), /^the namespace "..\/x" is not an absolute URI$/],
  'a namespace that breaks out of its quotes': [
    attributed(`xmlns:x='urn:x" ID="_a1'`),
    /^the namespace "urn:x.*" is not an absolute URI$/,
  ],
  'a namespace with a reference': [
    attributed('xmlns:x="urn:&#120;"'),
    /^the namespace "urn:&#120;" is not an absolute URI$/,
  ],
  'a namespace with white space': [attributed('xmlns:x=" urn:x"'), /^the namespace " urn:x" is not an absolute URI$/],
  'the namespace of HTML': [
    attributed('xmlns:h="http://www.w3.org/1999/xhtml"'),
    /^the namespace http:\S+xhtml is not accepted$/,
  ],
  'another prefix for xml': [
    attributed('xmlns:x="http://www.w3.org/XML/1998/namespace"'),
    /^the namespace http:\S+1998\/namespace is not accepted$/,
  ],
  'the namespace of declarations': [
    attributed('xmlns:x="http://www.w3.org/2000/xmlns/"'),
    /^the namespace http:\S+xmlns\/ is not accepted$/,
  ],
  'a declaration of xml': [attributed('xmlns:xml="urn:x"'), reserved('xml')],
  'a declaration of xmlns': [attributed('xmlns:xmlns="urn:x"'), reserved('xmlns')],
  'a declaration of a reserved prefix': [attributed('xmlns:xmlfoo="urn:x"'), reserved('xmlfoo')],
  'an attribute that canonicalisation would leave out': [
    attributed('xmlnsfoo="x"'),
    /^the attribute "xmlnsfoo" only looks like a namespace declaration$/,
  ],
  'a declaration of __proto__': [attributed('xmlns:__proto__="urn:x"'), /^the name "xmlns:__proto__" is not accepted$/],
  'an element named as a member of Object.prototype': [
    inside('<constructor></constructor>'),
    /^the name "constructor" is not accepted$/,
  ],
  'an attribute named as one': [attributed('hasOwnProperty="x"'), /^the name "hasOwnProperty" is not accepted$/],
  'many prefixes': [
    attributed(Array.from({ length: 70 }, (_, index) => `xmlns:p${index}="urn:x"`).join(' ')),
    /^more than 64 prefixes$/,
  ],
});

const stands = (name: string): RegExp => new RegExp(`^the attribute "${name}" is repeated in one tag$`);
specify('attributes and tags', {
  'a duplicate attribute': [changed('ID="_a1"', 'ID="_a1" ID="_a2"'), stands('ID')],
  'a duplicate attribute under two prefixes': [
    attributed('xmlns:x="urn:x" xmlns:y="urn:x" x:a="1" y:a="2"'),
    stands('y:a'),
  ],
  'a duplicate namespace declaration': [attributed('xmlns:x="urn:x" xmlns:x="urn:x"'), stands('xmlns:x')],
  'xml:base': [attributed('xml:base="https://mallory.example/"'), /^the attribute "xml:base" is not accepted$/],
  'xml:space': [attributed('xml:space="preserve"'), /^the attribute "xml:space" is not accepted$/],
  'xml:id': [attributed('xml:id="_a1"'), /^the attribute "xml:id" is not accepted$/],
  'an attribute without quotes': [attributed('a=b'), /^the start tag of "saml:Subject" is malformed$/],
  'an attribute without a value': [attributed('a'), /^the start tag of "saml:Subject" is malformed$/],
  'attributes without space between': [attributed('a="b"c="d"'), /^the start tag of "saml:Subject" is malformed$/],
  'a "<" in an attribute': [attributed('a="<"'), /^the start tag of "saml:Subject" is malformed$/],
  'a tag that does not end': [
    credential.slice(0, credential.indexOf('<saml:Subject') + 10),
    /^the start tag of "saml:Subj" is malformed$/,
  ],
  'an end tag of another element': [
    changed('</saml:NameID>', '</saml:nameid>'),
    /^the end tag is of "saml:nameid", expected "saml:NameID"$/,
  ],
  'an end tag with attributes': [changed('</saml:NameID>', '</saml:NameID a="b">'), /^a malformed end tag$/],
  'an end tag without a start tag': [preceded('</saml:Assertion>'), /^neither XML nor base64/],
  'a tag without a name': [inside('< saml:X>'), /^a malformed start tag$/],
  'a name with two colons': [inside('<saml:X:Y></saml:X:Y>'), /^the start tag of "saml:X" is malformed$/],
  'a document that ends too early': [credential.slice(0, -2), /^a malformed end tag$/],
  'a document without an end': [
    credential.slice(0, credential.lastIndexOf('</')),
    /^the document ends inside an element$/,
  ],
  'text after the root': [`${credential}x`, /^content after the root element: text$/],
  'a second root': [credential + credential, /^content after the root element: a tag$/],
  'deep elements': [inside('<saml:X>'.repeat(40) + '</saml:X>'.repeat(40)), /^elements are nested more than 32 deep$/],
  'many elements': [inside('<saml:X/>'.repeat(1001)), /^more than 1000 elements$/],
  'many attributes': [
    attributed(Array.from({ length: 2001 }, (_, index) => `a${index}=""`).join(' ')),
    /^more than 2000 attributes$/,
  ],
});

describe('authn-saml: canonicalisation', () => {
  it('refuses white space that the signature does not cover (a change of text, not of a tag)', async () => {
    const digest = /^the digest does not match the assertion$/;
    await expectRefusal(changed(alice, `${alice} `), digest);
    await expectRefusal(changed(alice, `${alice}&#10;`), digest);
    await expectRefusal(inside('\n'), digest);
    await expectRefusal(attributed('xml:lang="en"'), digest);
  });

  it('refuses another prefix or a default namespace for the same names', async () => {
    const digest = /^the digest does not match the assertion$/;
    const renamed = credential.replaceAll('saml:', 'x:').replace('xmlns:saml', 'xmlns:x');
    await expectRefusal(renamed, digest);
    await expectRefusal(credential.replaceAll('saml:', '').replace('xmlns:saml', 'xmlns'), digest);
  });

  it('accepts an unused declaration, which exclusive canonicalization omits', async () => {
    await expectAccepted(attributed('xmlns:x="urn:x"'));
    await expectAccepted(changed('<ds:SignedInfo>', '<ds:SignedInfo xmlns:x="urn:x">'));
  });

  it('reads no more into an empty tag than into a start and an end tag', () =>
    expectAccepted(changed('></saml:SubjectConfirmationData>', '/>')));

  it('reads no claims from parts omitted by canonicalization', async () => {
    // Each is unsigned by a quirk of a canonicalizer, and would be read as claims from the document as sent.
    const audience = restrictionOf('https://other.example/');
    const xml = signed(assertionXml({ conditions: conditionsOf(audience) }), { signer: provider });
    await expectRefusal(
      xml.replace('<saml:Audience>', `<saml:Audience xmlnsx="${mallory}">`),
      /only looks like a namespace declaration$/,
    );
    await expectRefusal(xml, /^aud is \["https:\/\/other.example\/"\], accepted are /);
  });
});

describe('authn-saml: two readers', () => {
  it('parses a document like the XML parser, or refuses it', () => {
    const { root, xml } = parseDocument(
      '<?xml version="1.0"?> <a:b xmlns:a="urn:a" c="&#10;1\r\n2\t&lt;">x\r\ny&amp;&#x1F600;</a:b> ',
    );
    expect(xml.startsWith('<a:b') && xml.endsWith('</a:b>')).to.equal(true);
    expect(root.text).to.equal('x\ny&😀');
    expect(root.attributes[1]!.value).to.equal('\n1 2 <');
  });
});
