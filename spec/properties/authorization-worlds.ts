/** Random storages with creators, ACLs, groups and grants, and random clients. */
import fc from 'fast-check';
import {
  type Client,
  everybody,
  type Grant,
  type Kind,
  lws,
  type Resource,
  type Rule,
  root,
  type World,
} from './authorization-model.js';

export const people = ['https://id.example/owner', 'https://id.example/alice', 'https://id.example/bob'];
const [owner] = people as [string];
export const apps = ['https://app.example', 'https://other.example'];
export const purposes = ['urn:purpose:one', 'urn:purpose:two'];
export const types = ['urn:type:A', 'urn:type:B', 'urn:type:C'];
const groupNames = ['g', 'd/g'].map((path) => `${root}${path}#us`);

const some = <T>(values: readonly T[], maxLength = values.length) => fc.subarray([...values], { maxLength });
const often = <T>(value: T, other: fc.Arbitrary<T>) => fc.oneof({ weight: 2, arbitrary: fc.constant(value) }, other);
const rarely = fc.integer({ min: 0, max: 3 }).map((dice) => dice === 0);
/** Names that sort before and after a slash. */
const name = fc.constantFrom('d', 'd-b', 'd0', 'd!', 'e');
const leafKind = fc.constantFrom<Kind>('container', 'rdf', 'rdf', 'json', 'binary');
const path = fc.record({
  containers: fc.array(name, { maxLength: 3 }),
  leaf: fc.constantFrom('x', 'x-', 'y'),
  kind: leafKind,
});
const resource = (kind: Kind) =>
  fc.record({
    kind: fc.constant(kind),
    owner: fc.option(fc.constantFrom(...people), { nil: undefined }),
    declared: often<string[]>([], some(types)),
    asserted: kind === 'rdf' ? some(types) : fc.constant<string[]>([]),
  });

/** Returns the IRIs of a tree with their kinds: the paths and their containers. */
const tree = fc.array(path, { minLength: 2, maxLength: 6 }).map((paths) => {
  const kinds = new Map<string, Kind>([
    [root, 'container'],
    [`${root}g`, 'rdf'],
    [`${root}d/`, 'container'],
    [`${root}d/g`, 'rdf'],
  ]);
  for (const { containers, leaf, kind } of paths) {
    let at = root;
    for (const each of containers) {
      at += `${each}/`;
      kinds.set(at, 'container');
    }
    const iri = at + leaf;
    if (!kinds.has(iri) && !kinds.has(`${iri}/`)) kinds.set(kind === 'container' ? `${iri}/` : iri, kind);
  }
  return [...kinds];
});

const rule: fc.Arbitrary<Rule> = fc
  .record({
    modes: fc.subarray(['Read', 'Append', 'Write', 'Control'] as const, { minLength: 1, maxLength: 2 }),
    agents: some(people, 2),
    classes: often<('everybody' | 'authenticated')[]>([], some(['everybody', 'authenticated'] as const, 1)),
    groups: often<string[]>([], some([...groupNames, `${root}none#us`])),
    origins: often<string[]>([], some(apps, 1)),
    where: fc.constantFrom('accessTo', 'inherited', 'both'),
  })
  .map(({ where, ...rest }) => ({ ...rest, accessTo: where !== 'inherited', inherited: where !== 'accessTo' }));

const soon = new Date(Date.now() + 86_400_000).toISOString();
const operators = ['eq', 'neq', 'isAnyOf', 'isAllOf', 'isNoneOf'];
const among = (leftOperand: 'client' | 'purpose' | 'format' | 'mediaType' | 'type' | 'weather', values: string[]) =>
  fc.constantFrom(...operators, 'lt').chain((operator) =>
    fc
      .subarray(values, { minLength: 1, maxLength: /^n?eq$/.test(operator) ? 1 : values.length })
      .map((rightOperand) => ({
        leftOperand,
        operator,
        rightOperand,
      })),
  );
const constraint = fc.oneof(
  fc.constantFrom('lt', 'lteq', 'gt', 'gteq', 'eq').chain((operator) =>
    fc.constantFrom(soon, '2020-01-01T00:00:00Z', 'never').map((time) => ({
      leftOperand: 'dateTime' as const,
      operator,
      rightOperand: [time],
    })),
  ),
  among('client', apps),
  among('purpose', purposes),
  among('format', ['text/turtle', 'application/json']),
  among('mediaType', ['text/turtle', 'text/plain']),
  among('type', [...types, `${lws}Container`, `${lws}DataResource`]),
  among('weather', ['fine']),
);
const grant = (iris: readonly string[]): fc.Arbitrary<Grant> =>
  fc.record({
    issuer: fc.constantFrom(owner, ...people),
    actions: fc.subarray(['read', 'read', 'create', 'modify', 'delete'] as const, { minLength: 1 }),
    assignee: fc.constantFrom(...people, everybody),
    type: fc.constantFrom('Container', 'DataResource', 'StorageResource', 'StorageResource'),
    values: fc.subarray([...iris, `${root}d-`, `${root}none/`], { minLength: 1, maxLength: 2 }),
    constraints: often<Grant['constraints'][number][]>([], fc.array(constraint, { maxLength: 2 })),
  });

const rootRule: Rule = {
  modes: ['Read', 'Write', 'Control'],
  agents: [owner],
  classes: [],
  groups: [],
  origins: [],
  accessTo: true,
  inherited: true,
};

export const world: fc.Arbitrary<World> = tree.chain((kinds) => {
  const iris = kinds.map(([iri]) => iri);
  return fc
    .record({
      wac: fc.boolean(),
      mask: rarely.map((off) => !off),
      publicRead: rarely,
      resources: fc.tuple(...kinds.map(([, kind]) => resource(kind))),
      acls: fc.tuple(...kinds.map(() => fc.option(fc.array(rule, { maxLength: 3 }), { nil: undefined, freq: 2 }))),
      hasRootRule: rarely.map((no) => !no),
      members: fc.tuple(some(people), some(people)),
      grants: often<Grant[]>([], fc.array(grant(iris), { maxLength: 3 })),
    })
    .map(({ resources, acls, hasRootRule, members, ...rest }) => ({
      ...rest,
      owners: [owner],
      resources: new Map(iris.map((iri, i) => [iri, resources[i] as Resource])),
      acls: new Map(
        iris.flatMap((iri, i) => {
          const own = iri === root && hasRootRule ? [rootRule, ...(acls[i] ?? [])] : acls[i];
          return own ? [[iri, own] as const] : [];
        }),
      ),
      groups: Object.fromEntries(groupNames.map((group, i) => [group, members[i]!])),
    }));
});

export const client: fc.Arbitrary<Client> = fc.record({
  subject: fc.constantFrom(undefined, ...people, 'https://id.example/stranger'),
  client: fc.constantFrom(undefined, ...apps),
  origin: fc.constantFrom(undefined, ...apps),
  purpose: fc.constantFrom(undefined, ...purposes),
});
