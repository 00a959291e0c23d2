/** Times and audiences of assertions that a trusted provider signed. */
import { expect } from 'chai';
import {
  type AssertionParts,
  assertionXml,
  client,
  conditionsOf,
  confirmationOf,
  instant,
  now,
  restrictionOf,
  storage,
  usualStatements,
} from './assertions.js';
import { signed } from './signing.js';
import { expectAccepted, expectRefusal, provider, rulesWith, verify } from './trust.js';

const credential = (parts: AssertionParts): string => signed(assertionXml(parts), { signer: provider });
const usualCredential = credential({});
const later = (seconds: number) => ({ clock: () => now + seconds * 1000 });
const withData = (attributes: string): AssertionParts => ({
  confirmation: confirmationOf(`${attributes} Recipient="${client}"`),
});
const withConditions = (attributes: string): AssertionParts => ({
  conditions: conditionsOf(restrictionOf(storage), attributes),
});

describe('authn-saml: times', () => {
  it('accepts up to 60 s after the end and before the start, and no longer (rule 15.7)', async () => {
    await expectAccepted(usualCredential, later(359));
    await expectRefusal(
      usualCredential,
      /^SubjectConfirmationData\/@NotOnOrAfter is 2026-11-21T12:05:00.000Z, now is 2026-11-21T12:06:00.000Z$/,
      later(360),
    );
    await expectAccepted(usualCredential, later(-70));
    await expectRefusal(
      usualCredential,
      /^Conditions\/@NotBefore is 2026-11-21T11:59:50.000Z, now is 2026-11-21T11:58:49.000Z$|^IssueInstant is /,
      later(-71),
    );
  });

  it('refuses after the end of Conditions, of the confirmation, and of the session, whichever is first', async () => {
    const expired = (name: string): RegExp => new RegExp(`^${name} is 2026-11-21T11:59:00.000Z, now is `);
    await expectRefusal(
      credential(withConditions(` NotOnOrAfter="${instant(-60)}"`)),
      expired('Conditions/@NotOnOrAfter'),
    );
    await expectRefusal(
      credential(withData(`NotOnOrAfter="${instant(-60)}"`)),
      expired('SubjectConfirmationData/@NotOnOrAfter'),
    );
    const statements = `${usualStatements}<saml:AuthnStatement AuthnInstant="${instant(-99)}" SessionNotOnOrAfter="${instant(-60)}"></saml:AuthnStatement>`;
    await expectRefusal(credential({ statements }), expired('AuthnStatement/@SessionNotOnOrAfter'));
  });

  it('refuses before the start of Conditions and of the confirmation', async () => {
    const early = (name: string): RegExp => new RegExp(`^${name} is 2026-11-21T12:01:01.000Z, now is `);
    await expectRefusal(
      credential(withConditions(` NotBefore="${instant(61)}" NotOnOrAfter="${instant(600)}"`)),
      early('Conditions/@NotBefore'),
    );
    await expectRefusal(
      credential(withData(`NotBefore="${instant(61)}" NotOnOrAfter="${instant(300)}"`)),
      early('SubjectConfirmationData/@NotBefore'),
    );
  });

  it('refuses an assertion without an end (RFC 7522 section 3)', async () => {
    const neither = /^neither Conditions nor SubjectConfirmationData has a NotOnOrAfter$/;
    const conditions = conditionsOf(restrictionOf(storage), '');
    await expectRefusal(credential({ ...withData(''), conditions }), neither);
    await expectRefusal(credential({ ...withData(''), conditions: '' }), neither);
    await expectAccepted(credential({ conditions }));
  });

  it('refuses times of another zone or form, and days that do not exist', async () => {
    for (const time of [
      '',
      '2026-11-21T13:00:00',
      '2026-11-21T13:00:00+00:00',
      '2026-11-21T13:00:00+01:00',
      '2026-11-21 13:00:00Z',
      '2026-11-21T13:00:00z',
      ' 2026-11-21T13:00:00Z',
      '2026-11-21T13:00:00Z ',
      '2026-11-21T13:00Z',
      '2026-11-21Z',
      '20261121T130000Z',
      '+002026-11-21T13:00:00Z',
      '12026-11-21T13:00:00Z',
      '2027-02-29T13:00:00Z',
      '2026-13-01T13:00:00Z',
      '2026-11-31T13:00:00Z',
      '2026-11-21T24:00:00Z',
      '2026-11-21T23:59:60Z',
      '2026-11-21T13:00:00.Z',
      '2026-11-21T13:00:00.1234567890Z',
      '1795000000',
      '٢٠٢٦-11-21T13:00:00Z',
    ])
      await expectRefusal(
        credential(withData(`NotOnOrAfter="${time}"`)),
        /^NotOnOrAfter is ".*", expected an xs:dateTime in UTC with Z$/,
      );
  });

  it('accepts fractions of a second of any length', async () => {
    for (const fraction of ['.1', '.123', '.1234567'])
      await expectAccepted(credential(withData(`NotOnOrAfter="${instant(300).replace('Z', `${fraction}Z`)}"`)));
  });
});

describe('authn-saml: conditions', () => {
  it('refuses a condition that it does not understand or cannot keep (Core 2.5.1)', async () => {
    for (const [condition, name] of [
      ['<saml:OneTimeUse></saml:OneTimeUse>', 'OneTimeUse'],
      ['<saml:Condition></saml:Condition>', 'Condition'],
      ['<x:AudienceRestriction xmlns:x="urn:x"></x:AudienceRestriction>', 'AudienceRestriction'],
      ['<x:Delegation xmlns:x="urn:x"></x:Delegation>', 'Delegation'],
    ] as const)
      await expectRefusal(
        credential({ conditions: conditionsOf(restrictionOf(storage) + condition) }),
        new RegExp(`^Conditions contains "${name}"$`),
      );
  });

  it('refuses two Conditions', () =>
    expectRefusal(
      credential({ conditions: conditionsOf(restrictionOf(storage)).repeat(2) }),
      /^the assertion has more than one Conditions$/,
    ));
});

describe('authn-saml: audiences without lws.saml.audience', () => {
  const conditions = (...restrictions: readonly string[]): string =>
    credential({ conditions: conditionsOf(restrictions.join('')) });
  const foreign = /^aud is \[.*\], accepted are https:\/\/storage.example\/ https:\/\/storage.example$/;

  it('accepts the storage, with its slash or without, beside others', async () => {
    await expectAccepted(conditions(restrictionOf(storage)));
    await expectAccepted(conditions(restrictionOf('https://other.example/', storage.slice(0, -1))));
    await expectAccepted(conditions(restrictionOf(storage), restrictionOf('urn:x', storage)));
  });

  it('refuses another audience, and a spelling of ours that is not ours', async () => {
    for (const audience of [
      'https://other.example/',
      'https://storage.example.mallory.example/',
      'https://STORAGE.example/',
      ' https://storage.example/',
      'https://storage.example/x',
      '*',
    ])
      await expectRefusal(conditions(restrictionOf(audience)), foreign);
  });

  it('refuses when one of several restrictions does not name us, in any order', async () => {
    const [ours, theirs] = [restrictionOf(storage), restrictionOf('https://other.example/')];
    await expectRefusal(conditions(ours, theirs), foreign);
    await expectRefusal(conditions(theirs, ours), foreign);
  });

  it('refuses a restriction without an audience, or with one that is no text', async () => {
    const notAudience = /^an AudienceRestriction contains something other than at least one Audience$/;
    await expectRefusal(conditions(restrictionOf()), notAudience);
    await expectRefusal(
      conditions('<saml:AudienceRestriction><saml:X></saml:X></saml:AudienceRestriction>'),
      notAudience,
    );
    await expectRefusal(
      conditions(`<saml:AudienceRestriction>${storage}</saml:AudienceRestriction>`),
      /^AudienceRestriction contains text between its elements$/,
    );
    for (const audience of ['', `${storage}<saml:X></saml:X>`])
      await expectRefusal(conditions(restrictionOf(audience)), /^Audience contains something other than one text$/);
  });

  it('refuses a missing restriction unless lws.audience.require is off, as for other credentials', async () => {
    const { general } = rulesWith().audience;
    const lenient = { audience: { own: null, general: { ...general, required: false } } };
    const without = [conditions(), credential({ conditions: '' })];
    for (const xml of without) {
      await expectRefusal(xml, /^no aud, and lws.audience.require is true$/);
      await expectAccepted(xml, lenient);
    }
    await expectRefusal(conditions(restrictionOf('https://other.example/')), foreign, lenient);
  });
});

describe('authn-saml: audiences with lws.saml.audience', () => {
  const own = 'urn:example:storage';
  const rules = { audience: { own, general: { accepted: new Set([storage]), required: false } } };
  const conditions = (...restrictions: readonly string[]): string =>
    credential({ conditions: conditionsOf(restrictions.join('')) });

  it('accepts an audience that every restriction names', async () => {
    await expectAccepted(conditions(restrictionOf(own)), rules);
    await expectAccepted(conditions(restrictionOf(storage, own), restrictionOf(own)), rules);
  });

  it('refuses a missing restriction for any value of lws.audience.require', async () => {
    const none = /^no AudienceRestriction, and lws.saml.audience is "urn:example:storage"$/;
    await expectRefusal(conditions(), none, rules);
    await expectRefusal(credential({ conditions: '' }), none, rules);
  });

  it('refuses a restriction that does not name it, even one that names the storage', async () => {
    const foreign = /^an AudienceRestriction names ".*", lws.saml.audience is "urn:example:storage"$/;
    for (const restrictions of [
      [restrictionOf(storage)],
      [restrictionOf(own), restrictionOf(storage)],
      [restrictionOf(`${own}x`)],
      [restrictionOf('urn:example', 'storage')],
    ])
      await expectRefusal(conditions(...restrictions), foreign, rules);
  });

  it('leaves the principal as it is', async () => {
    expect((await verify(conditions(restrictionOf(own)), rules)).principal.client).to.equal(client);
  });
});
