/** Access requests and grants, as clients write them (rule 17.4). */
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import type { Identity } from './identity.js';
import { lwsContext, lwsJson } from './search.js';

export const publicAgentIri = 'http://xmlns.com/foaf/0.1/Agent';

export const requestsOf = (s: StorageUnderTest): string => `${s.root}.lws/access-requests`;
export const grantsOf = (s: StorageUnderTest): string => `${s.root}.lws/access-grants`;

export interface Constraint {
  readonly leftOperand?: unknown;
  readonly operator?: unknown;
  readonly rightOperand?: unknown;
}
export const constraint = (leftOperand: unknown, operator: unknown, rightOperand: unknown): Constraint => ({
  leftOperand,
  operator,
  rightOperand,
});

export interface Policy {
  readonly type?: unknown;
  readonly action?: unknown;
  readonly assignee?: unknown;
  readonly target?: unknown;
  readonly constraint?: unknown;
  readonly [member: string]: unknown;
}

const iriOf = (who: Identity | string): string => (typeof who === 'string' ? who : who.did);

/** Returns a policy that permits actions on some resources. */
export const policy = (
  who: Identity | string,
  action: string | readonly string[],
  value: string | readonly string[],
  type = 'StorageResource',
  ...constraints: readonly Constraint[]
): Policy => ({
  type: ['AccessPolicy'],
  action: [action].flat(),
  assignee: iriOf(who),
  target: { type, value: [value].flat() },
  ...(constraints.length > 0 ? { constraint: constraints } : {}),
});

/** Returns a grant or an access request with these policies. `undefined` in `changes` removes a member. */
export const documentOf = (
  s: StorageUnderTest,
  type: 'AccessGrant' | 'AccessRequest',
  access: unknown,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => ({ '@context': lwsContext, type: [type], storage: s.root, access, ...changes });

export const postDocument = (
  s: StorageUnderTest,
  endpoint: string,
  document: unknown,
  by?: Sender,
  type = lwsJson,
): Promise<Answer> => s.send('POST', endpoint, { 'Content-Type': type }, JSON.stringify(document), by);

/** Issues a grant. @returns its IRI */
export async function grant(s: StorageUnderTest, policies: Policy | readonly Policy[], by?: Sender): Promise<string> {
  const answer = await postDocument(s, grantsOf(s), documentOf(s, 'AccessGrant', [policies].flat()), by);
  expect(answer.status, answer.text).to.equal(201);
  return new URL(answer.headers['location']!, s.root).href;
}

/** Creates an access request. @returns its IRI */
export async function file(s: StorageUnderTest, policies: Policy | readonly Policy[], by?: Sender): Promise<string> {
  const answer = await postDocument(s, requestsOf(s), documentOf(s, 'AccessRequest', [policies].flat()), by);
  expect(answer.status, answer.text).to.equal(201);
  return new URL(answer.headers['location']!, s.root).href;
}

/** Deletes a grant or an access request. */
export async function revoke(s: StorageUnderTest, iri: string, by?: Sender): Promise<void> {
  const answer = await s.send('DELETE', iri, {}, undefined, by);
  expect(answer.status, answer.text).to.equal(204);
}

/** Returns the IRIs that a list contains for the sender. */
export async function listed(s: StorageUnderTest, endpoint: string, by?: Sender): Promise<string[]> {
  const answer = await s.send('GET', endpoint, {}, undefined, by);
  expect(answer.status, answer.text).to.equal(200);
  const { items, totalItems } = JSON.parse(answer.text) as { items: { id: string }[]; totalItems: number };
  expect(totalItems).to.equal(items.length);
  return items.map(({ id }) => id);
}

/** Creates a tree of containers and resources, with names that sort next to those of a container. @returns its container */
export async function tree(s: StorageUnderTest, base = s.fresh('/')): Promise<string> {
  for (const path of ['', 'd/', 'd/e/']) await s.container(base + path);
  for (const path of ['x', 'd/y', 'd/e/z', 'd-b', 'd0']) await s.stored('text/turtle', '<> a <#C> .', base + path);
  return base;
}
/** Paths in the tree, including its root. */
export const paths = ['', 'x', 'd/', 'd/y', 'd/e/', 'd/e/z', 'd-b', 'd0'];
