/** Assertions as identity providers write them, in canonical form, and parts for invalid ones. */

export const now = Date.UTC(2026, 10, 21, 12);
export const storage = 'https://storage.example/';
export const issuer = 'https://idp.example/metadata';
export const alice = 'https://alice.example/profile#me';
export const mallory = 'https://mallory.example/profile#me';
export const client = 'https://app.example/id';

export const samlNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** Returns a SAML time, in seconds from `now`. */
export const instant = (seconds: number): string => new Date(now + seconds * 1000).toISOString().replace('.000Z', 'Z');

/** Parts of an assertion. A string replaces the usual one, the empty string omits it. */
export interface AssertionParts {
  readonly id?: string;
  /** Attributes of the root besides its namespace, in canonical order. */
  readonly attributes?: string;
  readonly issuer?: string;
  readonly nameId?: string;
  readonly confirmation?: string;
  readonly subject?: string;
  readonly conditions?: string;
  readonly statements?: string;
}

export const nameIdOf = (subject: string): string => `<saml:NameID>${subject}</saml:NameID>`;

export const confirmationOf = (attributes: string, method = bearer): string =>
  `<saml:SubjectConfirmation Method="${method}"><saml:SubjectConfirmationData${attributes.trim().replace(/^(?=.)/, ' ')}></saml:SubjectConfirmationData></saml:SubjectConfirmation>`;

export const usualConfirmation = confirmationOf(`NotOnOrAfter="${instant(300)}" Recipient="${client}"`);

export const restrictionOf = (...audiences: readonly string[]): string =>
  `<saml:AudienceRestriction>${audiences.map((audience) => `<saml:Audience>${audience}</saml:Audience>`).join('')}</saml:AudienceRestriction>`;

export const conditionsOf = (
  content: string,
  attributes = ` NotBefore="${instant(-10)}" NotOnOrAfter="${instant(600)}"`,
): string => `<saml:Conditions${attributes}>${content}</saml:Conditions>`;

export const usualStatements = `<saml:AuthnStatement AuthnInstant="${instant(-10)}" SessionNotOnOrAfter="${instant(3600)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="mail"><saml:AttributeValue>alice@example</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>`;

/** Returns an assertion without a signature, in exclusive canonical form. */
export function assertionXml(parts: AssertionParts = {}): string {
  const {
    id = '_a1',
    attributes = ` ID="${id}" IssueInstant="${instant(-10)}" Version="2.0"`,
    issuer: from = `<saml:Issuer>${issuer}</saml:Issuer>`,
    nameId = nameIdOf(alice),
    confirmation = usualConfirmation,
    subject = `<saml:Subject>${nameId}${confirmation}</saml:Subject>`,
    conditions = conditionsOf(restrictionOf(storage)),
    statements = usualStatements,
  } = parts;
  return `<saml:Assertion xmlns:saml="${samlNamespace}"${attributes}>${from}${subject}${conditions}${statements}</saml:Assertion>`;
}
