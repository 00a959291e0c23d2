/**
 * Converts access control lists to a table of people and modes, and back. Authorizations that the table cannot show are kept
 * unchanged. Loaded on demand.
 */
import { DataFactory, Parser, type Quad, Writer } from 'n3';

export const modes = ['Read', 'Append', 'Write', 'Control'] as const;
export type AclMode = (typeof modes)[number];
/** Scope: the resource itself, the contents of a container, or both. */
export type Scope = 'here' | 'below' | 'both';

export interface AclRow {
  /** `agent`: one identity. `agentClass`: all callers, or all signed-in callers. `agentGroup`: members of a group. */
  readonly kind: 'agent' | 'agentClass' | 'agentGroup';
  readonly iri: string;
  readonly scope: Scope;
  readonly modes: readonly AclMode[];
}

const acl = 'http://www.w3.org/ns/auth/acl#';
const anybody: ReadonlySet<string> = new Set(['http://xmlns.com/foaf/0.1/Agent', `${acl}AuthenticatedAgent`]);
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const kinds = ['agent', 'agentClass', 'agentGroup'] as const;
const shown: ReadonlySet<string> = new Set([
  rdfType,
  ...[...kinds, 'mode', 'accessTo', 'default'].map((name) => acl + name),
]);
const modeIris: ReadonlySet<string> = new Set(modes.map((mode) => acl + mode));
const { namedNode, blankNode, quad } = DataFactory;

/** @param of IRI of the ACL's resource, the base of relative references */
export const parseAcl = (turtle: string, of: string): Quad[] => new Parser({ baseIRI: of }).parse(turtle);

export function writeAcl(quads: readonly Quad[]): Promise<string> {
  const writer = new Writer({ prefixes: { acl, foaf: 'http://xmlns.com/foaf/0.1/' } });
  writer.addQuads([...quads]);
  return new Promise((resolve, reject) =>
    writer.end((error: Error | null, text: string) => (error ? reject(error) : resolve(text))),
  );
}

function bySubject(quads: readonly Quad[]): Map<string, Quad[]> {
  const found = new Map<string, Quad[]>();
  for (const each of quads) found.set(each.subject.id, [...(found.get(each.subject.id) ?? []), each]);
  return found;
}

const objects = (quads: readonly Quad[], name: string): string[] =>
  quads.filter(({ predicate }) => predicate.value === acl + name).map(({ object }) => object.value);

/** Returns the scope of an authorization, or `undefined` if it is about other resources. */
function scopeOf(quads: readonly Quad[], of: string): Scope | undefined {
  const [here, below] = [objects(quads, 'accessTo').includes(of), objects(quads, 'default').includes(of)];
  if (here && below) return 'both';
  return here ? 'here' : below ? 'below' : undefined;
}

/** True if the table shows everything that the authorization says. */
function isPlain(quads: readonly Quad[], of: string): boolean {
  return (
    quads.every(({ predicate, object }) => shown.has(predicate.value) && object.termType === 'NamedNode') &&
    quads.some(({ predicate, object }) => predicate.value === rdfType && object.value === `${acl}Authorization`) &&
    [...objects(quads, 'accessTo'), ...objects(quads, 'default')].every((iri) => iri === of) &&
    objects(quads, 'mode').every((mode) => modeIris.has(mode)) &&
    scopeOf(quads, of) !== undefined
  );
}

export interface AclTable {
  readonly rows: readonly AclRow[];
  /** Count of subjects with statements that the table does not show. */
  readonly others: number;
}

/** Returns the people in an ACL, each with the modes of all their authorizations. */
export function tableOf(quads: readonly Quad[], of: string): AclTable {
  const rows = new Map<string, AclRow>();
  let others = 0;
  for (const own of bySubject(quads).values()) {
    if (!isPlain(own, of)) {
      others++;
      continue;
    }
    const scope = scopeOf(own, of)!;
    const granted = objects(own, 'mode').map((mode) => mode.slice(acl.length) as AclMode);
    for (const kind of kinds)
      for (const iri of objects(own, kind)) {
        const key = `${kind} ${scope} ${iri}`;
        const before = rows.get(key)?.modes ?? [];
        rows.set(key, { kind, iri, scope, modes: modes.filter((mode) => [...before, ...granted].includes(mode)) });
      }
  }
  return { rows: [...rows.values()], others };
}

/** Returns the ACL with one changed row. Without modes the person is removed. */
export function withRow(quads: readonly Quad[], of: string, row: AclRow): Quad[] {
  const kept: Quad[] = [];
  for (const own of bySubject(quads).values()) {
    const names = ({ predicate, object }: Quad): boolean =>
      predicate.value === acl + row.kind && object.value === row.iri;
    if (!isPlain(own, of) || scopeOf(own, of) !== row.scope || !own.some(names)) {
      kept.push(...own);
      continue;
    }
    const rest = own.filter((each) => !names(each));
    // An authorization whose last agent was removed is dropped.
    if (kinds.some((kind) => objects(rest, kind).length > 0)) kept.push(...rest);
  }
  return row.modes.length > 0 ? [...kept, ...authorization(row, of)] : kept;
}

function authorization({ kind, iri, scope, modes: granted }: AclRow, of: string): Quad[] {
  const subject = blankNode();
  const say = (predicate: string, object: string): Quad => quad(subject, namedNode(predicate), namedNode(object));
  return [
    say(rdfType, `${acl}Authorization`),
    say(acl + kind, iri),
    ...(scope === 'below' ? [] : [say(`${acl}accessTo`, of)]),
    ...(scope === 'here' ? [] : [say(`${acl}default`, of)]),
    ...granted.map((mode) => say(`${acl}mode`, acl + mode)),
  ];
}

/** Returns the inherited rules as an equivalent ACL of the resource. */
export function ownFrom(quads: readonly Quad[], from: string, of: string): Quad[] {
  const made: Quad[] = [];
  for (const own of bySubject(quads).values()) {
    if (!objects(own, 'default').includes(from)) continue;
    const subject = blankNode();
    const rest = own.filter(({ predicate }) => ![`${acl}accessTo`, `${acl}default`].includes(predicate.value));
    const about = of.endsWith('/') ? ['accessTo', 'default'] : ['accessTo'];
    made.push(
      ...rest.map(({ predicate, object }) => quad(subject, predicate, object)),
      ...about.map((name) => quad(subject, namedNode(acl + name), namedNode(of))),
    );
  }
  return made;
}

/**
 * True if the rules that can be evaluated here, without groups and origins, give an identity control.
 * @param inherited true to use the inherited rules
 */
export function hasControl(quads: readonly Quad[], of: string, who: { subject: string; inherited: boolean }): boolean {
  return [...bySubject(quads).values()].some((own) => {
    const named =
      objects(own, 'agent').includes(who.subject) || objects(own, 'agentClass').some((iri) => anybody.has(iri));
    return (
      named &&
      objects(own, who.inherited ? 'default' : 'accessTo').includes(of) &&
      objects(own, 'mode').includes(`${acl}Control`) &&
      objects(own, 'origin').length === 0
    );
  });
}
