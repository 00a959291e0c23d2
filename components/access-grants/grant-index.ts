/**
 * Index of active grants, by assignee and target, so that a decision reads only grants that may match. Adds their permissions
 * to the base model (rule 17.4).
 */

import {
  ancestorsOf,
  type BaseModel,
  type Decision,
  type PermissionSource,
  type Question,
} from '../../lib/authorization/authorizer.js';
import type { Mode } from '../../lib/authorization/mode.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { foaf, rdf } from '../../lib/rdf/vocabulary.js';
import { structuralType } from '../../lib/resources/types.js';
import { type IriRange, only, subtree, unionOfRanges, withoutRanges } from '../../lib/storage/keys/iri-ranges.js';
import { parentOf, type ResourceRecord } from '../../lib/storage/keys/records.js';
import { ownStatements } from '../../lib/storage/keys/subject-statements.js';
import { getOrMake } from '../../lib/tools/collections.js';
import { parseMediaType } from '../../lib/tools/fields/media-type.js';
import { HiddenField } from '../../lib/tools/hidden-field.js';
import {
  type Action,
  isOfRequest,
  type Policy,
  policiesOf,
  type ResourceFacts,
  requestFulfils,
  resourceFulfils,
} from './access-documents.js';
import type { KeptDocument } from './kept-index.js';

interface Grant {
  readonly id: string;
  /** Issuer of the grant, who must still be a controller when the grant is used. */
  readonly issuer: string;
  readonly policy: Policy;
}

type Controllers = Map<string, boolean | Promise<boolean>>;

const modeOf: Readonly<Record<Action, Mode>> = { read: 'read', create: 'append', modify: 'write', delete: 'delete' };

export class GrantIndex implements PermissionSource {
  private readonly grants = new Map<string, Map<string, Grant[]>>();
  /** Caches of issuers that control the storage, per request: outside of transactions, and inside. */
  private readonly controllers = [
    new HiddenField<Access, Controllers>(),
    new HiddenField<Access, Controllers>(),
  ] as const;

  constructor(private readonly platform: Platform) {}

  add({ document, creator }: KeptDocument): void {
    this.each(document, (targets, target, policy) => {
      const grant = { id: document.id, issuer: creator, policy };
      targets.set(target, [...(targets.get(target) ?? []), grant]);
    });
  }

  remove({ document }: KeptDocument): void {
    this.each(document, (targets, target) => {
      const left = (targets.get(target) ?? []).filter(({ id }) => id !== document.id);
      if (left.length > 0) targets.set(target, left);
      else targets.delete(target);
    });
  }

  private each(
    document: KeptDocument['document'],
    work: (targets: Map<string, Grant[]>, target: string, policy: Policy) => void,
  ): void {
    for (const policy of policiesOf(document, this.platform.rootIri))
      for (const assignee of policy.assignees) {
        const targets = this.grants.get(assignee) ?? new Map<string, Grant[]>();
        for (const target of policy.targets) work(targets, target, policy);
        if (targets.size > 0) this.grants.set(assignee, targets);
        else this.grants.delete(assignee);
      }
  }

  widen(question: Question, base: BaseModel): Decision | undefined | Promise<Decision | undefined> {
    const assigned = this.assignedTo(question.access);
    if (assigned.length === 0) return undefined;
    const candidates = this.candidates(assigned, question);
    return candidates.length === 0 ? undefined : this.firstThatHolds(candidates, question, base);
  }

  names({ principal }: Access): boolean {
    return principal !== undefined && this.grants.has(principal.subject);
  }

  private assignedTo({ principal }: Access): readonly ReadonlyMap<string, readonly Grant[]>[] {
    const assignees = principal ? [principal.subject, foaf.Agent] : [foaf.Agent];
    return assignees.flatMap((assignee) => this.grants.get(assignee) ?? []);
  }

  /** Returns the grants for a mode whose target is the resource or one of its ancestors. */
  private candidates(
    assigned: readonly ReadonlyMap<string, readonly Grant[]>[],
    { mode, iri }: Question,
  ): readonly Grant[] {
    const found: Grant[] = [];
    const { rootIri: storage } = this.platform;
    const consider = (target: string): void => {
      for (const targets of assigned)
        for (const grant of targets.get(target) ?? [])
          if (grant.policy.actions.some((action) => modeOf[action] === mode) && covers(grant.policy, target, iri))
            found.push(grant);
    };
    consider(iri);
    for (const ancestor of ancestorsOf(iri, storage)) consider(ancestor);
    return found;
  }

  private async firstThatHolds(
    grants: readonly Grant[],
    question: Question,
    base: BaseModel,
  ): Promise<Decision | undefined> {
    const { access, view, iri, record = view.record(iri) } = question;
    const now = this.platform.clock();
    for (const { id, issuer, policy } of grants) {
      const { constraints } = policy;
      if (!constraints.filter(isOfRequest).every((constraint) => requestFulfils(constraint, access, now))) continue;
      const further = constraints.filter((constraint) => !isOfRequest(constraint));
      if (further.length > 0) {
        const facts = record && (await this.factsOf(record));
        if (!facts || !further.every((constraint) => resourceFulfils(constraint, facts))) continue;
      }
      if (await this.isController(question, issuer, base)) return { allowed: true, rule: `grant ${id}` };
    }
    return undefined;
  }

  private async factsOf(record: ResourceRecord): Promise<ResourceFacts> {
    const { kind, types = [], iri, mediaType } = record;
    const asserted: string[] = [];
    if (kind === 'rdf')
      for await (const statements of ownStatements(iri, (await this.platform.store.graph(iri))?.keys ?? []))
        for (const [predicate, object] of statements) if (predicate === rdf.type) asserted.push(object);
    return {
      format: kind === 'container' ? undefined : (parseMediaType(mediaType)?.essence ?? mediaType),
      types: [kind === 'container' ? 'Container' : 'DataResource', structuralType(kind), ...types, ...asserted],
    };
  }

  /** Returns true if the issuer still controls the storage. Evaluated once per request. */
  private isController(
    { access, view }: Pick<Question, 'access' | 'view'>,
    issuer: string,
    base: BaseModel,
  ): boolean | Promise<boolean> {
    const memo = this.controllers[view.isTransaction ? 1 : 0];
    const known: Controllers = getOrMake(memo, access, () => new Map());
    const found = known.get(issuer);
    if (found !== undefined) return found;
    const question = {
      view,
      access: { principal: { subject: issuer } },
      mode: 'control',
      iri: this.platform.rootIri,
    } as const;
    const decision = base.decide(question);
    const answer = decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
    known.set(issuer, answer);
    return answer;
  }

  async readRanges(
    access: Access,
    base: BaseModel,
    container?: string,
  ): Promise<readonly IriRange[] | 'decide' | undefined> {
    const ranges: IriRange[] = [];
    const decided: IriRange[] = [];
    for (const targets of this.assignedTo(access))
      for (const [target, grants] of targets) {
        const covered = target.endsWith('/') ? subtree(target) : only(target);
        const isAbove = target.endsWith('/') && container?.startsWith(target);
        if (container !== undefined && !isAbove && parentOf(target) !== container) continue;
        for (const grant of grants) {
          if (!(await this.mayRead(grant, access, base))) continue;
          if (dependsOnResource(grant.policy, target)) decided.push(covered);
          else if (covers(grant.policy, target, target)) ranges.push(covered);
        }
      }
    if (decided.length > 0 && withoutRanges(unionOfRanges(decided), unionOfRanges(ranges)).length > 0) return 'decide';
    return ranges.length > 0 ? ranges : undefined;
  }

  /** Returns true if a grant gives the caller read access to any resource. */
  private async mayRead({ issuer, policy }: Grant, access: Access, base: BaseModel): Promise<boolean> {
    const { actions, constraints } = policy;
    const now = this.platform.clock();
    return (
      actions.includes('read') &&
      constraints.filter(isOfRequest).every((constraint) => requestFulfils(constraint, access, now)) &&
      (await this.isController({ access, view: this.platform.store }, issuer, base))
    );
  }
}

/** True if a grant must be evaluated for each resource, because an IRI range cannot express it. */
const dependsOnResource = ({ constraints, targetType }: Policy, target: string): boolean =>
  constraints.some((constraint) => !isOfRequest(constraint)) || (targetType === 'DataResource' && target.endsWith('/'));

/**
 * True if a target covers a resource. A container covers its subtree, a typed target only resources of the type (rule 17.4).
 */
function covers({ targetType }: Policy, target: string, iri: string): boolean {
  if (iri !== target && !target.endsWith('/')) return false;
  if (targetType === 'DataResource') return !iri.endsWith('/');
  return targetType === 'StorageResource' || target.endsWith('/');
}
