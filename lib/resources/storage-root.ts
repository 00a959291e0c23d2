/** The root container: made at the first start, never deleted. */

import { aclKey } from '../authorization/acl.js';
import type { AclIndex } from '../authorization/acl-index.js';
import { turtle } from '../rdf/formats.js';
import { acl, foaf } from '../rdf/vocabulary.js';
import type { Store } from '../storage/engine/store.js';
import { newRevision, type ResourceRecord } from '../storage/state/records.js';
import { stageAcl } from './acl-resource.js';
import type { Storage } from './storage.js';

/** Makes the root container of a new storage. */
export async function ensureRoot(store: Store, storage: string, now: number): Promise<void> {
  if (store.record(storage)) return;
  await store.transact((tx) => {
    const root: ResourceRecord = {
      iri: storage,
      kind: 'container',
      mediaType: 'application/lws+json',
      revision: newRevision(),
      size: 0,
      members: 0,
      created: now,
      modified: now,
    };
    tx.putRecord(root);
    tx.changed({ after: root });
  });
}

/** Writes the root's ACL when there is none: the owners may do everything, with `lws.public-read` everybody may read. */
export async function ensureRootAcl(
  { rootIri: storage, store, documents, clock }: Storage,
  index: AclIndex,
  owners: readonly string[],
  publicRead: boolean,
): Promise<void> {
  if (store.entry(aclKey(storage)) !== undefined) return;
  const rule = (name: string, agents: string, modes: string): string =>
    `<#${name}> a acl:Authorization ; ${agents} ; acl:accessTo <> ; acl:default <> ; acl:mode ${modes} .`;
  const agents = owners.map((owner) => `<${owner}>`).join(', ');
  const rules = [
    owners.length > 0 ? rule('owners', `acl:agent ${agents}`, 'acl:Read, acl:Write, acl:Control') : '',
    publicRead ? rule('public', `acl:agentClass <${foaf.Agent}>`, 'acl:Read') : '',
  ];
  const text = `@prefix acl: <${acl.namespace}> . ${rules.join(' ')}`;
  const { keys, prefixes } = await documents.parse(Buffer.from(text), turtle, storage);
  await store.transact((tx) =>
    stageAcl(tx, index, tx.record(storage)!, { revision: newRevision(), modified: clock(), prefixes, keys }),
  );
}
