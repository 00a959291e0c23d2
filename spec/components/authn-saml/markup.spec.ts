/**
 * XML features that assertions do not need: rejected before the parser and the signature check, also with a valid signature. Each
 * is made from an accepted assertion.
 */
import { alice, assertionXml, nameIdOf, storage } from './assertions.js';
import { signed } from './signing.js';
import { changed, credential, inside, preceded, specify } from './tampering.js';
import { provider } from './trust.js';

const comment = /^a comment is not accepted$/;
specify('comments and CDATA', {
  'a comment that shortens NameID': [changed('alice.example', 'alice.example<!---->.mallory.example'), comment],
  'a comment in a signed NameID': [
    signed(assertionXml({ nameId: nameIdOf(`${alice}<!---->.mallory.example`) }), {
      signer: provider,
      digested: assertionXml({ nameId: nameIdOf(`${alice}.mallory.example`) }),
    }),
    comment,
  ],
  'a comment in Issuer': [changed('idp.example', 'idp.<!--x-->example'), comment],
  'a comment in Audience': [changed('storage.example', 'storage.<!--x-->example'), comment],
  'a comment inside Recipient': [
    changed('https://app.', 'https://app<!--x-->.'),
    /^the start tag of "saml:SubjectConfirmationData" is malformed$/,
  ],
  'a comment between elements': [inside('<!-- x -->'), comment],
  'a comment before the root': [preceded('<!-- x -->'), comment],
  'a comment after the root': [`${credential}<!-- x -->`, /^content after the root element: a comment$/],
  'a comment in SignatureValue': [changed('<ds:SignatureValue>', '<ds:SignatureValue><!--x-->'), comment],
  'a comment in SignedInfo': [changed('<ds:SignedInfo>', '<ds:SignedInfo><!--x-->'), comment],
  'a comment that is not closed': [inside('<!--'), comment],
  'CDATA in NameID': [changed(alice, `<![CDATA[${alice}]]>`), /^a CDATA section is not accepted$/],
  'CDATA in Audience': [changed(`${storage}<`, `<![CDATA[${storage}]]><`), /^a CDATA section is not accepted$/],
  'CDATA in DigestValue': [
    changed('<ds:DigestValue>', '<ds:DigestValue><![CDATA[]]>'),
    /^a CDATA section is not accepted$/,
  ],
  'the end of CDATA in text': [changed('alice@example', 'alice]]>'), /^"\]\]>" in text$/],
});

const bomb = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>';
const doctype = /^a DOCTYPE is not accepted$/;
const instruction = /^a processing instruction is not accepted$/;
specify('DOCTYPE, entities and processing instructions', {
  'an entity bomb': [preceded(bomb), doctype],
  'an external entity': [preceded('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), doctype],
  'an external subset': [preceded('<!DOCTYPE a SYSTEM "https://mallory.example/a.dtd">'), doctype],
  'a parameter entity': [preceded('<!DOCTYPE a [<!ENTITY % x SYSTEM "https://mallory.example/"> %x;]>'), doctype],
  'default attributes of a DOCTYPE': [preceded('<!DOCTYPE a [<!ATTLIST a ID ID "_a1">]>'), doctype],
  'a DOCTYPE in lower case': [preceded('<!doctype html>'), doctype],
  'a DOCTYPE after the declaration': [preceded('<?xml version="1.0"?>\n<!DOCTYPE a>'), doctype],
  'a DOCTYPE inside the root': [inside('<!DOCTYPE a>'), doctype],
  'a DOCTYPE after the root': [`${credential}<!DOCTYPE a>`, /^content after the root element: a DOCTYPE$/],
  'a bare entity declaration': [inside('<!ENTITY a "b">'), /^a markup declaration is not accepted$/],
  'a reference to an entity': [
    changed('alice@example', '&a;'),
    /^the reference "&a;" is not a predefined entity or a character$/,
  ],
  'a reference to an entity of HTML': [
    changed('alice@example', '&nbsp;'),
    /^the reference "&nbsp;" is not a predefined entity/,
  ],
  'a reference to a member of Object.prototype': [
    changed('alice@example', '&valueOf;'),
    /^the reference "&valueOf;" is not a predefined/,
  ],
  'a bare ampersand': [changed('alice@example', 'a & b'), /^the reference "& b" is not a predefined/],
  'a reference in an attribute to an entity': [
    changed('https://app.', 'https://app&a;.'),
    /^the reference "&a;" is not a predefined/,
  ],
  'a character reference without a number': [
    changed('alice@example', '&#;'),
    /^the reference "&#;" is not a predefined/,
  ],
  'a character reference in capitals': [
    changed('alice@example', '&#X41;'),
    /^the reference "&#X41;" is not a predefined/,
  ],
  'a processing instruction in NameID': [changed('alice.example', 'alice<?x?>.example'), instruction],
  'a processing instruction before the root': [
    preceded('<?xml-stylesheet href="https://mallory.example/"?>'),
    /^a processing instruction is not accepted$/,
  ],
  'a processing instruction after the root': [
    `${credential}<?x?>`,
    /^content after the root element: a processing instruction$/,
  ],
  'a second XML declaration': [preceded('<?xml version="1.0"?><?xml version="1.0"?>'), instruction],
  'an XML declaration after white space': [preceded(' <?xml version="1.0"?>'), instruction],
  'an XML declaration inside': [inside('<?xml version="1.0"?>'), instruction],
});

const declared = (encoding: string): string => preceded(`<?xml version="1.0" encoding="${encoding}"?>`);
const says = (encoding: string): RegExp => new RegExp(`^the XML declaration says "${encoding}", expected UTF-8$`);
const malformed = /^the XML declaration is malformed or of another version: /;
specify('encodings and characters', {
  'a declaration of UTF-16': [declared('UTF-16'), says('UTF-16')],
  'a declaration of UTF-7': [declared('UTF-7'), says('UTF-7')],
  'a declaration of ISO-8859-1': [declared('ISO-8859-1'), says('ISO-8859-1')],
  'a declaration of EBCDIC': [declared('IBM037'), says('IBM037')],
  'XML 1.1': [preceded('<?xml version="1.1"?>'), malformed],
  'a declaration without a version': [preceded('<?xml encoding="UTF-8"?>'), malformed],
  'a declaration with two encodings': [preceded('<?xml version="1.0" encoding="UTF-8" encoding="UTF-7"?>'), malformed],
  'a declaration in capitals': [preceded('<?XML version="1.0"?>'), instruction],
  'a byte order mark': [preceded('\ufeff'), /^neither XML nor base64/],
  'a byte order mark in base64': [
    Buffer.from(preceded('\ufeff')).toString('base64'),
    /^the document does not begin with a tag$/,
  ],
  'UTF-16 in base64': [
    Buffer.from(credential, 'utf16le').toString('base64'),
    /^the character U\+0000 is not accepted$/,
  ],
  'UTF-16 with its mark in base64': [
    Buffer.from(preceded('\ufeff'), 'utf16le').toString('base64'),
    /^the bytes are not UTF-8$/,
  ],
  'UTF-7': [`+ADw-saml:Assertion+AD4-`, /^neither XML nor base64/],
  'bytes that are not UTF-8': [
    Buffer.from(credential.replace('alice@', 'é'), 'latin1').toString('base64'),
    /^the bytes are not UTF-8$/,
  ],
  'an overlong "<"': [
    Buffer.concat([Buffer.from(credential), Buffer.of(0xc0, 0xbc)]).toString('base64'),
    /^the bytes are not UTF-8$/,
  ],
  'a surrogate in UTF-8': [
    Buffer.concat([Buffer.from(credential), Buffer.of(0xed, 0xa0, 0x80)]).toString('base64'),
    /^the bytes are not UTF-8$/,
  ],
  'a NUL': [changed('alice.example', 'alice.example\0.mallory.example'), /^the character U\+0000 is not accepted$/],
  'a control': [changed('alice@', '\u0007'), /^the character U\+0007 is not accepted$/],
  'a line end of XML 1.1': [changed('alice@', '\u0085'), /^the character U\+0085 is not accepted$/],
  'a line separator': [changed('alice@', '\u2028'), /^the character U\+2028 is not accepted$/],
  'a lone surrogate': [changed('alice@', '\ud800'), /^the character U\+D800 is not accepted$/],
  'a noncharacter': [changed('alice@', '\uffff'), /^the character U\+FFFF is not accepted$/],
  'a reference to NUL': [changed('alice@', '&#0;'), /^the reference "&#0;" is to a character that is not accepted$/],
  'a reference to a surrogate': [changed('alice@', '&#xD800;'), /^the reference "&#xD800;" is to a character/],
  'a reference beyond Unicode': [changed('alice@', '&#x110000;'), /^the reference "&#x110000;" is to a character/],
  'a reference to a line separator': [changed('alice@', '&#8232;'), /^the reference "&#8232;" is to a character/],
});
