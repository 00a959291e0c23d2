/** Finds ACLs that their records do not name: deleted or old ACLs that LevelDB returns (decision 168). Finds lost ACLs. */
import { StagedNames } from '../storage/graphs/staged-keys.js';
import { entryRange, partsOfEntry } from '../storage/keys/records.js';
import { recordBlocks } from '../storage/level/all-records.js';
import { differenceOf, digestEntry, digestOfEntries } from '../storage/level/entry-digests.js';
import type { StorageFault } from '../storage/transactions/repair.js';
import type { Store } from '../storage/transactions/store.js';
import { type AclRule, aclKey, aclSpace, isAclOf, readAcl } from './acl.js';

/** Describes the permissions that rules grant, as text. */
function given(rules: readonly AclRule[]): string {
  const gives = rules.map(({ modes, agents, everybody, authenticated, groups }) => {
    const to = [...(everybody ? ['everyone'] : []), ...(authenticated ? ['all agents'] : []), ...agents, ...groups];
    return `${[...modes].join(', ')} to ${to.join(', ')}`;
  });
  return gives.join('; ') || 'nothing';
}

/** Yields the resources whose record names an ACL that does not exist. Reads all records. */
export async function* lostAcls(store: Store): AsyncGenerator<string> {
  for await (const records of recordBlocks(store))
    for (const { iri, acl } of records) if (acl !== undefined && store.entry(aclKey(iri)) === undefined) yield iri;
}

/** Yields faults of ACLs: entries without effect, and lost ACLs. */
export async function* aclFaults(store: Store): AsyncGenerator<StorageFault> {
  // The ACLs of a deleted subtree are removed later than its records, and are no faults.
  const staged = await StagedNames.of(store);
  let isRight = true;
  for await (const entries of store.entries(entryRange(aclSpace)))
    for (const [key, value] of entries) {
      const iri = partsOfEntry(key)[1]!;
      const [record, acl] = [store.record(iri), readAcl(iri, value)];
      if (isAclOf(acl, record) || staged.has(iri)) continue;
      isRight = false;
      if (record?.acl === undefined)
        yield {
          text: `A deleted access control list of ${iri} returned. It would give ${given(acl.rules)}.`,
          changes: [[key, null]],
        };
      else
        yield {
          text: `An earlier access control list of ${iri} returned. It would give ${given(acl.rules)}, and has no effect: ${remedy}`,
        };
    }
  if (!(await differenceOf(store.level, aclSpace))) return;
  for await (const iri of lostAcls(store)) {
    isRight = false;
    yield { text: `The access control list of ${iri} is lost: ${remedy}` };
  }
  if (!isRight) return;
  // All ACLs are correct, for example because an ACL was written again. Only the digest is wrong.
  const later = [digestEntry(aclSpace, await digestOfEntries(store.level, aclSpace))];
  yield { text: 'The digest of the access control lists is outdated, but each list is that of its resource.', later };
}

const remedy = 'only controllers of the root have access. Write the access control list again.';
