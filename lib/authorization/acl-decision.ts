/** Whether one of an ACL's rules is for the caller (rule 3.2). */
import { type Acl, type AclRule, originOf } from './acl.js';
import type { Decision } from './authorizer.js';
import type { Groups } from './groups.js';
import type { Access } from './principal.js';

export interface JudgeOptions {
  readonly groups: Groups;
  /** Remote group documents that one decision may fetch. */
  readonly maxFetches: number;
}

const allowedBy = ({ of }: Acl, { id }: AclRule, why: string): Decision => ({
  allowed: true,
  rule: `the ACL of ${of}, authorization ${id} (${why})`,
});

/**
 * Judges the rules that give a mode. Groups are looked at last, and only when nothing else allows.
 * @param mayFetch documents of remote groups may be asked for; not while a transaction is open
 */
export function judge(
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

/** An authorization with origins does not match a request without `Origin`. */
const fitsOrigin = ({ origins }: AclRule, { origin }: Access): boolean =>
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
      if ((await groups.members(group, mayFetch)).has(subject)) return allowedBy(acl, rule, `member of ${group}`);
    }
  return refusal;
}
