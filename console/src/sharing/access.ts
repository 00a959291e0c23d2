/** Reads and creates access requests and grants, and describes them in words. */

import { storageUri } from '../session/session.js';
import { jsonBody, linkTarget, refusalFrom, request, serviceEndpoint, succeed } from '../storage/api.js';
import { dateText, isContainer } from '../storage/names.js';

export type GrantAction = 'read' | 'create' | 'modify' | 'delete';
export const actionNames: Readonly<Record<GrantAction, string>> = {
  read: 'Read',
  create: 'Add',
  modify: 'Change',
  delete: 'Delete',
};
export const allActions = Object.keys(actionNames) as readonly GrantAction[];

type OneOrMore<T> = T | readonly T[];

interface Constraint {
  readonly leftOperand: string;
  readonly operator: string;
  readonly rightOperand: unknown;
}

export interface GrantPolicy {
  readonly type?: OneOrMore<string>;
  readonly action: OneOrMore<GrantAction>;
  readonly assignee: OneOrMore<string>;
  readonly target: { readonly type: OneOrMore<string>; readonly value: OneOrMore<string> };
  readonly constraint?: OneOrMore<Constraint>;
}

/** Access request or grant. Notes for people are separate from the policies that the server evaluates. */
interface AccessDocument {
  readonly id: string;
  readonly access: readonly GrantPolicy[];
  readonly request?: string;
  readonly purpose?: unknown;
  readonly message?: unknown;
  /** Name of the agent that uses the access. */
  readonly agent?: unknown;
}

export interface Kept {
  readonly document: AccessDocument;
  readonly modified: string;
}

type Kind = 'AccessRequest' | 'AccessGrant';

export const listGrants = <T>(value: OneOrMore<T> | undefined): readonly T[] =>
  value === undefined ? [] : ([value].flat() as readonly T[]);
export const assigneesOf = ({ access }: AccessDocument): readonly string[] => [
  ...new Set(access.flatMap(({ assignee }) => listGrants(assignee))),
];
const targetsOf = ({ target }: GrantPolicy): readonly string[] => listGrants(target.value);

/** True if a policy applies to a resource: the policy names the resource or a container above it. */
export const covers = (policy: GrantPolicy, iri: string): boolean =>
  targetsOf(policy).some((target) => target === iri || (isContainer(target) && iri.startsWith(target)));

async function endpointOf(kind: Kind): Promise<string> {
  const endpoint = await serviceEndpoint(`${kind}Service`);
  if (endpoint === undefined)
    throw new Error('This storage does not offer access requests and grants (lws.access-requests.enabled is off).');
  return endpoint;
}

interface Listing {
  readonly items: readonly { readonly id: string; readonly modified: string }[];
}

/** Cached documents. Each is read once, because documents never change. */
const known = new Map<string, AccessDocument>();
/** Maximum count of concurrent requests for documents. */
const atOnce = 6;

/** Returns the documents visible to the user, newest first. @param since date; older documents are excluded */
export async function readAll(kind: Kind, since = ''): Promise<readonly Kept[]> {
  const items: Listing['items'][number][] = [];
  for (let url: string | undefined = await endpointOf(kind); url !== undefined; ) {
    const response: Response = await succeed('GET', url);
    items.push(...((await response.json()) as Listing).items.filter(({ modified }) => modified >= since));
    url = linkTarget(response, 'next', url);
  }
  items.sort((a, b) => b.modified.localeCompare(a.modified));
  const found: Kept[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    const some = await Promise.all(
      items.slice(start, start + atOnce).map(async ({ id, modified }) => ({ document: await readOne(id), modified })),
    );
    // A document that was deleted after the listing is skipped.
    found.push(...some.filter((each): each is Kept => each.document !== undefined));
  }
  return found;
}

/** Returns the unanswered requests of other users, newest first. Empty if the storage offers no access requests. */
export async function openRequests(subject: string): Promise<readonly Kept[]> {
  if ((await serviceEndpoint('AccessRequestService')) === undefined) return [];
  const requests = await readAll('AccessRequest');
  // A grant is newer than its request, so grants before the oldest request are not read.
  const grants = requests.length > 0 ? await readAll('AccessGrant', requests.at(-1)!.modified) : [];
  const answered = new Set(grants.map(({ document }) => document.request));
  return requests.filter(({ document }) => !answered.has(document.id) && !assigneesOf(document).includes(subject));
}

async function readOne(id: string): Promise<AccessDocument | undefined> {
  const cached = known.get(id);
  if (cached) return cached;
  const response = await request('GET', id);
  if (response.status === 404) return undefined;
  if (!response.ok) throw await refusalFrom(response);
  const document = (await response.json()) as AccessDocument;
  known.set(id, document);
  return document;
}

/** Sends a request or a grant. */
export async function post(kind: Kind, access: readonly GrantPolicy[], more: Readonly<Record<string, unknown>> = {}) {
  const body = { '@context': 'https://www.w3.org/ns/lws/v1', type: [kind], storage: storageUri, access, ...more };
  await succeed('POST', await endpointOf(kind), jsonBody(body, 'application/lws+json'));
}

export const removeGrant = (id: string): Promise<Response> => succeed('DELETE', id);

/** Revokes a grant and deletes its request, since an unanswered request would be pending again. */
export async function revoke({ id, request: answered }: AccessDocument): Promise<void> {
  await removeGrant(id);
  if (answered === undefined || !answered.startsWith(`${await endpointOf('AccessRequest')}/`)) return;
  const response = await request('DELETE', answered);
  // If the author has deleted the request, the response is 404.
  if (!response.ok && response.status !== 404) throw await refusalFrom(response);
}

export interface Wish {
  readonly person: string;
  readonly iri: string;
  readonly actions: readonly GrantAction[];
  /** Value of a `datetime-local` field. Empty: the access does not end. */
  readonly until?: string;
}

/** Returns a policy for one resource, or for a container with its contents. */
export function policyFor({ person, iri, actions, until }: Wish): GrantPolicy {
  if (actions.length === 0) throw new Error('Select at least one action.');
  return {
    type: ['AccessPolicy'],
    action: actions,
    assignee: person,
    target: { type: isContainer(iri) ? 'StorageResource' : 'DataResource', value: [iri] },
    ...(until ? { constraint: [endsAt(until)] } : {}),
  };
}

/** Returns the constraint for the end of an access. @throws Error for an invalid or past time */
export function endsAt(until: string): Constraint {
  const end = new Date(until);
  if (!(end.getTime() > Date.now())) throw new Error('The end must be in the future.');
  return { leftOperand: 'dateTime', operator: 'lt', rightOperand: end.toISOString() };
}

export const actionsText = ({ action }: GrantPolicy): string =>
  listGrants(action)
    .map((each) => actionNames[each] ?? each)
    .join(', ');

const operators: Readonly<Record<string, string>> = {
  eq: 'is',
  neq: 'is not',
  isAnyOf: 'is one of',
  isNoneOf: 'is not one of',
  isAllOf: 'has all of',
};

/** Returns the conditions of a policy in words, without its end. */
export const conditionsOf = ({ constraint }: GrantPolicy): readonly string[] =>
  listGrants(constraint)
    .filter((each) => !isEnd(each))
    .map(
      ({ leftOperand, operator, rightOperand }) =>
        `${leftOperand} ${operators[operator] ?? operator} ${[rightOperand].flat().map(asText).join(', ')}`,
    );
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const isEnd = ({ leftOperand, operator }: Constraint): boolean =>
  leftOperand === 'dateTime' && /^lt(?:eq)?$/.test(operator);

/** Returns the earliest end of a policy in milliseconds since the epoch, or `undefined`. */
export function endOf({ constraint }: GrantPolicy): number | undefined {
  const ends = listGrants(constraint)
    .filter(isEnd)
    .map(({ rightOperand }) => new Date(String([rightOperand].flat()[0])).getTime())
    .filter((time) => !Number.isNaN(time));
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

export function endText(policy: GrantPolicy): string {
  const end = endOf(policy);
  if (end === undefined) return 'no end';
  return end < Date.now() ? `ended ${dateText(end)}` : dateText(end);
}
