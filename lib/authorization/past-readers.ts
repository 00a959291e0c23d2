/**
 * Who might read a resource by an ACL, written down beside the event that tells of the resource: the ACL may be gone when somebody asks for
 * the event.
 */
import type { Acl, AclRule } from './acl.js';

/** Of longer ones the rules are not written down, which would be a part of every event. */
const maxLength = 4 << 10;

type KeptRule = readonly [
  id: string,
  agents: readonly string[],
  everybody: 0 | 1,
  authenticated: 0 | 1,
  groups: readonly string[],
  origins: readonly string[],
];

/** Written once for each ACL: its own rules, and those for what lies below. */
const written = [new WeakMap<Acl, string>(), new WeakMap<Acl, string>()] as const;

/** @param inherited the rules for what lies below count */
export function pastReaders(acl: Acl, inherited: boolean): string {
  const known = written[inherited ? 1 : 0];
  let text = known.get(acl);
  if (text === undefined) {
    const rules = acl.rules.filter((rule) => (inherited ? rule.inherited : rule.accessTo) && rule.modes.has('read'));
    text = JSON.stringify([acl.of, rules.map(kept)]);
    if (text.length > maxLength) text = JSON.stringify([acl.of, []]);
    known.set(acl, text);
  }
  return text;
}

const kept = ({ id, agents, everybody, authenticated, groups, origins }: AclRule): KeptRule => [
  id,
  [...agents],
  everybody ? 1 : 0,
  authenticated ? 1 : 0,
  groups,
  [...origins],
];

/** An ACL with the rules alone that gave `read`. */
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
