/** The root container: created at the first start, never deleted. */

import { aclDocumentOf, aclOfGraph } from '../authorization/acl.js';
import type { AclIndex } from '../authorization/acl-index.js';
import { turtle } from '../rdf/formats.js';
import { acl, foaf } from '../rdf/vocabulary.js';
import { mergedKeys } from '../storage/keys/graph-keys.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { entryKey, newRevision, type ResourceRecord } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';
import { stageAcl } from './acl-resource.js';
import { dateAfter } from './preconditions.js';
import type { Storage } from './storage.js';

/** Creates the root container of a new storage. */
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

/** Key of the entry with the id of the last operator change of owners that was applied to the root's ACL. */
const ownersKey = entryKey('root-acl', 'owners');

export interface RootOwners {
  readonly owners: readonly string[];
  readonly publicRead: boolean;
  /** Id of the last change of owners by an operator. */
  readonly change: string | undefined;
}

/**
 * Writes the root's ACL if it does not exist: owners have all modes, and with `lws.public-read` the public has read access. After
 * a change of owners by an operator, replaces the authorizations that grant control, in one transaction.
 */
export async function ensureRootAcl(
  { rootIri: storage, store, documents, clock }: Storage,
  index: AclIndex,
  { owners, publicRead, change }: RootOwners,
): Promise<void> {
  const before = aclDocumentOf(store, store.record(storage)!);
  if (before !== undefined && (change === undefined || store.entry(ownersKey) === change)) return;
  const rule = (name: string, agents: string, modes: string): string =>
    `<#${name}> a acl:Authorization ; ${agents} ; acl:accessTo <> ; acl:default <> ; acl:mode ${modes} .`;
  const agents = owners.map((owner) => `<${owner}>`).join(', ');
  const rules = [
    owners.length > 0
      ? rule(before ? `owners-${change}` : 'owners', `acl:agent ${agents}`, 'acl:Read, acl:Write, acl:Control')
      : '',
    publicRead && !before ? rule('public', `acl:agentClass <${foaf.Agent}>`, 'acl:Read') : '',
  ];
  const text = `@prefix acl: <${acl.namespace}> . ${rules.join(' ')}`;
  const made = await documents.parse(Buffer.from(text), turtle, storage);
  const keys = before ? mergedKeys(withoutControl(storage, before.keys), made.keys) : made.keys;
  const prefixes = { ...before?.prefixes, ...made.prefixes };
  const document = { revision: newRevision(), prefixes, keys, ...dateAfter(before, clock()) };
  await store.transact((tx) => {
    stageAcl(tx, index, tx.record(storage)!, document);
    if (change !== undefined) tx.putEntry(ownersKey, change);
  });
}

/** Returns an ACL without the authorizations that grant control. */
function withoutControl(of: string, keys: readonly string[]): readonly string[] {
  const { rules } = aclOfGraph(of, keys);
  const gone = new Set(rules.filter(({ modes }) => modes.has('control')).map(({ id }) => id));
  const quads = decodeGraph(keys);
  return keys.filter((_, at) => !gone.has(quads[at]!.subject.value));
}
