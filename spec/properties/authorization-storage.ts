/** Storages in memory that correspond to worlds of the model, with the search index and the grants of a server. */

import { MemoryLevel } from 'memory-level';
import { Parser } from 'n3';
import accessGrants from '../../components/access-grants/index.js';
import { keyOf } from '../../components/access-grants/kept-index.js';
import { PostingLists } from '../../components/search/postings/posting-lists.js';
import { indexChanges, typeIndex } from '../../components/search/type-index/indexer.js';
import { postings } from '../../components/search/type-index/postings.js';
import { Tallies } from '../../lib/authentication/tally.js';
import { AclIndex } from '../../lib/authorization/acl-index.js';
import { createAuthorizer, type PermissionSource } from '../../lib/authorization/authorizer.js';
import { createGroups } from '../../lib/authorization/groups.js';
import { ownerModel } from '../../lib/authorization/owner-mode.js';
import { WacModel } from '../../lib/authorization/wac.js';
import type { Platform } from '../../lib/component/contract.js';
import type { Documents } from '../../lib/documents/documents.js';
import { stageAcl } from '../../lib/resources/acl-resource.js';
import { stageLinks } from '../../lib/resources/metadata.js';
import { Representations } from '../../lib/resources/representations.js';
import type { Storage } from '../../lib/resources/storage.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import type { Level } from '../../lib/storage/level/durable-level.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { createLog } from '../../lib/tools/log.js';
import { memoryStore } from '../support/memory-store.js';
import { everybody, formatOf, parentOf, type Resource, type Rule, root, type World } from './authorization-model.js';

const named = (iris: readonly string[]): string => iris.map((iri) => `<${iri}>`).join(', ');

/** Serializes the rules of an ACL as Turtle. */
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

/** Members on a page of a listing: few, so that most containers have several pages. */
const pageSize = 2;

export interface BuiltWorld {
  readonly storage: Storage;
  readonly platform: Platform;
  readonly lists: PostingLists;
  dispose(): Promise<void>;
}

const silent = createLog('error');

/**
 * Builds a storage in memory that corresponds to a world.
 * @param folder directory for blobs, shared because creating its subdirectories is slow
 */
export async function build(like: World, documents: Documents, folder: string): Promise<BuiltWorld> {
  const level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
  const memory = await memoryStore({ level, folder });
  const { store } = memory;
  await typeIndex.rebuild(store, () => {});
  store.onTransaction(indexChanges);
  const acls = like.wac ? await AclIndex.open(store) : undefined;
  const fetch = () => Promise.reject(new Error('fetches are disabled here'));
  const groups = createGroups({ storage: root, store, documents, fetch, keptMs: 1, failureKeptMs: 1, log: silent });
  const base = acls
    ? new WacModel({ storage: root, view: store, index: acls, groups, maxFetches: 8 })
    : ownerModel({ owners: like.owners, publicRead: like.publicRead, open: false });
  const permissions: PermissionSource[] = [];
  const authorizer = createAuthorizer(base, root, () => permissions);
  const baseUri = root.slice(0, -1);
  const platform = {
    store,
    authorizer,
    documents,
    rootIri: root,
    baseUri,
    systemPrefix: '/.lws',
    clock: Date.now,
    tally: (kind: string) => new Tallies().of(kind, root),
  } as unknown as Platform;
  permissions.push(...((await accessGrants.install(platform, { controllerInbox: null } as never)).permissions ?? []));
  const limits = { requestBytes: 1e6, binaryBytes: 0, linksetBytes: 1e6, quotaBytes: 0, pageSize };
  const representations = new Representations(store, 1 << 20);
  const storage: Storage = {
    ...{ rootIri: root, systemPrefix: '/.lws', store, documents, representations, authorizer, acls },
    ...{ mask: like.mask, limits, requireConditionalWrites: true, clock: Date.now },
  };
  await store.transact((tx) => stage(storage, tx, like));
  return { storage, platform, lists: new PostingLists(store, postings, 1 << 20), dispose: () => store.close() };
}
