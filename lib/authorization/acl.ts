/** Web Access Control: converts the triples of an ACL to rules (rule 3.2). */
import type { Quad } from '@rdfjs/types';
import { acl, foaf, rdf } from '../rdf/vocabulary.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { entryKey, type ResourceRecord } from '../storage/keys/records.js';
import { isIdentity } from './did.js';
import type { Mode } from './mode.js';

/** Authorization of an ACL. */
export interface AclRule {
  /** IRI or label of the authorization, for logs. */
  readonly id: string;
  readonly modes: ReadonlySet<Mode>;
  readonly agents: ReadonlySet<string>;
  readonly everybody: boolean;
  readonly authenticated: boolean;
  readonly groups: readonly string[];
  /** Allowed origins. Empty: any origin. */
  readonly origins: ReadonlySet<string>;
  /** `accessTo`: the rule applies to the resource. `inherited`: descendants of a container without a nearer ACL inherit it. */
  readonly accessTo: boolean;
  readonly inherited: boolean;
}

export interface Acl {
  /** Resource that the ACL applies to. */
  readonly of: string;
  readonly rules: readonly AclRule[];
  /**
   * True if the graph has no authorization, and is therefore treated as no ACL. An ACL whose authorizations are all about other
   * resources is not empty: it denies all access.
   */
  readonly isEmpty: boolean;
}

/** Stored ACL: a graph whose base is the IRI of the resource. */
export interface AclDocument {
  readonly revision: string;
  /** Modification time, in milliseconds since the epoch. */
  readonly modified: number;
  /** True if the previous state began in the same second (`Dated`). */
  readonly sharesSecond?: true | undefined;
  readonly prefixes: Readonly<Record<string, string>>;
  /** GSPO keys of the triples. */
  readonly keys: readonly string[];
}

export const aclSpace = 'acl';
export const aclKey = (iri: string): string => entryKey(aclSpace, iri);
const readAclDocument = (value: string): AclDocument => JSON.parse(value) as AclDocument;

/** Rules of a stored ACL, with its revision. */
export interface StoredAcl extends Acl {
  readonly revision: string;
}

/** Returns an ACL that denies all access, used instead of a lost or outdated ACL. */
export const closedAcl = (of: string): Acl => ({ of, rules: [], isEmpty: false });

/** Returns the rules of a stored ACL. */
export function readAcl(of: string, value: string): StoredAcl {
  const { keys, revision } = readAclDocument(value);
  return { ...aclOfGraph(of, keys), revision };
}

/** True if the record names this stored ACL: LevelDB can return a deleted or earlier ACL (decision 168). */
export const isAclOf = ({ revision }: Pick<StoredAcl, 'revision'>, record: ResourceRecord | undefined): boolean =>
  record?.acl === true || record?.acl === revision;

/** Returns the stored ACL that the record names, or `undefined`. */
export function aclDocumentOf(
  view: { entry(key: string): string | undefined },
  record: ResourceRecord,
): AclDocument | undefined {
  const value = record.acl && view.entry(aclKey(record.iri));
  const document = value ? readAclDocument(value) : undefined;
  return document && isAclOf(document, record) ? document : undefined;
}

/** Returns the rules in the graph of an ACL. */
export function aclOfGraph(of: string, keys: readonly string[]): Acl {
  const quads = decodeGraph(keys);
  const isEmpty = !quads.some(
    ({ predicate, object }) => predicate.value === rdf.type && object.value === acl.Authorization,
  );
  return { of, rules: rulesOf(of, quads), isEmpty };
}

/** Returns the agents in the graph of an ACL, also of authorizations that have no effect. */
export const agentsOfGraph = (keys: readonly string[]): string[] =>
  decodeGraph(keys)
    .filter(({ predicate, object }) => predicate.value === acl.agent && object.termType === 'NamedNode')
    .map(({ object }) => object.value);

/** True if the rules give an agent control of the ACL's resource. Groups and classes do not count: they can become empty. */
export const leavesControl = ({ rules }: Acl): boolean =>
  rules.some(({ accessTo, modes, agents }) => accessTo && modes.has('control') && [...agents].some(isIdentity));

const granted: Readonly<Record<string, readonly Mode[]>> = {
  [acl.Read]: ['read'],
  [acl.Append]: ['append'],
  // Write implies Append, and allows deletion.
  [acl.Write]: ['append', 'write', 'delete'],
  [acl.Control]: ['control'],
};

/** Returns the authorizations that apply to the resource. Authorizations for other resources have no effect. */
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

/** Returns an origin in normal form. Origins in ACLs can have a trailing slash, origins in the Origin field cannot. */
export const originOf = (text: string): string => text.replace(/\/$/, '').toLowerCase();
