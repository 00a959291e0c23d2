/**
 * Access requests and grants as documents (rule 17.2). Members that determine access are parsed strictly. Other members are
 * stored as sent. Does not check permissions.
 */

import { isIdentity, noIdentity } from '../../lib/authorization/did.js';
import type { Access } from '../../lib/authorization/principal.js';
import { lwsContext } from '../../lib/rdf/contexts.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import { LwsError } from '../../lib/tools/errors.js';
import { parseDateTime } from '../../lib/tools/fields/date.js';
import { isObject, valuesOf } from '../../lib/tools/json/exact-json.js';

export type DocumentType = 'AccessRequest' | 'AccessGrant';
export type Action = 'read' | 'modify' | 'create' | 'delete';
type TargetType = 'Container' | 'DataResource' | 'StorageResource';

interface Constraint {
  readonly leftOperand: string;
  readonly operator: string;
  /** Values to compare with, or `undefined` if a value is not a string: then all comparisons fail. */
  readonly rightOperand: readonly string[] | undefined;
}

/** Policy of a document. Single strings in the document are converted to arrays. */
export interface Policy {
  readonly actions: readonly Action[];
  readonly assignees: readonly string[];
  readonly targetType: TargetType;
  readonly targets: readonly string[];
  readonly constraints: readonly Constraint[];
}

/** Access request or access grant, as stored and as returned. */
export interface AccessDocument {
  readonly id: string;
  readonly type: readonly string[];
  readonly access: readonly Members[];
  readonly [member: string]: unknown;
}

type Members = Readonly<Record<string, unknown>>;

const actions: ReadonlySet<unknown> = new Set<Action>(['read', 'modify', 'create', 'delete']);
const targetTypes: ReadonlySet<unknown> = new Set<TargetType>(['Container', 'DataResource', 'StorageResource']);

const malformed = (detail: string): LwsError => new LwsError('malformed-body', detail);

/** Validates a body, and returns the document to store. @param storage IRI of the storage @throws LwsError `malformed-body` */
export function acceptDocument(sent: unknown, type: DocumentType, id: string, storage: string): AccessDocument {
  if (!isObject(sent)) throw malformed(`The ${type} must be a JSON object.`);
  if (!valuesOf(sent['type']).includes(type)) throw malformed(`The type of the document must be ${type}.`);
  if (sent['storage'] !== storage && `${String(sent['storage'])}/` !== storage)
    throw malformed(`The member storage must be ${storage}.`);
  if (sent['inbox'] !== undefined && !isWebUrl(sent['inbox']))
    throw malformed('The inbox must be an http or https URL.');
  if (sent['request'] !== undefined && !isIri(sent['request'])) throw malformed('The member request must be an IRI.');
  const access = valuesOf(sent['access']);
  if (access.length === 0) throw malformed('The member access is missing or empty.');
  for (const policy of access) assertPolicy(policy, storage);
  if (type === 'AccessGrant') for (const part of [sent, ...(access as readonly Members[])]) assertUnrestricted(part);
  return {
    '@context': lwsContext,
    ...sent,
    id,
    type: valuesOf(sent['type']) as readonly string[],
    access: access.map((policy) => ({ ...(policy as Members), type: valuesOf((policy as Members)['type']) })),
  };
}

/** Rejects ODRL members that restrict a policy: ignoring them would permit too much. @throws LwsError `malformed-body` */
function assertUnrestricted(part: Members): void {
  const found = ['prohibition', 'obligation', 'duty'].find((name) => part[name] !== undefined);
  if (found !== undefined)
    throw malformed(`The member ${found} is not supported. Ignoring it would give more access than the grant says.`);
}

const isIri = (value: unknown): value is string => typeof value === 'string' && isAbsoluteIri(value);
const isWebUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value) && isAbsoluteIri(value);

function assertPolicy(policy: unknown, storage: string): void {
  if (!isObject(policy)) throw malformed('Every policy in access must be an object.');
  const { type, action, assignee, target, constraint } = policy;
  if (!valuesOf(type).includes('AccessPolicy'))
    throw malformed('Every policy in access must have the type AccessPolicy.');
  const unknown = valuesOf(action).find((name) => !actions.has(name));
  if (valuesOf(action).length === 0 || unknown !== undefined)
    throw malformed('The action of a policy must be one or several of read, modify, create and delete.');
  if (valuesOf(assignee).length === 0 || !valuesOf(assignee).every(isIri))
    throw malformed('A policy must have an assignee, which is a URI.');
  for (const text of valuesOf(assignee) as readonly string[]) if (!isIdentity(text)) throw noIdentity(text);
  assertTarget(target, storage);
  for (const entry of valuesOf(constraint))
    if (
      !isObject(entry) ||
      ['leftOperand', 'operator', 'rightOperand'].some((member) => valuesOf(entry[member]).length === 0)
    )
      throw malformed('A constraint must have a leftOperand, an operator and a rightOperand.');
}

function assertTarget(target: unknown, storage: string): void {
  if (!isObject(target)) throw malformed('A policy must have a target, which is an object with type and value.');
  if (valuesOf(target['type']).length === 0 || !valuesOf(target['type']).every((type) => targetTypes.has(type)))
    throw malformed('The type of a target must be Container, DataResource or StorageResource.');
  const values = valuesOf(target['value']);
  if (values.length === 0) throw malformed('A target must have a value: the IRIs of its resources.');
  for (const value of values)
    if (!isIri(value) || !(value.startsWith(storage) || `${value}/` === storage))
      throw malformed('A target must be the IRI of a resource in this storage.');
}

const texts = (values: readonly unknown[]): readonly string[] | undefined =>
  values.every((value) => typeof value === 'string') ? (values as readonly string[]) : undefined;
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns a document with renamed targets. */
export const withTargets = (document: AccessDocument, rename: (iri: string) => string): AccessDocument => ({
  ...document,
  access: document.access.map((policy) => {
    const { value, ...target } = policy['target'] as Members;
    const renamed = Array.isArray(value) ? value.map((each) => rename(String(each))) : rename(String(value));
    return { ...policy, target: { ...target, value: renamed } };
  }),
});

/** Returns the policies of a validated document. */
export const policiesOf = ({ access }: AccessDocument, storage: string): readonly Policy[] =>
  access.flatMap(({ action, assignee, target, constraint }) => {
    const { type, value } = target as Members;
    return valuesOf(type).map((targetType) => ({
      actions: valuesOf(action) as readonly Action[],
      assignees: valuesOf(assignee) as readonly string[],
      targetType: targetType as TargetType,
      targets: valuesOf(value).map((iri) => (`${String(iri)}/` === storage ? storage : String(iri))),
      constraints: valuesOf(constraint).map((entry) => {
        const { leftOperand, operator, rightOperand } = entry as Members;
        return {
          leftOperand: text(leftOperand),
          operator: text(operator),
          rightOperand: texts(valuesOf(rightOperand)),
        };
      }),
    }));
  });

/** Operands that depend only on the request: constraints with them are evaluated before a resource is known. */
const ofRequest: ReadonlySet<string> = new Set(['dateTime', 'client', 'purpose']);
const ofResource: ReadonlySet<string> = new Set(['format', 'mediaType', 'type']);

export const isOfRequest = ({ leftOperand }: Constraint): boolean => ofRequest.has(leftOperand);

/** Returns true if a request fulfils a constraint. */
export function requestFulfils(
  { leftOperand, operator, rightOperand }: Constraint,
  access: Access,
  now: number,
): boolean {
  if (!rightOperand) return false;
  if (leftOperand === 'dateTime')
    return rightOperand.length === 1 && compareTimes(operator, now, parseDateTime(rightOperand[0]!));
  const value = leftOperand === 'client' ? access.principal?.client : access.purpose;
  return compareSets(operator, value === undefined ? [] : purposes(leftOperand, value), rightOperand);
}

/** Returns the values of an operand. `LWS-Purpose` may contain several purposes. */
const purposes = (operand: string, value: string): readonly string[] =>
  operand === 'purpose' ? value.split(/[\s,]+/).filter(Boolean) : [value];

export interface ResourceFacts {
  /** Media type without parameters. `undefined` for containers. */
  readonly format: string | undefined;
  /** IRIs of the types, and the short name of the structural type. */
  readonly types: readonly string[];
}

/** Returns true if a resource fulfils a constraint, and false for constraints with unknown operands. */
export function resourceFulfils({ leftOperand, operator, rightOperand }: Constraint, facts: ResourceFacts): boolean {
  if (!rightOperand || !ofResource.has(leftOperand)) return false;
  const left = leftOperand === 'type' ? facts.types : facts.format === undefined ? [] : [facts.format];
  return compareSets(operator, left, rightOperand);
}

function compareTimes(operator: string, now: number, then: number): boolean {
  // An invalid date is NaN, for which every comparison is false.
  if (operator === 'lt') return now < then;
  if (operator === 'lteq') return now <= then;
  if (operator === 'gt') return now > then;
  return operator === 'gteq' && now >= then;
}

/** Compares sets. If the left value is missing, every comparison fails, also `neq` and `isNoneOf`. */
function compareSets(operator: string, left: readonly string[], right: readonly string[]): boolean {
  if (left.length === 0) return false;
  const any = right.some((value) => left.includes(value));
  if (operator === 'isAnyOf') return any;
  if (operator === 'isNoneOf') return !any;
  if (operator === 'isAllOf') return right.every((value) => left.includes(value));
  if (right.length !== 1) return false;
  if (operator === 'eq') return any;
  return operator === 'neq' && !any;
}
