/**
 * Web Access Control (open-points 1.3): the resource's own ACL, or the inherited rules of the nearest container that has
 * one; the nearest wins entirely, and nobody is above it.
 */

import { below, type IriRange, isWholeStorage, only, unionOfRanges } from '../storage/iri-ranges.js';
import { type Acl, aclKey, readAcl } from './acl.js';
import { judge } from './acl-decision.js';
import type { AclIndex } from './acl-index.js';
import { ancestorsOf, type BaseModel, type Decision, type Question, type ReadScope, type View } from './authorizer.js';
import type { Groups } from './groups.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

export interface WacOptions {
  readonly storage: string;
  /** The committed state. */
  readonly view: View;
  readonly index: AclIndex;
  readonly groups: Groups;
  /** Remote group documents that one decision may fetch. */
  readonly mostFetches: number;
}

/** Decisions by ACL, and by mode with the way it was found. */
type Memo = Map<Acl, Map<string, Decision>>;

interface Effective {
  readonly acl: Acl;
  readonly inherited: boolean;
}

/** With more ACLs, enumerations decide for each resource. */
const mostRanges = 2_000;
/** With more ACLs below a container, a listing decides for each member. */
const mostBelow = 200;

const noAcl: Decision = { allowed: false, rule: 'there is no ACL' };

export function wacModel(options: WacOptions): BaseModel {
  const { storage, index } = options;
  // Inside the transaction everything is decided again: a group may have changed since.
  const memos = [new WeakMap<Access, Memo>(), new WeakMap<Access, Memo>()] as const;

  const aclOf = (view: View, iri: string): Acl | undefined => {
    if (!index.mayHave(iri)) return undefined;
    const acl = view.derived(aclKey(iri), (value) => readAcl(iri, value));
    // An empty ACL is no ACL.
    return acl?.isEmpty === false ? acl : undefined;
  };
  const effective = (view: View, iri: string): Effective | undefined => {
    const own = aclOf(view, iri);
    if (own) return { acl: own, inherited: false };
    for (const ancestor of ancestorsOf(iri, storage)) {
      const acl = aclOf(view, ancestor);
      if (acl) return { acl, inherited: true };
    }
    return undefined;
  };

  /** The decision of one ACL: made once per request, however many resources it is the ACL of. */
  const decideBy = (
    view: View,
    access: Access,
    { acl, inherited }: Effective,
    mode: Mode,
  ): Decision | Promise<Decision> => {
    const memo = memos[view.isTransaction ? 1 : 0];
    let known = memo.get(access);
    if (!known) {
      known = new Map();
      memo.set(access, known);
    }
    const decisions = known.get(acl) ?? new Map<string, Decision>();
    known.set(acl, decisions);
    const key = `${mode}${inherited ? ' inherited' : ''}`;
    const found = decisions.get(key);
    if (found) return found;
    const rules = acl.rules.filter((rule) => (inherited ? rule.inherited : rule.accessTo) && rule.modes.has(mode));
    const decision = judge(options, access, acl, rules, !view.isTransaction);
    if (!(decision instanceof Promise)) {
      decisions.set(key, decision);
      return decision;
    }
    return decision.then((made) => {
      decisions.set(key, made);
      return made;
    });
  };

  const decide = ({ view, access, mode, iri }: Question): Decision | Promise<Decision> => {
    const found = effective(view, iri);
    return found ? decideBy(view, access, found, mode) : noAcl;
  };

  return {
    decide,
    async readsAllMembers(view, access, container) {
      // All the way down: the date of a member that is a container tells of what is in it.
      const closer = index.below(container, mostBelow);
      if (closer.length > mostBelow) return false;
      const found = effective(view, `${container}\u0000`);
      if (!found || !(await decideBy(view, access, found, 'read')).allowed) return false;
      for (const iri of closer) {
        const acl = aclOf(view, iri);
        if (!acl) continue;
        if (!(await decideBy(view, access, { acl, inherited: false }, 'read')).allowed) return false;
        if (iri.endsWith('/') && !(await decideBy(view, access, { acl, inherited: true }, 'read')).allowed)
          return false;
      }
      return true;
    },
    async readScope(access) {
      if (index.size > mostRanges) return 'decide';
      const acls = index.sorted.flatMap((iri) => aclOf(options.view, iri) ?? []);
      const reads = async (acl: Acl, inherited: boolean): Promise<boolean> =>
        (await decideBy(options.view, access, { acl, inherited }, 'read')).allowed;
      return scopeOf(await readableRanges(acls, reads), storage);
    },
  };
}

/** What each ACL says of its resource and of what lies below, where no nearer one speaks. */
async function readableRanges(
  acls: readonly Acl[],
  reads: (acl: Acl, inherited: boolean) => Promise<boolean>,
): Promise<IriRange[]> {
  const found: IriRange[] = [];
  const open: { readonly to: string; readonly readable: boolean }[] = [];
  let at = '';
  const advance = (to: string, readable: boolean): void => {
    if (readable && at < to) found.push({ from: at, to });
    at = to;
  };
  const closeUpTo = (iri: string): void => {
    for (let top = open.at(-1); top && top.to <= iri; top = open.at(-1)) {
      advance(top.to, top.readable);
      open.pop();
    }
  };
  // In the order of IRIs a container comes before what lies in it.
  for (const acl of acls) {
    closeUpTo(acl.of);
    advance(acl.of, open.at(-1)?.readable ?? false);
    advance(only(acl.of).to, await reads(acl, false));
    if (acl.of.endsWith('/')) open.push({ to: below(acl.of).to, readable: await reads(acl, true) });
  }
  closeUpTo('\uffff');
  return unionOfRanges(found);
}

function scopeOf(ranges: readonly IriRange[], storage: string): ReadScope {
  if (ranges.length === 0) return 'nothing';
  return isWholeStorage(ranges, storage) ? 'everything' : { ranges };
}
