/** Random storages with creators, ACLs, groups and grants, random clients, and storages in memory that are like them. */

import fc from 'fast-check';
import { MemoryLevel } from 'memory-level';
import { Parser } from 'n3';
import accessGrants from '../../components/access-grants/index.js';
import { keyOf } from '../../components/access-grants/kept-documents.js';
import { indexChanges, rebuild } from '../../components/search-index/indexer.js';
import { PostingLists } from '../../components/search-index/posting-lists.js';
import { AclIndex } from '../../lib/authorization/acl-index.js';
import { createAuthorizer, type PermissionSource } from '../../lib/authorization/authorizer.js';
import { createGroups } from '../../lib/authorization/groups.js';
import { ownerModel } from '../../lib/authorization/owner-mode.js';
import { wacModel } from '../../lib/authorization/wac.js';
import type { House } from '../../lib/component.js';
import { createLog } from '../../lib/log.js';
import { stageAcl } from '../../lib/resources/acl.js';
import { stageLinks } from '../../lib/resources/metadata.js';
import { Representations } from '../../lib/resources/representations.js';
import type { Storage } from '../../lib/resources/storage.js';
import type { Documents } from '../../lib/storage/documents.js';
import type { Level } from '../../lib/storage/durable-level.js';
import { encodeGraph } from '../../lib/storage/quad-keys.js';
import type { Transaction } from '../../lib/storage/transaction.js';
import { memoryStore } from '../support/memory-store.js';
import {
  type Client,
  everybody,
  formatOf,
  type Grant,
  type Kind,
  parentOf,
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
/** Names that sort around a slash. */
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

/** The IRIs of a tree, each with its kind: what the paths name, and the containers that these lie in. */
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
  among('type', [...types, 'https://www.w3.org/ns/lws#Container', 'https://www.w3.org/ns/lws#DataResource']),
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
      acls: fc.tuple(...kinds.map(() => fc.option(fc.array(rule, { maxLength: 3 }), { nil: undefined, freq: 1 }))),
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

const named = (iris: readonly string[]): string => iris.map((iri) => `<${iri}>`).join(', ');

/** The rules of an ACL in Turtle. */
const turtleOf = (rules: readonly Rule[]): string =>
  rules
    .map(({ modes, agents, classes, groups, origins, accessTo, inherited }) =>
      [
        '[] a acl:Authorization',
        `acl:mode ${modes.map((mode) => `acl:${mode}`).join(', ')}`,
        ...(agents.length > 0 ? [`acl:agent ${named(agents)}`] : []),
        ...classes.map(
          (each) => `acl:agentClass ${each === 'everybody' ? `<${everybody}>` : 'acl:AuthenticatedAgent'}`,
        ),
        ...(groups.length > 0 ? [`acl:agentGroup ${named(groups)}`] : []),
        ...(origins.length > 0 ? [`acl:origin ${named(origins)}`] : []),
        ...(accessTo ? ['acl:accessTo <>'] : []),
        ...(inherited ? ['acl:default <>'] : []),
      ].join(' ; '),
    )
    .join(' .\n')
    .replace(/.$/s, '$& .');

const keysOf = (iri: string, text: string): string[] =>
  encodeGraph(
    iri,
    new Parser({ baseIRI: iri }).parse(`@prefix acl: <http://www.w3.org/ns/auth/acl#> .\n${text}`),
  ).sort();

const contentOf = (iri: string, { asserted }: Resource, { groups }: World): string => {
  const members = groups[`${iri}#us`] ?? [];
  const hasMember = 'http://www.w3.org/2006/vcard/ns#hasMember';
  return [
    ...asserted.map((type, i) => `<${i % 2 ? '#it' : ''}> a <${type}> .`),
    ...(members.length > 0 ? [`<#us> <${hasMember}> ${named(members)} .`] : []),
  ].join('\n');
};

function stage(storage: Storage, tx: Transaction, { resources, acls, grants, ...world }: World): void {
  const index = storage.acls;
  const all = [...resources];
  for (const [iri, { kind, owner: creator, declared, asserted }] of all) {
    const members = all.filter(([other]) => other !== root && parentOf(other) === iri).length;
    const record = {
      iri,
      kind,
      mediaType: formatOf[kind] ?? 'application/lws+json',
      size: 0,
      revision: `r${iri.length}`,
      created: 1,
      modified: 1,
      ...(kind === 'container' ? { members } : {}),
      ...(creator === undefined ? {} : { owner: creator }),
    };
    const before = tx.record(iri);
    if (kind === 'rdf') {
      const content = contentOf(iri, { kind, declared, asserted }, { resources, acls, grants, ...world });
      tx.putGraph(iri, [], keysOf(iri, content));
    }
    const links = { type: declared.map((href) => ({ href })) };
    const after = declared.length > 0 ? stageLinks(storage, tx, record, links) : record;
    tx.putRecord(after);
    tx.changed(before ? { before, after } : { after });
  }
  if (index)
    for (const [iri, rules] of acls)
      stageAcl(tx, index, tx.record(iri)!, {
        revision: 'a',
        modified: 1,
        prefixes: {},
        keys: keysOf(iri, turtleOf(rules)),
      });
  grants.forEach(({ issuer, actions, assignee, type, values, constraints }, i) => {
    const access = [{ action: actions, assignee, target: { type, value: values }, constraint: constraints }];
    const document = { id: `${root}.lws/access-grants/${i}`, type: ['AccessGrant'], storage: root, access };
    tx.putEntry(keyOf('access-grants', String(i)), JSON.stringify({ document, creator: issuer, created: 1 }));
  });
}

export interface BuiltWorld {
  readonly storage: Storage;
  readonly house: House;
  readonly lists: PostingLists;
  dispose(): Promise<void>;
}

const silent = createLog('error');

/**
 * A storage in memory that is like a world.
 * @param folder for blobs; shared, since its subfolders take longer to make than all the rest
 */
export async function build(like: World, documents: Documents, folder: string): Promise<BuiltWorld> {
  const level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
  const memory = await memoryStore({ level, folder });
  const { store } = memory;
  await rebuild(store, () => {});
  store.onTransaction(indexChanges);
  const acls = like.wac ? await AclIndex.open(store) : undefined;
  const fetch = () => Promise.reject(new Error('nothing is fetched here'));
  const groups = createGroups({ storage: root, store, documents, fetch, keptMs: 1, failureKeptMs: 1, log: silent });
  const base = acls
    ? wacModel({ storage: root, view: store, index: acls, groups, mostFetches: 8 })
    : ownerModel({ owners: like.owners, publicRead: like.publicRead, open: false });
  const permissions: PermissionSource[] = [];
  const authorizer = createAuthorizer(base, root, () => permissions);
  const baseUri = root.slice(0, -1);
  const house = {
    store,
    authorizer,
    documents,
    storage: root,
    baseUri,
    systemPrefix: '/.lws',
    clock: Date.now,
  } as unknown as House;
  permissions.push(...((await accessGrants.install(house, { controllerInbox: null } as never)).permissions ?? []));
  const limits = { requestBytes: 1e6, binaryBytes: 0, linksetBytes: 1e6, quotaBytes: 0, pageSize: 1000 };
  const representations = new Representations(store, 1 << 20);
  const storage: Storage = {
    ...{ storage: root, systemPrefix: '/.lws', store, documents, representations, authorizer, acls },
    ...{ mask: like.mask, limits, requireConditionalWrites: true, clock: Date.now },
  };
  await store.transact((tx) => stage(storage, tx, like));
  return { storage, house, lists: new PostingLists(store, 1 << 20), dispose: () => store.close() };
}
