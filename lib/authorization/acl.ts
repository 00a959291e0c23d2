/**
 * Access control lists of Web Access Control: from the triples of an `.acl` to rules (rule 3.2). Pure; it must not
 * know where they are kept nor who asks.
 */
import type { Quad } from '@rdfjs/types';
import { acl, foaf, rdf } from '../rdf/vocabulary.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { entryKey } from '../storage/keys/records.js';
import { isIdentity } from './did.js';
import type { Mode } from './mode.js';

/** An authorization of an ACL. */
export interface AclRule {
  /** The authorization's own IRI or label, for the log. */
  readonly id: string;
  readonly modes: ReadonlySet<Mode>;
  readonly agents: ReadonlySet<string>;
  readonly everybody: boolean;
  readonly authenticated: boolean;
  readonly groups: readonly string[];
  /** Empty: whatever the origin. */
  readonly origins: ReadonlySet<string>;
  /** For the resource itself, and for what lies below a container that has no nearer ACL. */
  readonly accessTo: boolean;
  readonly inherited: boolean;
}

export interface Acl {
  /** The resource that it belongs to. */
  readonly of: string;
  readonly rules: readonly AclRule[];
  /** It has no authorization, and is no ACL; one that speaks of other resources alone shuts everybody out. */
  readonly isEmpty: boolean;
}

/** What is kept of an ACL: a graph of which the resource is the base. */
export interface AclDocument {
  readonly revision: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** The state before this one began within the same second. */
  readonly sharesSecond?: true | undefined;
  readonly prefixes: Readonly<Record<string, string>>;
  /** GSPO keys. */
  readonly keys: readonly string[];
}

export const aclSpace = 'acl';
export const aclKey = (iri: string): string => entryKey(aclSpace, iri);
export const readAclDocument = (value: string): AclDocument => JSON.parse(value) as AclDocument;

/** The rules of a kept ACL. */
export function readAcl(of: string, value: string): Acl {
  return aclOfGraph(of, readAclDocument(value).keys);
}

/** What the graph of an ACL says, kept or not. */
export function aclOfGraph(of: string, keys: readonly string[]): Acl {
  const quads = decodeGraph(keys);
  const isEmpty = !quads.some(
    ({ predicate, object }) => predicate.value === rdf.type && object.value === acl.Authorization,
  );
  return { of, rules: rulesOf(of, quads), isEmpty };
}

/** Whom the graph of an ACL names as agents, whatever the authorizations are about. */
export const agentsOfGraph = (keys: readonly string[]): string[] =>
  decodeGraph(keys)
    .filter(({ predicate, object }) => predicate.value === acl.agent && object.termType === 'NamedNode')
    .map(({ object }) => object.value);

/** Whether the rules name an agent who may change the ACL itself: groups and classes may come to have no member. */
export const leavesControl = ({ rules }: Acl): boolean =>
  rules.some(({ accessTo, modes, agents }) => accessTo && modes.has('control') && [...agents].some(isIdentity));

const granted: Readonly<Record<string, readonly Mode[]>> = {
  [acl.Read]: ['read'],
  [acl.Append]: ['append'],
  // Write implies Append, and covers `delete`.
  [acl.Write]: ['append', 'write', 'delete'],
  [acl.Control]: ['control'],
};

/** The authorizations that speak of the resource; others have no effect here. */
function rulesOf(of: string, quads: readonly Quad[]): AclRule[] {
  const bySubject = new Map<string, Quad[]>();
  for (const quad of quads) {
    const own = bySubject.get(quad.subject.value);
    if (own) own.push(quad);
    else bySubject.set(quad.subject.value, [quad]);
  }
  return [...bySubject].flatMap(([id, own]) => {
    const values = (predicate: string): string[] =>
      own
        .filter((quad) => quad.predicate.value === predicate && quad.object.termType === 'NamedNode')
        .map(({ object }) => object.value);
    if (!values(rdf.type).includes(acl.Authorization)) return [];
    const classes = values(acl.agentClass);
    const rule: AclRule = {
      id,
      modes: new Set(values(acl.mode).flatMap((mode) => granted[mode] ?? [])),
      agents: new Set(values(acl.agent)),
      everybody: classes.includes(foaf.Agent),
      authenticated: classes.includes(acl.AuthenticatedAgent),
      groups: values(acl.agentGroup),
      origins: new Set(
        own.filter(({ predicate }) => predicate.value === acl.origin).map(({ object }) => originOf(object.value)),
      ),
      accessTo: values(acl.accessTo).includes(of),
      inherited: values(acl.default).includes(of),
    };
    return rule.accessTo || rule.inherited ? [rule] : [];
  });
}

/** Origins are written with and without a slash; the field never has one. */
export const originOf = (text: string): string => text.replace(/\/$/, '').toLowerCase();
