/**
 * Reads the claims of an assertion from the signed content (SAML 2.0 Core 2.3 to 2.7). Does not check signatures or settings.
 */

import { isAbsoluteIri } from '../../lib/plugin/formats.js';
import type { XmlElement } from '../../lib/plugin/xml.js';
import { childrenOf, onlyChild, textContentOf } from './document.js';
import { assertionNamespace as saml } from './identifiers.js';
import { refuse, shownName } from './refusal.js';

/** Matches times in SAML (SAML 2.0 Core 1.3.3): xs:dateTime in UTC. */
const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z$/;

/**
 * Parses a time to milliseconds since the epoch, without fractions of a second. @param name name of the attribute, for the log
 * @throws LwsError `invalid-token` for another time zone or format, or a nonexistent day or time
 */
function readInstant(value: string, name: string): number {
  const [, seconds] = form.exec(value) ?? [];
  const time = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`);
  // Date.parse reads February 30 as March 1 or 2, and 24:00 as the next day.
  if (Number.isNaN(time) || new Date(time).toISOString() !== `${seconds}.000Z`)
    refuse(
      'A time in the assertion is malformed.',
      `${name} is ${shownName(value)}, expected an xs:dateTime in UTC with Z`,
    );
  return time;
}

/** Limit of the validity period: attribute name, and time in milliseconds since the epoch. */
export interface Bound {
  readonly name: string;
  readonly time: number;
}

export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  readonly client: string;
  readonly issued: number;
  readonly notBefore: readonly Bound[];
  /** Ends of the validity: at least one from Conditions or SubjectConfirmationData, and from AuthnStatement if present. */
  readonly notOnOrAfter: readonly Bound[];
  /** Audiences: one list for each AudienceRestriction. */
  readonly audiences: readonly (readonly string[])[];
}

const notBuilt = 'The structure of the assertion is not supported.';
const entityFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity';
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
/** Maximum characters of an entity identifier (SAML 2.0 Core 8.3.6), applied to all identifiers in an assertion. */
const maxIdentifierLength = 1024;

const known =
  'Issuer Subject Conditions Advice Statement AuthnStatement AuthzDecisionStatement AttributeStatement'.split(' ');

/**
 * Reads the claims. @param assertion root of the signed content @param id id in the signature @throws LwsError `invalid-token`
 */
export function readClaims(assertion: XmlElement, id: string): Claims {
  assertAssertion(assertion, id);
  const subject = onlyChild(assertion, saml, 'Subject');
  const confirmation = readConfirmation(subject);
  const [conditions, ...more] = childrenOf(assertion).filter((child) => child.isNamed(saml, 'Conditions'));
  if (more.length > 0) refuse(notBuilt, 'the assertion has more than one Conditions');
  const sessions = childrenOf(assertion).filter((child) => child.isNamed(saml, 'AuthnStatement'));
  return {
    issuer: readIssuer(onlyChild(assertion, saml, 'Issuer')),
    subject: readSubject(subject),
    client: readUri(confirmation.attribute('Recipient'), 'Recipient'),
    issued: readInstant(assertion.attribute('IssueInstant') ?? '', 'IssueInstant'),
    notBefore: [...bounds(conditions, 'NotBefore'), ...bounds(confirmation, 'NotBefore')],
    notOnOrAfter: [
      ...readExpiry(conditions, confirmation),
      ...sessions.flatMap((session) => bounds(session, 'SessionNotOnOrAfter')),
    ],
    audiences: conditions ? readConditions(conditions) : [],
  };
}

function assertAssertion(assertion: XmlElement, id: string): void {
  if (!assertion.isNamed(saml, 'Assertion') || assertion.attribute('ID') !== id)
    refuse(
      notBuilt,
      `the signed content is ${shownName(assertion.localName)}, expected the Assertion ${shownName(id)}`,
    );
  const version = assertion.attribute('Version');
  if (version !== '2.0') refuse(notBuilt, `Version is ${shownName(version)}, expected "2.0"`);
  for (const child of childrenOf(assertion))
    if (child.namespace !== saml || !known.includes(child.localName))
      refuse(
        notBuilt,
        `the assertion contains ${shownName(child.localName)}, which is not part of a SAML 2.0 assertion`,
      );
}

/** Returns the issuer, which is an entity by default (Core 2.2.5). The identifier of an entity is a URI (8.3.6). */
function readIssuer(issuer: XmlElement): string {
  const format = issuer.attribute('Format');
  if (format !== undefined && format !== entityFormat)
    refuse('The issuer of the assertion must be an entity.', `the Format of Issuer is ${shownName(format)}`);
  return readUri(textContentOf(issuer), 'Issuer');
}

/** Returns the subject: exactly one NameID. EncryptedID and BaseID are not supported. */
function readSubject(subject: XmlElement): string {
  for (const { localName } of childrenOf(subject))
    if (!['NameID', 'SubjectConfirmation'].includes(localName))
      refuse(notBuilt, `Subject contains ${shownName(localName)}, expected only NameID and SubjectConfirmation`);
  return readUri(textContentOf(onlyChild(subject, saml, 'NameID')), 'NameID');
}

/** Returns the bearer confirmation (Profiles 3.3). Rejects a second confirmation, which could apply to another subject. */
function readConfirmation(subject: XmlElement): XmlElement {
  const confirmation = onlyChild(subject, saml, 'SubjectConfirmation');
  const method = confirmation.attribute('Method');
  if (method !== bearer)
    refuse(
      'The subject of the assertion must be confirmed by bearer.',
      `the Method of SubjectConfirmation is ${shownName(method)}, expected ${bearer}`,
    );
  const data = onlyChild(confirmation, saml, 'SubjectConfirmationData');
  // A second NameID would name a party that acts for the subject (Core 2.4.1.1). A key would mean a holder-of-key confirmation.
  if (childrenOf(confirmation).length > 1 || childrenOf(data).length > 0)
    refuse(notBuilt, 'SubjectConfirmation must contain only a SubjectConfirmationData without content');
  return data;
}

/** Returns the expiry times. At least one is required, in Conditions or in the confirmation (RFC 7522 section 3, item 6). */
function readExpiry(conditions: XmlElement | undefined, confirmation: XmlElement): Bound[] {
  const ends = [...bounds(conditions, 'NotOnOrAfter'), ...bounds(confirmation, 'NotOnOrAfter')];
  if (ends.length === 0)
    refuse('The assertion has no expiry time.', 'neither Conditions nor SubjectConfirmationData has a NotOnOrAfter');
  return ends;
}

/** Returns the audiences. An unknown condition makes the validity indeterminate, so it is rejected (Core 2.5.1). */
function readConditions(conditions: XmlElement): string[][] {
  const children = childrenOf(conditions);
  for (const child of children) {
    // Ignore ProxyRestriction: it limits only assertions that are issued from this one, and this server issues none (2.5.1.6).
    if (child.isNamed(saml, 'AudienceRestriction') || child.isNamed(saml, 'ProxyRestriction')) continue;
    // OneTimeUse (2.5.1.5) would require a record of used assertions, which this server does not keep (rule 15.12).
    refuse(
      'The assertion has a condition that this server does not support.',
      `Conditions contains ${shownName(child.localName)}`,
    );
  }
  return children.filter((child) => child.localName === 'AudienceRestriction').map(readAudiences);
}

function readAudiences(restriction: XmlElement): string[] {
  const audiences = childrenOf(restriction);
  if (audiences.length === 0 || audiences.some((audience) => !audience.isNamed(saml, 'Audience')))
    refuse(notBuilt, 'an AudienceRestriction contains something other than at least one Audience');
  return audiences.map(textContentOf);
}

function bounds(element: XmlElement | undefined, name: string): Bound[] {
  const value = element?.attribute(name);
  return element && value !== undefined
    ? [{ name: `${element.localName}/@${name}`, time: readInstant(value, name) }]
    : [];
}

function readUri(value: string | undefined, name: string): string {
  if (value === undefined || value.length > maxIdentifierLength || !isAbsoluteIri(value))
    return refuse(
      `The ${name} of the assertion must be a URI.`,
      `${name} is ${shownName(value)}, expected an absolute URI of at most ${maxIdentifierLength} characters`,
    );
  return value;
}
