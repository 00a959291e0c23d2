/**
 * Signature wrapping: the eight classic shapes (Somorovsky et al., "On Breaking SAML", XSW1 to XSW8) for assertions, and
 * variants. In each, a forged assertion is placed for a careless reader, while the signature of the original is still valid.
 */
import { assertionXml, mallory, nameIdOf } from './assertions.js';
import { dsNamespace, insertAfterIssuer, signatureOf, signed } from './signing.js';
import { expectAccepted, expectRefusal, provider } from './trust.js';

const original = assertionXml();
const signature = signatureOf(original, { signer: provider });
const genuine = insertAfterIssuer(original, signature);
const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';

/** The attacker's assertion: with its own identifier, or with that of the original. */
const evilOf = (id: string): string => assertionXml({ id, nameId: nameIdOf(mallory) });
const evilWith = (id: string, part: string): string => insertAfterIssuer(evilOf(id), part);
const atEnd = (assertion: string, part: string): string =>
  assertion.replace('</saml:Assertion>', `${part}</saml:Assertion>`);
const inSignature = (part: string): string => signature.replace('</ds:Signature>', `${part}</ds:Signature>`);
const response = (content: string): string =>
  `<samlp:Response xmlns:samlp="${protocol}" ID="_r1" Version="2.0">${content}</samlp:Response>`;

const two = /^2 Assertion elements, expected one$/;
const isResponse = /^the root element is a Response, expected Assertion$/;
const wrapped = (...parts: readonly string[]): string => `<x:Wrapper xmlns:x="urn:x">${parts.join('')}</x:Wrapper>`;

const shapes: Readonly<Record<string, (id: string) => readonly (readonly [string, RegExp])[]>> = {
  'XSW1, the original inside the signature of the forged one': (id) => [
    [evilWith(id, inSignature(original)), two],
    [response(evilWith(id, inSignature(original))), isResponse],
  ],
  'XSW2, the original beside its detached signature in the forged one': (id) => [
    [evilWith(id, original + signature), two],
    [wrapped(original, signature, evilOf(id)), /^the root element is "\{urn:x\}Wrapper", expected Assertion$/],
  ],
  'XSW3, the forged one before the original': (id) => [
    [response(evilOf(id) + genuine), isResponse],
    [wrapped(evilOf(id), genuine), /^the root element is "\{urn:x\}Wrapper"/],
    [evilOf(id) + genuine, /^content after the root element: a tag/],
  ],
  'XSW4, the original as a child of the forged one': (id) => [
    [atEnd(evilOf(id), genuine), two],
    [response(atEnd(evilOf(id), genuine)), isResponse],
  ],
  'XSW5, the signature in the forged one, the original after it': (id) => [
    [atEnd(evilWith(id, signature), original), two],
    [response(evilWith(id, signature) + original), isResponse],
    [evilWith(id, signature) + original, /^content after the root element: a tag/],
  ],
  'XSW6, the signature in the forged one, the original in the signature': (id) => [
    [evilWith(id, inSignature(`<ds:KeyInfo>${original}</ds:KeyInfo>`)), two],
    [response(evilWith(id, inSignature(original))), isResponse],
  ],
  'XSW7, the forged one in Extensions or Advice': (id) => [
    [response(`<samlp:Extensions>${evilOf(id)}</samlp:Extensions>${genuine}`), isResponse],
    [atEnd(genuine, `<saml:Extensions>${evilOf(id)}</saml:Extensions>`), two],
    [atEnd(genuine, `<saml:Advice>${evilOf(id)}</saml:Advice>`), two],
    [atEnd(evilOf(id), `<saml:Advice>${genuine}</saml:Advice>`), two],
  ],
  'XSW8, the original in an Object of the signature': (id) => [
    [evilWith(id, inSignature(`<ds:Object>${original}</ds:Object>`)), two],
    [response(evilWith(id, inSignature(`<ds:Object>${original}</ds:Object>`))), isResponse],
  ],
};

describe('authn-saml: signature wrapping', () => {
  it('accepts the original, so that the shapes are refused for their additions', () => expectAccepted(genuine));

  for (const [name, shape] of Object.entries(shapes))
    for (const id of ['_evil', '_a1'])
      it(`refuses ${name} (ID ${id})`, async () => {
        for (const [credential, reason] of shape(id)) {
          await expectRefusal(credential, reason);
          await expectRefusal(Buffer.from(credential).toString('base64'), reason);
        }
      });

  it('refuses the forged one with the signature of the original, by ID or by digest', async () => {
    await expectRefusal(evilWith('_evil', signature), /^the Reference names "#_a1", expected "#_evil"$/);
    await expectRefusal(evilWith('_a1', signature), /^the digest does not match the assertion$/);
  });

  it('refuses a second assertion of another version or vocabulary', async () => {
    const old = original
      .replace(/xmlns:saml="[^"]*"/, 'xmlns:old="urn:oasis:names:tc:SAML:1.0:assertion"')
      .replaceAll('saml:', 'old:');
    await expectRefusal(atEnd(genuine, old), two);
  });

  it('refuses an encrypted assertion beside or in place of the signed one', async () => {
    const encrypted = '<saml:EncryptedAssertion></saml:EncryptedAssertion>';
    await expectRefusal(atEnd(genuine, encrypted), /^an EncryptedAssertion, expected none$/);
    await expectRefusal(
      `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"></saml:EncryptedAssertion>`,
      /EncryptedAssertion", expected Assertion$/,
    );
  });

  it('refuses claims in an Object, and an Object as such', async () => {
    for (const object of [`<ds:Object></ds:Object>`, `<ds:Object>${nameIdOf(mallory)}</ds:Object>`])
      await expectRefusal(
        insertAfterIssuer(original, inSignature(object)),
        /^the Signature contains "SignedInfo SignatureValue Object", expected/,
      );
  });

  it('refuses a duplicate identifier, with any attribute name and at any position', async () => {
    for (const name of ['ID', 'Id', 'id', 'x:ID', 'iD']) {
      const declared = name.startsWith('x:') ? ' xmlns:x="urn:x"' : '';
      const inKeyInfo = `<ds:KeyInfo><ds:KeyName${declared} ${name}="_a1"></ds:KeyName></ds:KeyInfo>`;
      const credential = insertAfterIssuer(original, inSignature(inKeyInfo));
      await expectRefusal(credential, /^the identifier "_a1" is repeated$/);
    }
    await expectRefusal(
      genuine.replace('<saml:Subject>', '<saml:Subject Id="_a1">'),
      /^the identifier "_a1" is repeated$/,
    );
  });

  it('refuses an assertion without an ID, or with an ID that is not a plain name', async () => {
    for (const id of ['', 'a b', "_a1' or '1'='1", '_a1#x', '1a', 'a:b', `_${'a'.repeat(300)}`]) {
      const xml = assertionXml({ id: id.replaceAll("'", '&apos;') });
      await expectRefusal(
        signed(xml, { signer: provider, uri: `#${id}` }),
        /^the ID of the assertion is ".*expected an NCName$/,
      );
    }
    const without = assertionXml({ attributes: ' Version="2.0"' });
    await expectRefusal(signed(without, { signer: provider }), /^the ID of the assertion is "", expected/);
  });

  it('refuses an unsigned assertion, and a signature that is not its own child', async () => {
    await expectRefusal(original, /^no Signature$/);
    const inSubject = original.replace('<saml:Subject>', `<saml:Subject>${signature}`);
    await expectRefusal(inSubject, /^the Signature is not a child of the assertion$/);
    await expectRefusal(response(signature + original), isResponse);
    const foreign = genuine.replaceAll(dsNamespace, 'urn:x');
    await expectRefusal(foreign, /^the Signature is not a child of the assertion$/);
  });

  it('refuses a second signature, before, after, inside and of another vocabulary', async () => {
    const twice = /^2 Signature elements, expected one$/;
    await expectRefusal(insertAfterIssuer(genuine, signature), twice);
    await expectRefusal(atEnd(genuine, signature), twice);
    await expectRefusal(insertAfterIssuer(original, inSignature(`<ds:KeyInfo>${signature}</ds:KeyInfo>`)), twice);
    await expectRefusal(atEnd(genuine, '<x:Signature xmlns:x="urn:x"></x:Signature>'), twice);
  });

  it('refuses parts of a signature that a search by name would find first', async () => {
    for (const name of [
      'SignedInfo',
      'SignatureValue',
      'CanonicalizationMethod',
      'SignatureMethod',
      'DigestValue',
      'DigestMethod',
      'Transforms',
    ]) {
      const decoy = `<x:${name} xmlns:x="urn:x" Algorithm="urn:x"></x:${name}>`;
      const reason = new RegExp(`^2 ${name} elements, expected one$`);
      await expectRefusal(genuine.replace('<saml:Issuer>', `${decoy}<saml:Issuer>`), reason);
      await expectRefusal(insertAfterIssuer(original, inSignature(`<ds:KeyInfo>${decoy}</ds:KeyInfo>`)), reason);
    }
  });

  it('refuses additions to the signed assertion and elements moved into it', async () => {
    const digest = /^the digest does not match the assertion$/;
    for (const changed of [
      genuine.replace('</saml:NameID>', '.evil.example</saml:NameID>'),
      genuine.replace('<saml:Subject>', `<saml:Subject>${nameIdOf(mallory)}`),
      genuine.replace('<saml:NameID>', '<saml:NameID NameQualifier="x">'),
      genuine.replace('<saml:Conditions', '<saml:Conditions Extra="x"'),
      genuine.replace('<saml:Subject>', '<saml:Subject> '),
      genuine.replace(/(<saml:Subject>.*<\/saml:Subject>)(<saml:Conditions.*<\/saml:Conditions>)/, '$2$1'),
      genuine.replace(/<saml:Conditions.*<\/saml:Conditions>/, ''),
    ]) {
      if (changed === genuine) throw new Error('nothing was changed');
      await expectRefusal(changed, digest);
    }
  });
});
