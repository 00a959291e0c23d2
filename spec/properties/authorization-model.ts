/** Expected permissions by rule 17.1, as a model for the property specs. Must not depend on the tested code. */
export type Mode = 'read' | 'append' | 'write' | 'delete' | 'control';
export type Kind = 'container' | 'rdf' | 'json' | 'binary';

export interface Resource {
  readonly kind: Kind;
  readonly owner?: string | undefined;
  readonly declared: readonly string[];
  readonly asserted: readonly string[];
}
export interface Rule {
  readonly modes: readonly ('Read' | 'Append' | 'Write' | 'Control')[];
  readonly agents: readonly string[];
  readonly classes: readonly ('everybody' | 'authenticated')[];
  readonly groups: readonly string[];
  readonly origins: readonly string[];
  readonly accessTo: boolean;
  readonly inherited: boolean;
}
export interface Constraint {
  readonly leftOperand: 'dateTime' | 'client' | 'purpose' | 'format' | 'mediaType' | 'type' | 'weather';
  readonly operator: string;
  readonly rightOperand: readonly string[];
}
export interface Grant {
  readonly issuer: string;
  readonly actions: readonly ('read' | 'create' | 'modify' | 'delete')[];
  readonly assignee: string;
  readonly type: 'Container' | 'DataResource' | 'StorageResource';
  readonly values: readonly string[];
  readonly constraints: readonly Constraint[];
}
export interface World {
  readonly wac: boolean;
  readonly mask: boolean;
  readonly publicRead: boolean;
  readonly owners: readonly string[];
  readonly resources: ReadonlyMap<string, Resource>;
  readonly acls: ReadonlyMap<string, readonly Rule[]>;
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly grants: readonly Grant[];
}
export interface Client {
  readonly subject?: string | undefined;
  readonly client?: string | undefined;
  readonly origin?: string | undefined;
  readonly purpose?: string | undefined;
}

export const root = 'http://spec.example/';
export const everybody = 'http://xmlns.com/foaf/0.1/Agent';
export const lws = 'https://www.w3.org/ns/lws#';
export const formatOf: Readonly<Record<Kind, string | undefined>> = {
  container: undefined,
  rdf: 'text/turtle',
  json: 'application/json',
  binary: 'text/plain',
};
export const parentOf = (iri: string): string => iri.replace(/[^/]+\/?$/, '');
export const typesOf = ({ kind, declared, asserted }: Resource): string[] => [
  lws + (kind === 'container' ? 'Container' : 'DataResource'),
  ...declared,
  ...asserted,
];

const given: Readonly<Record<string, readonly Mode[]>> = {
  Read: ['read'],
  Append: ['append'],
  Write: ['append', 'write', 'delete'],
  Control: ['control'],
};

function byAcl({ acls, groups }: World, who: Client, mode: Mode, iri: string): boolean {
  for (let at = iri; ; at = parentOf(at)) {
    const rules = acls.get(at) ?? [];
    if (rules.length > 0)
      return rules.some(
        (rule) =>
          (at === iri ? rule.accessTo : rule.inherited) &&
          rule.modes.some((name) => given[name]!.includes(mode)) &&
          (rule.origins.length === 0 || rule.origins.includes(who.origin ?? '')) &&
          (rule.classes.includes('everybody') ||
            (who.subject !== undefined &&
              (rule.classes.includes('authenticated') ||
                rule.agents.includes(who.subject) ||
                rule.groups.some((group) => groups[group]?.includes(who.subject!))))),
      );
    if (at === root) return false;
  }
}

/** Rule 3.12: control by the root's ACL, without `foaf:Agent`, is control of every existing ACL. */
function byRoot({ acls, ...world }: World, who: Client, mode: Mode, iri: string): boolean {
  if (mode !== 'control' || iri === root || (acls.get(iri) ?? []).length === 0) return false;
  const named = (acls.get(root) ?? []).map((rule) => ({
    ...rule,
    classes: rule.classes.filter((each) => each !== 'everybody'),
  }));
  return byAcl({ ...world, acls: new Map([[root, named]]) }, who, mode, root);
}

const byBase = (world: World, who: Client, mode: Mode, iri: string): boolean =>
  world.wac
    ? byAcl(world, who, mode, iri) || byRoot(world, who, mode, iri)
    : (mode === 'read' && world.publicRead) ||
      (who.subject !== undefined &&
        (world.owners.includes(who.subject) || world.resources.get(iri)?.owner === who.subject));

function holds({ leftOperand, operator, rightOperand: right }: Constraint, who: Client, resource: Resource): boolean {
  if (leftOperand === 'weather') return false;
  if (leftOperand === 'dateTime') {
    const order = Math.sign(Date.now() - Date.parse(right[0]!));
    return { lt: order < 0, lteq: order <= 0, gt: order > 0, gteq: order >= 0 }[operator] ?? false;
  }
  const format = formatOf[resource.kind];
  const values = { client: who.client, purpose: who.purpose, format, mediaType: format };
  const left = leftOperand === 'type' ? typesOf(resource) : [values[leftOperand]].filter((v) => v !== undefined);
  const any = left.some((value) => right.includes(value));
  const all = right.every((value) => left.includes(value));
  return left.length > 0 && ({ eq: any, isAnyOf: any, neq: !any, isNoneOf: !any, isAllOf: all }[operator] ?? false);
}

const actionOf: Readonly<Record<string, string>> = {
  read: 'read',
  append: 'create',
  write: 'modify',
  delete: 'delete',
};
const byGrant = (world: World, who: Client, mode: Mode, iri: string): boolean =>
  world.grants.some(({ issuer, actions, assignee, type, values, constraints }) => {
    const isContainer = iri.endsWith('/');
    const inside = values.some((value) => value === iri || (value.endsWith('/') && iri.startsWith(value)));
    const ofType = { Container: values.some((v) => v.endsWith('/') && iri.startsWith(v)), DataResource: !isContainer };
    return (
      (actions as readonly string[]).includes(actionOf[mode] ?? '') &&
      (assignee === everybody || assignee === who.subject) &&
      inside &&
      (type === 'StorageResource' || ofType[type]) &&
      constraints.every((constraint) => holds(constraint, who, world.resources.get(iri)!)) &&
      byBase(world, { subject: issuer }, 'control', root)
    );
  });

/** Returns true if a caller has the mode on an existing resource. */
export const allows = (world: World, who: Client, mode: Mode, iri: string): boolean =>
  byBase(world, who, mode, iri) || byGrant(world, who, mode, iri);

/** Returns the status after authorization: 200 if the request may continue. PUT is `put`, other methods are given by their required mode. */
export function outcome(world: World, who: Client, need: Mode | 'put', iri: string): 200 | 401 | 403 | 404 {
  const may = (mode: Mode, of: string): boolean => world.resources.has(of) && allows(world, who, mode, of);
  const refusal = (readable: boolean) => (who.subject === undefined ? 401 : readable || !world.mask ? 403 : 404);
  const exists = world.resources.has(iri);
  const parent = parentOf(iri);
  if (exists && may(need === 'put' ? 'write' : need, iri)) return 200;
  if (exists && (need !== 'put' || may('read', iri))) return refusal(may('read', iri));
  if (need === 'put' && world.resources.has(parent)) {
    // Callers with append access may learn that the name is taken. The resource itself is masked as for other methods.
    if (may('append', parent)) return exists ? refusal(false) : 200;
    return refusal(may('read', parent));
  }
  return who.subject !== undefined || may('read', parent) ? 404 : 401;
}
