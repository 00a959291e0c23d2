/**
 * Web Access Control (rule 3.3): the ACL of the resource decides. Without one, the inherited rules of the nearest container
 * with an ACL decide.
 */

import { LRUCache } from 'lru-cache';
import { type IriRange, isWholeStorage } from '../storage/keys/iri-ranges.js';
import { getOrMake } from '../tools/collections.js';
import { HiddenField } from '../tools/hidden-field.js';
import { type Acl, type AclRule, aclKey, closedAcl, isAclOf, originOf, readAcl } from './acl.js';
import type { AclIndex } from './acl-index.js';
import { ancestorsOf, type BaseModel, type Decision, type Question, type ReadScope, type View } from './authorizer.js';
import type { Groups } from './groups.js';
import type { Access } from './principal.js';

/** Dependencies of `judge`. */
interface JudgeOptions {
  readonly groups: Groups;
  /** Maximum count of remote group documents that one decision fetches. */
  readonly maxFetches: number;
}

const allowedBy = ({ of }: Acl, { id }: AclRule, why: string): Decision => ({
  allowed: true,
  rule: `the ACL of ${of}, authorization ${id} (${why})`,
});

const undated = ({ allowed, rule }: Decision): Decision => ({ allowed, rule, isUndated: true });

/**
 * Evaluates the rules that grant a mode. Groups are checked last, and only if no other rule allows the access.
 * @param mayFetch true if remote group documents may be fetched; false inside a transaction
 */
function judge(
  options: JudgeOptions,
  access: Access,
  acl: Acl,
  rules: readonly AclRule[],
  mayFetch: boolean,
): Decision | Promise<Decision> {
  const open = rules.filter((rule) => fitsOrigin(rule, access));
  for (const rule of open) {
    const why = directly(rule, access);
    if (why) return allowedBy(acl, rule, why);
  }
  const refusal = { allowed: false, rule: `the ACL of ${acl.of} does not allow it` };
  const { principal } = access;
  const withGroups = principal ? open.filter(({ groups }) => groups.length > 0) : [];
  return withGroups.length === 0 ? refusal : byGroup(options, principal!.subject, acl, withGroups, mayFetch, refusal);
}

/** True if the origins of a rule allow the request. A rule with origins never matches a request without `Origin`. */
export const fitsOrigin = ({ origins }: AclRule, { origin }: Access): boolean =>
  origins.size === 0 || (origin !== undefined && origins.has(originOf(origin)));

function directly({ agents, everybody, authenticated }: AclRule, { principal }: Access): string | undefined {
  if (everybody) return 'foaf:Agent';
  if (!principal) return undefined;
  if (agents.has(principal.subject)) return 'acl:agent';
  return authenticated ? 'acl:AuthenticatedAgent' : undefined;
}

async function byGroup(
  { groups, maxFetches }: JudgeOptions,
  subject: string,
  acl: Acl,
  rules: readonly AclRule[],
  mayFetch: boolean,
  refusal: Decision,
): Promise<Decision> {
  let fetches = 0;
  for (const rule of rules)
    for (const group of rule.groups) {
      if (mayFetch && groups.isRemote(group) && ++fetches > maxFetches) continue;
      if ((await groups.members(group, mayFetch)).has(subject))
        return undated(allowedBy(acl, rule, `member of ${group}`));
    }
  return refusal;
}

interface WacOptions {
  readonly storage: string;
  /** Committed state of the storage. */
  readonly view: View;
  readonly index: AclIndex;
  readonly groups: Groups;
  /** Maximum count of remote group documents that one decision fetches. */
  readonly maxFetches: number;
  /** Called when LevelDB returns an ACL that was deleted or replaced. That ACL has no effect. */
  readonly onReturned?: (iri: string) => void;
}

/** Cached decisions of a request: by ACL, then by mode and part of the ACL. */
type Memo = Map<Acl, Map<string, Decision>>;

/** Rules that apply: own, inherited, or the root's, to recover control of any ACL (`foaf:Agent` is then ignored). */
type Part = 'own' | 'inherited' | 'recovery';

const partOf = ({ of }: Acl, { iri }: Question, byRoot: boolean): Part =>
  byRoot ? 'recovery' : of === iri ? 'own' : 'inherited';

/** Caller, mode and state to decide about. */
type Asked = Pick<Question, 'view' | 'access' | 'mode'>;

/** Maximum count of ACLs below a container that are evaluated together. If there are more, a listing evaluates each member. */
const maxBelow = 200;

const noAcl: Decision = { allowed: false, rule: 'there is no ACL' };
/** Maximum count of retries of an asynchronous decision if the ACL changes meanwhile. */
const maxAttempts = 5;
const restless: Decision = { allowed: false, rule: 'the ACL changes too quickly to decide by' };

/** Maximum count of cached ranges. Each range takes about 100 bytes. */
const maxRanges = 200_000;

/** Access model of a storage with ACLs. */
export class WacModel implements BaseModel {
  // Decisions outside and inside of transactions. A transaction decides again, because a group may have changed.
  private readonly memos = [new HiddenField<Access, Memo>(), new HiddenField<Access, Memo>()] as const;

  /** Readable resources, by the matching readers in the index. Valid for one version of the index. */
  private readonly scopes = new LRUCache<string, { readonly version: number; readonly scope: ReadScope }>({
    maxSize: maxRanges,
    sizeCalculation: ({ scope }) => 1 + (typeof scope === 'object' ? scope.ranges.length : 0),
  });

  constructor(private readonly options: WacOptions) {}

  decide(question: Question): Decision | Promise<Decision> {
    const { view, iri, gone } = question;
    if (gone) {
      if (gone.readers === undefined) return noAcl;
      const past = readPastReaders(gone.readers);
      // If the ACL that applied to the deleted resource still exists, it decides, because it may have changed. Otherwise, the
      // recorded readers decide.
      if (!this.aclOf(view, past.of))
        return judge(this.options, question.access, past, past.rules, !view.isTransaction);
    }
    const decision = this.decideNow(question, false);
    // Controllers of the root may change every ACL below the root, so that they can recover from a lock-out (rule 3.12).
    if (question.mode !== 'control' || iri === this.options.storage || !this.aclOf(view, iri)) return decision;
    const orByRoot = (found: Decision): Decision | Promise<Decision> =>
      found.allowed ? found : this.decideNow(question, true);
    return decision instanceof Promise ? decision.then(orByRoot) : orByRoot(decision);
  }

  /** Decides in the current state. @param byRoot true if the root's ACL decides instead of the nearest ACL */
  private decideNow(question: Question, byRoot: boolean): Decision | Promise<Decision> {
    const acl = this.deciding(question, byRoot);
    if (!acl) return noAcl;
    const decision = this.decideBy(question, acl, partOf(acl, question, byRoot));
    return decision instanceof Promise ? this.decideAgain(question, byRoot, [acl, decision]) : decision;
  }

  /** Repeats an asynchronous decision if another ACL became effective while a group was fetched, so that revocations apply. */
  private async decideAgain(
    question: Question,
    byRoot: boolean,
    [first, pending]: readonly [Acl, Promise<Decision>],
  ): Promise<Decision> {
    let [before, decision]: [Acl, Decision] = [first, await pending];
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const acl = this.deciding(question, byRoot);
      if (acl === before) return decision;
      if (!acl) return noAcl;
      [before, decision] = [acl, await this.decideBy(question, acl, partOf(acl, question, byRoot))];
    }
    return restless;
  }

  private deciding({ view, iri }: Question, byRoot: boolean): Acl | undefined {
    return byRoot ? this.aclOf(view, this.options.storage) : this.effective(view, iri);
  }

  readersOf(view: View, iri: string): string | undefined {
    const acl = this.effective(view, iri);
    return acl && pastReaders(acl, acl.of !== iri);
  }

  async readsAllMembers(view: View, access: Access, container: string): Promise<boolean> {
    // ACLs at all levels are checked: the date of a member container changes when its members change.
    const closer = this.options.index.below(container, maxBelow);
    if (closer.length > maxBelow) return false;
    const asked: Asked = { view, access, mode: 'read' };
    const inherited = this.effective(view, `${container}\u0000`);
    if (!inherited || !(await this.decideBy(asked, inherited, 'inherited')).allowed) return false;
    for (const iri of closer) {
      const acl = this.aclOf(view, iri);
      if (!acl) continue;
      if (!(await this.decideBy(asked, acl, 'own')).allowed) return false;
      if (iri.endsWith('/') && !(await this.decideBy(asked, acl, 'inherited')).allowed) return false;
    }
    return true;
  }

  async readScope(access: Access): Promise<ReadScope> {
    const { storage, index } = this.options;
    const readers = index.readersOf(access, await this.groupsOf(access));
    const { version } = index;
    const key = readers.map(({ id }) => id).join(' ');
    const known = this.scopes.get(key);
    if (known?.version === version) return known.scope;
    const scope = scopeOf(index.rangesOf(readers), storage);
    this.scopes.set(key, { version, scope });
    return scope;
  }

  /** Returns the groups of a caller that ACLs name. Fetches remote groups, at most `maxFetches` for each ACL. */
  private async groupsOf({ principal, origin }: Access): Promise<readonly string[]> {
    if (!principal) return [];
    const { index, groups, maxFetches } = this.options;
    const fetches = new Map<string, number>();
    const mayFetch = (iri: string): boolean => {
      const count = (fetches.get(iri) ?? 0) + 1;
      fetches.set(iri, count);
      return count <= maxFetches;
    };
    const found: string[] = [];
    for (const group of [...index.groupNames]) {
      if (groups.isRemote(group) && !index.readableBy(group, origin).some(mayFetch)) continue;
      if ((await groups.members(group, true)).has(principal.subject)) found.push(group);
    }
    return found;
  }

  /** True if an ACL names the caller, or a group that has the caller as cached member. */
  async knows({ principal }: Access): Promise<boolean> {
    if (!principal) return false;
    const { index, groups } = this.options;
    if (index.names(principal.subject)) return true;
    for (const group of [...index.groupNames])
      if ((await groups.members(group, false)).has(principal.subject)) return true;
    return false;
  }

  private aclOf(view: View, iri: string): Acl | undefined {
    if (!this.options.index.mayHave(iri)) return undefined;
    const acl = view.derived(aclKey(iri), (value) => readAcl(iri, value));
    // An ACL without authorizations is treated as no ACL.
    if (acl?.isEmpty) return undefined;
    const record = view.record(iri);
    if (acl && isAclOf(acl, record)) return acl;
    if (!acl && record?.acl === undefined) return undefined;
    // The stored ACL is outdated or lost: the record names another ACL.
    this.options.onReturned?.(iri);
    return record?.acl === undefined ? undefined : closedAcl(iri);
  }

  /** Returns the ACL of the resource, or the ACL of the nearest container with an ACL. */
  private effective(view: View, iri: string): Acl | undefined {
    const own = this.aclOf(view, iri);
    if (own) return own;
    for (const ancestor of ancestorsOf(iri, this.options.storage)) {
      const acl = this.aclOf(view, ancestor);
      if (acl) return acl;
    }
    return undefined;
  }

  /** Returns the decision by one ACL. Cached per request, because many resources can share an ACL. */
  private decideBy({ view, access, mode }: Asked, acl: Acl, part: Part): Decision | Promise<Decision> {
    const decisions = this.decisionsOf(view, access, acl);
    const key = `${mode} ${part}`;
    const found = decisions.get(key);
    if (found) return found;
    const given = acl.rules.filter(
      (rule) => (part === 'inherited' ? rule.inherited : rule.accessTo) && rule.modes.has(mode),
    );
    const rules = part === 'recovery' ? given.map((rule) => ({ ...rule, everybody: false })) : given;
    const decision = judge(this.options, access, acl, rules, !view.isTransaction);
    if (!(decision instanceof Promise)) {
      decisions.set(key, decision);
      return decision;
    }
    return decision.then((made) => {
      decisions.set(key, made);
      return made;
    });
  }

  private decisionsOf(view: View, access: Access, acl: Acl): Map<string, Decision> {
    const memo = this.memos[view.isTransaction ? 1 : 0];
    const known = getOrMake(memo, access, () => new Map<Acl, Map<string, Decision>>());
    return getOrMake(known, acl, () => new Map<string, Decision>());
  }
}

function scopeOf(ranges: readonly IriRange[], storage: string): ReadScope {
  if (ranges.length === 0) return 'nothing';
  return isWholeStorage(ranges, storage) ? 'everything' : { ranges };
}

/** Maximum length of recorded readers in characters, because every event contains them. */
const maxLength = 4 << 10;

type KeptRule = readonly [
  id: string,
  agents: readonly string[],
  everybody: 0 | 1,
  authenticated: 0 | 1,
  groups: readonly string[],
  origins: readonly string[],
];

/** Cached texts of recorded readers by ACL: first for rules of the resource, second for inherited rules. */
const written = [new WeakMap<Acl, string>(), new WeakMap<Acl, string>()] as const;

/** Returns the rules that grant read, as text. @param inherited true for the inherited rules */
export const pastReaders = (acl: Acl, inherited: boolean): string =>
  getOrMake(written[inherited ? 1 : 0], acl, () => {
    const rules = acl.rules.filter((rule) => (inherited ? rule.inherited : rule.accessTo) && rule.modes.has('read'));
    const text = JSON.stringify([acl.of, rules.map(kept)]);
    return text.length > maxLength ? JSON.stringify([acl.of, []]) : text;
  });

const kept = ({ id, agents, everybody, authenticated, groups, origins }: AclRule): KeptRule => [
  id,
  [...agents],
  everybody ? 1 : 0,
  authenticated ? 1 : 0,
  groups,
  [...origins],
];

/** Parses recorded readers: returns an ACL with only the rules that grant read. */
export function readPastReaders(text: string): Acl {
  const [of, rules] = JSON.parse(text) as [string, KeptRule[]];
  return {
    of,
    isEmpty: false,
    rules: rules.map(([id, agents, everybody, authenticated, groups, origins]) => ({
      id,
      modes: new Set(['read']),
      agents: new Set(agents),
      everybody: everybody === 1,
      authenticated: authenticated === 1,
      groups,
      origins: new Set(origins),
      accessTo: true,
      inherited: true,
    })),
  };
}
