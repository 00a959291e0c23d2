/** Reads controlled identifier documents (W3C Controlled Identifiers 1.0): JSON by member names, RDF by IRIs. */
import type { Quad, Term } from '@rdfjs/types';
import { type PublicJwk, readMultikey } from '../authorization/multikey.js';
import { lws, rdf } from '../rdf/vocabulary.js';
import { addTo } from '../tools/collections.js';
import { isObject, valuesOf } from '../tools/json/exact-json.js';
import { jsonOf } from '../tools/json/json.js';
import { privateMembers } from './jwt.js';
import { refusedCredential } from './suite.js';

/** Key with which a subject can authenticate. */
export interface AuthenticationMethod {
  readonly id: string;
  readonly controller: string | undefined;
  /** Public key. Absent if the type of key is unknown, or if the document reveals the private key. */
  readonly jwk: (PublicJwk | Readonly<Record<string, unknown>>) | undefined;
  /** Times of revocation and expiry, in milliseconds since the epoch, or NaN for an invalid date. */
  readonly revoked: number | undefined;
  readonly expires: number | undefined;
}

export interface ControlledIdentifier {
  readonly id: string;
  /** Verification methods of the `authentication` relationship only. */
  readonly authentication: readonly AuthenticationMethod[];
  /** Endpoints of services of type `lws:OpenIdProvider`. */
  readonly openIdProviders: readonly string[];
  /** Values of `solid:oidcIssuer`. */
  readonly oidcIssuers: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
/** Returns the IRI in a string, or in a JSON-LD object with an id. */
const reference = (value: unknown): string | undefined =>
  text(value) ?? (isObject(value) ? text(value['id']) : undefined);

/** Maximum count of entries in each of the members `verificationMethod`, `authentication` and `service`. */
const maxEntries = 50;

/** Returns the keys and providers in a document. @throws LwsError `invalid-token` for another subject or too many entries */
export function interpret(document: unknown, subject: string): ControlledIdentifier {
  const id = isObject(document) ? text(document['id']) : undefined;
  if (!isObject(document) || id !== subject)
    throw refusedCredential(
      'The document of the subject describes another subject.',
      `its id is ${String(id).slice(0, 300)}, expected ${subject}`,
    );
  for (const member of ['verificationMethod', 'authentication', 'service'])
    if (valuesOf(document[member]).length > maxEntries)
      throw refusedCredential(
        `The document of the subject has more than ${maxEntries} entries in ${member}.`,
        `${valuesOf(document[member]).length} entries in the document of ${subject.slice(0, 300)}`,
      );
  const methods = new Map(
    valuesOf(document['verificationMethod'])
      .filter(isObject)
      .map((method) => [absolute(text(method['id']), subject), method]),
  );
  const authentication = valuesOf(document['authentication']).flatMap((entry): AuthenticationMethod[] => {
    const method =
      isObject(entry) && Object.keys(entry).length > 1 ? entry : methods.get(absolute(reference(entry), subject));
    return method ? [methodOf(method, subject)] : [];
  });
  const oidcIssuers = valuesOf(document['oidcIssuer']).flatMap((issuer) => text(issuer) ?? []);
  return { id: subject, authentication, openIdProviders: providersOf(document), oidcIssuers };
}

/** Returns an absolute ID. `#key` is relative to the subject. */
const absolute = (id: string | undefined, subject: string): string | undefined =>
  id?.startsWith('#') ? subject.replace(/#.*$/s, '') + id : id;

function methodOf(method: Members, subject: string): AuthenticationMethod {
  const date = (value: unknown): number | undefined => (value === undefined ? undefined : Date.parse(String(value)));
  return {
    id: absolute(text(method['id']), subject) ?? '',
    controller: reference(method['controller']),
    jwk: keyOf(method),
    revoked: date(method['revoked']),
    expires: date(method['expires']),
  };
}

/** Returns the public key of a method. The 2020 types are read as JsonWebKey and Multikey (rule 15.11). */
function keyOf(method: Members): AuthenticationMethod['jwk'] {
  // A key is rejected if its private key is published in the document.
  if (method['secretKeyJwk'] !== undefined || method['secretKeyMultibase'] !== undefined) return undefined;
  const types = valuesOf(method['type']).map((type) => String(type).replace(/^.*[#/]/, ''));
  if (types.some((type) => type === 'JsonWebKey' || type === 'JsonWebKey2020')) {
    const jwk = method['publicKeyJwk'];
    return isObject(jwk) && !privateMembers.some((member) => member in jwk) ? publicPartOf(jwk) : undefined;
  }
  if (types.some((type) => type === 'Multikey' || type === 'Ed25519VerificationKey2020'))
    return readMultikey(text(method['publicKeyMultibase']) ?? '');
  return undefined;
}

const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e', 'alg', 'use', 'key_ops', 'kid'];

/** Returns only the members of a key that are used, since other members could have any size. */
const publicPartOf = (jwk: Members): Members =>
  Object.fromEntries(publicMembers.flatMap((member) => (member in jwk ? [[member, jwk[member]]] : [])));

const providerTypes: ReadonlySet<unknown> = new Set([
  'OpenIdProvider',
  'lws:OpenIdProvider',
  `${lws.namespace}OpenIdProvider`,
]);

const providersOf = (document: Members): readonly string[] =>
  valuesOf(document['service'])
    .filter(isObject)
    .filter(({ type }) => valuesOf(type).some((name) => providerTypes.has(name)))
    .flatMap(({ serviceEndpoint }) => valuesOf(serviceEndpoint).flatMap((endpoint) => reference(endpoint) ?? []));

const security = 'https://w3id.org/security#';
const did = 'https://www.w3.org/ns/did#';
const names: Readonly<Record<string, string>> = {
  [`${security}authenticationMethod`]: 'authentication',
  [`${security}verificationMethod`]: 'verificationMethod',
  [`${did}service`]: 'service',
  [`${did}serviceEndpoint`]: 'serviceEndpoint',
  [`${security}controller`]: 'controller',
  [`${security}publicKeyJwk`]: 'publicKeyJwk',
  [`${security}publicKeyMultibase`]: 'publicKeyMultibase',
  [`${security}secretKeyJwk`]: 'secretKeyJwk',
  [`${security}secretKeyMultibase`]: 'secretKeyMultibase',
  [`${security}revoked`]: 'revoked',
  [`${security}expiration`]: 'expires',
  [rdf.type]: 'type',
  'http://www.w3.org/ns/solid/terms#oidcIssuer': 'oidcIssuer',
};

/** Names of members whose values are nodes with members. */
const nested = new Set(['authentication', 'verificationMethod', 'service']);

/** Converts an RDF graph to the JSON form: the statements about the subject, and about the nodes that the subject links to. */
export function documentOfQuads(quads: readonly Quad[], subject: string): unknown {
  const bySubject = new Map<string, Quad[]>();
  // Only known members are read, because documents may contain much more.
  for (const quad of quads) {
    if (names[quad.predicate.value] === undefined) continue;
    addTo(bySubject, keyOfTerm(quad.subject), quad);
  }
  const node = (term: Term, depth: number): Members => {
    const members = new Map<string, unknown[]>();
    for (const { predicate, object } of bySubject.get(keyOfTerm(term)) ?? []) {
      const name = names[predicate.value]!;
      const value = nested.has(name) && depth === 0 ? node(object, 1) : memberOf(name, object);
      addTo(members, name, value);
    }
    const entries = [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
    return Object.fromEntries([['id', term.value], ...entries]);
  };
  const about = quads.find(({ subject: term }) => term.termType === 'NamedNode' && term.value === subject);
  return about ? node(about.subject, 0) : undefined;
}

const keyOfTerm = (term: Term): string => `${term.termType} ${term.value}`;

function memberOf(name: string, term: Term): unknown {
  if (name === 'oidcIssuer' && term.termType !== 'NamedNode') return undefined;
  return name === 'publicKeyJwk' ? jsonOf(term.value) : term.value;
}
