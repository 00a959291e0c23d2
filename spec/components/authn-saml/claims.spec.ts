/** Claims of assertions that a trusted provider signed, but that are invalid: none of them is accepted. */
import { expect } from 'chai';
import {
  type AssertionParts,
  alice,
  assertionXml,
  bearer,
  client,
  conditionsOf,
  confirmationOf,
  instant,
  issuer,
  mallory,
  nameIdOf,
  restrictionOf,
  storage,
  usualConfirmation,
  usualStatements,
} from './assertions.js';
import { signatureOf, signed } from './signing.js';
import { expectAccepted, expectRefusal, provider, usual, verify } from './trust.js';

const credential = (parts: AssertionParts): string => signed(assertionXml(parts), { signer: provider });
const subject = (content: string): AssertionParts => ({ subject: `<saml:Subject>${content}</saml:Subject>` });
const statements = (content: string): AssertionParts => ({ statements: `${usualStatements}${content}` });
const root = (attributes: string): AssertionParts => ({ attributes });
const nameId = (content: string): AssertionParts => ({ nameId: nameIdOf(content) });
const dataOf = (content: string): string =>
  `<saml:SubjectConfirmation Method="${bearer}"><saml:SubjectConfirmationData NotOnOrAfter="${instant(300)}" Recipient="${client}">${content}</saml:SubjectConfirmationData></saml:SubjectConfirmation>`;

type Corpus = Readonly<Record<string, readonly [AssertionParts, RegExp]>>;

function specify(title: string, corpus: Corpus): void {
  describe(`authn-saml: ${title}`, () => {
    for (const [name, [parts, reason]] of Object.entries(corpus))
      it(`refuses ${name}`, () => expectRefusal(credential(parts), reason));
  });
}

const noUri = (name: string): RegExp =>
  new RegExp(`^${name} is .*, expected an absolute URI of at most 1024 characters$`);
const notText = (name: string): RegExp => new RegExp(`^${name} contains something other than one text$`);

specify('subject', {
  'no Subject': [{ subject: '' }, /^Assertion contains 0 Subject, expected one/],
  'two Subjects': [
    { subject: `<saml:Subject>${nameIdOf(alice)}${usualConfirmation}</saml:Subject>`.repeat(2) },
    /^Assertion contains 2 Subject, expected one/,
  ],
  'no NameID': [subject(usualConfirmation), /^Subject contains 0 NameID, expected one/],
  'two NameIDs': [
    subject(nameIdOf(alice) + nameIdOf(mallory) + usualConfirmation),
    /^Subject contains 2 NameID, expected one/,
  ],
  'an encrypted name': [
    subject(`<saml:EncryptedID></saml:EncryptedID>${usualConfirmation}`),
    /^Subject contains "EncryptedID", expected only NameID and/,
  ],
  'another kind of name beside NameID': [
    subject(`${nameIdOf(alice)}<saml:BaseID></saml:BaseID>${usualConfirmation}`),
    /^Subject contains "BaseID", expected/,
  ],
  'a NameID of another vocabulary': [
    { nameId: `<x:NameID xmlns:x="urn:x">${alice}</x:NameID>` },
    /^Subject contains 0 NameID, expected one/,
  ],
  'an empty NameID': [nameId(''), notText('NameID')],
  'an element in NameID': [nameId(`${alice}<saml:X></saml:X>.mallory.example`), notText('NameID')],
  'a NameID inside NameID': [nameId(nameIdOf(alice)), notText('NameID')],
  'a subject that is no URI': [nameId('alice'), noUri('NameID')],
  'an address of mail as subject': [nameId('alice@example.org'), noUri('NameID')],
  'a relative subject': [nameId('/alice'), noUri('NameID')],
  'a subject with white space': [nameId(` ${alice}`), noUri('NameID')],
  'a subject with a line break': [nameId(`${alice}\n`), noUri('NameID')],
  'a subject with a "<"': [nameId('https://alice.example/&lt;script&gt;'), noUri('NameID')],
  'a subject that is too long': [nameId(`https://alice.example/${'a'.repeat(1024)}`), noUri('NameID')],
  'text in Subject': [
    subject(`x${nameIdOf(alice)}${usualConfirmation}`),
    /^Subject contains text between its elements$/,
  ],
});

specify('subject confirmation', {
  'no confirmation': [{ confirmation: '' }, /^Subject contains 0 SubjectConfirmation, expected one/],
  'two confirmations': [
    { confirmation: usualConfirmation.repeat(2) },
    /^Subject contains 2 SubjectConfirmation, expected one/,
  ],
  'holder-of-key': [
    { confirmation: confirmationOf(`Recipient="${client}"`, 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key') },
    /^the Method of SubjectConfirmation is "urn:\S+holder-of-key", expected urn:\S+bearer$/,
  ],
  'sender-vouches': [
    { confirmation: confirmationOf(`Recipient="${client}"`, 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches') },
    /^the Method of SubjectConfirmation is "urn:\S+sender-vouches"/,
  ],
  'bearer of SAML 1.1': [
    { confirmation: confirmationOf(`Recipient="${client}"`, 'urn:oasis:names:tc:SAML:1.0:cm:bearer') },
    /^the Method of SubjectConfirmation is "urn:\S+1.0:cm:bearer"/,
  ],
  'bearer beside another method': [
    { confirmation: usualConfirmation + confirmationOf('', 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key') },
    /^Subject contains 2 SubjectConfirmation/,
  ],
  'no data': [
    { confirmation: `<saml:SubjectConfirmation Method="${bearer}"></saml:SubjectConfirmation>` },
    /^SubjectConfirmation contains 0 SubjectConfirmationData, expected one/,
  ],
  'another name in the confirmation': [
    { confirmation: usualConfirmation.replace('<saml:SubjectConfirmationData', `${nameIdOf(mallory)}$&`) },
    /^SubjectConfirmation must contain only/,
  ],
  'a key in the data': [
    { confirmation: dataOf('<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"></ds:KeyInfo>') },
    /^SubjectConfirmation must contain only/,
  ],
  'text in the data': [
    { confirmation: dataOf(client) },
    /^SubjectConfirmationData contains text between its elements$/,
  ],
  'no Recipient': [{ confirmation: confirmationOf(`NotOnOrAfter="${instant(300)}"`) }, noUri('Recipient')],
  'a Recipient that is no URI': [{ confirmation: confirmationOf('Recipient="app"') }, noUri('Recipient')],
  'a Recipient in another namespace': [
    { confirmation: confirmationOf(`xmlns:x="urn:x" x:Recipient="${client}"`) },
    noUri('Recipient'),
  ],
});

specify('issuer and assertion', {
  'no Issuer': [{ issuer: '' }, /^Assertion contains 0 Issuer, expected one/],
  'two Issuers': [
    { issuer: `<saml:Issuer>${issuer}</saml:Issuer>`.repeat(2) },
    /^Assertion contains 2 Issuer, expected one/,
  ],
  'an Issuer of another format': [
    { issuer: `<saml:Issuer Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${issuer}</saml:Issuer>` },
    /^the Format of Issuer is "urn:\S+emailAddress"$/,
  ],
  'an Issuer that is no URI': [{ issuer: '<saml:Issuer>idp</saml:Issuer>' }, noUri('Issuer')],
  'an Issuer with an element': [{ issuer: `<saml:Issuer>${issuer}<saml:X></saml:X></saml:Issuer>` }, notText('Issuer')],
  'SAML 1.1 as Version': [
    root(` ID="_a1" IssueInstant="${instant(0)}" Version="1.1"`),
    /^Version is "1.1", expected "2.0"$/,
  ],
  'no Version': [root(` ID="_a1" IssueInstant="${instant(0)}"`), /^Version is nothing, expected "2.0"$/],
  'no IssueInstant': [root(' ID="_a1" Version="2.0"'), /^IssueInstant is "", expected an xs:dateTime in UTC with Z$/],
  'an IssueInstant in the future': [
    root(` ID="_a1" IssueInstant="${instant(61)}" Version="2.0"`),
    /^IssueInstant is 2026-11-21T12:01:01.000Z, now is 2026-11-21T12:00:00.000Z$/,
  ],
  Extensions: [
    statements('<saml:Extensions></saml:Extensions>'),
    /^the assertion contains "Extensions", which is not part/,
  ],
  'a child of another vocabulary': [
    statements('<x:Subject xmlns:x="urn:x"></x:Subject>'),
    /^the assertion contains "Subject", which is not part/,
  ],
  'text between the children': [statements('x'), /^Assertion contains text between its elements$/],
});

describe('authn-saml: claims', () => {
  it('reads the subject from the direct child, not from a deeper element', async () => {
    const deeper = `<saml:Advice><saml:Subject>${nameIdOf(mallory)}</saml:Subject><saml:Conditions></saml:Conditions></saml:Advice>`;
    await expectAccepted(credential(statements(deeper)));
  });

  it('has the issuer from the direct child, too', async () => {
    const xml = assertionXml({
      issuer: '',
      statements: `<saml:Advice><saml:Issuer>${issuer}</saml:Issuer></saml:Advice>`,
    });
    const signature = signatureOf(xml, { signer: provider });
    await expectRefusal(
      xml.replace('</saml:Assertion>', `${signature}</saml:Assertion>`),
      /^Assertion contains 0 Issuer, expected one/,
    );
  });

  it('ignores InResponseTo and Address, which this server cannot check (RFC 7522 section 3)', () => {
    const attributes = `Address="192.0.2.1" InResponseTo="_r1" NotOnOrAfter="${instant(300)}" Recipient="${client}"`;
    return expectAccepted(credential({ confirmation: confirmationOf(attributes) }));
  });

  it('compares the issuer with lws.saml.trusted-issuers exactly, if set', async () => {
    const usualCredential = credential({});
    await expectAccepted(usualCredential, { trustedIssuers: ['https://other.example/', issuer] });
    for (const trustedIssuer of ['https://other.example/', `${issuer}/`, issuer.toUpperCase(), issuer.slice(0, -1)])
      await expectRefusal(
        usualCredential,
        /^Issuer is "https:\/\/idp.example\/metadata", lws.saml.trusted-issuers are /,
        { trustedIssuers: [trustedIssuer] },
      );
  });

  it('reports the failed check to the client, without actual or expected values', async () => {
    const { message } = await expectRefusal(credential(nameId('alice')), noUri('NameID'));
    expect(message).to.equal('The NameID of the assertion must be a URI.');
    const other = conditionsOf(restrictionOf('https://other.example/'));
    const refused = await expectRefusal(credential({ conditions: other }), /https:\/\/storage.example\//);
    expect(refused.message).to.equal('The credential is for another audience.');
  });

  it('accepts an assertion with all optional parts of SAML', async () => {
    const xml = credential({
      conditions: conditionsOf(`${restrictionOf(storage)}<saml:ProxyRestriction Count="0"></saml:ProxyRestriction>`),
      ...statements(
        '<saml:AttributeStatement><saml:EncryptedAttribute></saml:EncryptedAttribute></saml:AttributeStatement>',
      ),
    });
    expect(await verify(xml)).to.deep.equal(usual);
  });
});
