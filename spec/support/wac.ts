/** Identities, ACLs and effective modes for specs of Web Access Control (rules 2.1, 3.2). */
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { credential, ed25519Identity, type Identity, p256Identity } from './identity.js';

export const owner = ed25519Identity();
export const alice = ed25519Identity();
export const bob = p256Identity();

export const acl = 'http://www.w3.org/ns/auth/acl#';
export const everybody = '<http://xmlns.com/foaf/0.1/Agent>';
export const wacSettings: Readonly<Record<string, string>> = { 'access-control': 'wac', owners: owner.did };
/** Options of describeStorage for a storage in WAC mode, owned by `owner`. */
export const inWac = (settings: Readonly<Record<string, string>> = {}) => ({
  settings: { ...wacSettings, ...settings },
  owner,
});

/** Options for `lws.profile=solid`, which also sets WAC mode. */
export const inSolid = (settings: Readonly<Record<string, string>> = {}) => ({
  settings: { profile: 'solid', owners: owner.did, ...settings },
  owner,
});

/** Cache of credentials. A new one for each request would have to be verified each time. */
const credentials = new Map<string, Sender>();

export function as({ root }: StorageUnderTest, who: Identity): Sender {
  const key = `${root} ${who.did}`;
  const sender = credentials.get(key) ?? { token: credential(who, { aud: root.slice(0, -1) }) };
  credentials.set(key, sender);
  return sender;
}

/** Returns the agents of a rule, as predicates and objects in Turtle. */
export const agent = (...people: readonly Identity[]): string =>
  `acl:agent ${people.map((p) => `<${p.did}>`).join(', ')}`;
export const anybody = `acl:agentClass ${everybody}`;
export const authenticated = 'acl:agentClass acl:AuthenticatedAgent';

/**
 * Returns an authorization for the described resource.
 * @param modes names after `acl:`, separated by blanks
 * @param where `accessTo`, `default`, or both
 */
export const rule = (modes: string, who: string, where = 'accessTo default'): string =>
  `[] a acl:Authorization ; ${who} ; acl:mode ${modes
    .split(' ')
    .map((mode) => `acl:${mode}`)
    .join(', ')} ; ${where
    .split(' ')
    .map((term) => `acl:${term} <>`)
    .join(' ; ')} .`;

export const turtleOf = (...rules: readonly string[]): string => `@prefix acl: <${acl}> .\n${rules.join('\n')}\n`;
export const ownerRule = rule('Read Write Control', agent(owner));
export const aclOf = (iri: string): string => `${iri}.acl`;

/** Writes the ACL of a resource without the owner's rule. The default sender is the owner. */
export async function setBareAcl(
  s: StorageUnderTest,
  iri: string,
  rules: readonly string[],
  by?: Sender,
): Promise<void> {
  const there = (await s.send('GET', aclOf(iri), {}, undefined, by)).status === 200;
  const headers = { 'Content-Type': 'text/turtle', ...(there ? { 'If-Match': '*' } : {}) };
  const answer = await s.send('PUT', aclOf(iri), headers, turtleOf(...rules), by);
  expect(answer.status, `PUT ${aclOf(iri)}: ${answer.text}`).to.equal(there ? 204 : 201);
}

/** Writes the ACL of a resource, with all modes for the owner. */
export const setAcl = (s: StorageUnderTest, iri: string, ...rules: readonly string[]): Promise<void> =>
  setBareAcl(s, iri, [ownerRule, ...rules]);

/** Requests that fail after authorization: they reveal a mode and change nothing. */
const probes: Readonly<Record<string, (iri: string) => [string, string, Record<string, string>, string?]>> = {
  read: (iri) => ['GET', iri, {}],
  append: (iri) => ['PUT', `${iri}probe-of-append`, { 'Content-Type': 'text/turtle' }, '<> no Turtle'],
  post: (iri) => ['POST', iri, { 'Content-Type': 'text/turtle' }, '<> no Turtle'],
  write: (iri) => ['PUT', iri, { 'Content-Type': 'text/turtle', 'If-Match': '"none"' }, ''],
  meta: (iri) => ['PUT', `${iri}.meta`, { 'Content-Type': 'application/linkset+json', 'If-Match': '"none"' }, '{}'],
  delete: (iri) => ['DELETE', iri, { 'If-Match': '"none"' }],
  control: (iri) => ['PUT', aclOf(iri), { 'Content-Type': 'text/turtle', 'If-Match': '"none"' }, ''],
};
const passed: Readonly<Record<string, number>> = { read: 200, append: 400, post: 400 };

/**
 * Returns the modes that a caller has on an existing resource, in the order `read append write delete control`. Asserts that
 * refusals follow rule 4.3. In owner mode `control` is never visible.
 */
export async function modesOf(
  s: StorageUnderTest,
  iri: string,
  sender: Sender,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const held: Record<string, boolean> = {};
  for (const [mode, probe] of Object.entries(probes)) {
    if (iri.endsWith('/') ? mode === 'write' : mode === 'append' || mode === 'post') continue;
    const [method, target, fields, body] = probe(iri);
    const { status, text } = await s.send(method, target, { ...fields, ...headers }, body, sender);
    held[mode] = status === (passed[mode] ?? 412);
    // In owner mode the name is reserved for every caller.
    if (mode === 'control' && status === 409) continue;
    const refusal = sender === 'anonymous' ? 401 : held['read'] ? 403 : 404;
    // A caller who can read the container gets 403 for an unreadable or nonexistent name.
    const refusals = mode === 'write' && refusal === 404 ? [403, 404] : [refusal];
    if (!held[mode]) expect(status, `${method} ${target}: ${text}`).to.be.oneOf(refusals);
  }
  // Both requests need the same mode.
  if (iri.endsWith('/'))
    expect(held['post'], `POST to ${iri}: PUT allowed is ${held['append']}`).to.equal(held['append']);
  else expect(held['meta'], `PUT of ${iri}.meta`).to.equal(held['write']);
  held['write'] = held['meta']!;
  return ['read', 'append', 'write', 'delete', 'control'].filter((mode) => held[mode]).join(' ');
}

export const every = (iri: string): string =>
  iri.endsWith('/') ? 'read append write delete control' : 'read write delete control';

/** Returns the status of a response. */
export const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status;
