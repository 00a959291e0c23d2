/** Access control lists that are not those of the records: they were deleted or replaced, and returned (decision 168). */
import { StagedNames } from '../storage/graphs/staged-keys.js';
import { entryRange, partsOfEntry } from '../storage/keys/records.js';
import type { StorageFault } from '../storage/transactions/repair.js';
import type { Store } from '../storage/transactions/store.js';
import { type AclRule, aclSpace, isAclOf, readAcl } from './acl.js';

/** Returns what rules give, in words. */
function given(rules: readonly AclRule[]): string {
  const gives = rules.map(({ modes, agents, everybody, authenticated, groups }) => {
    const to = [...(everybody ? ['everyone'] : []), ...(authenticated ? ['all agents'] : []), ...agents, ...groups];
    return `${[...modes].join(', ')} to ${to.join(', ')}`;
  });
  return gives.join('; ') || 'nothing';
}

/** Yields the ACLs that have no effect. */
export async function* aclFaults(store: Store): AsyncGenerator<StorageFault> {
  // Those of a deleted subtree are removed after its records.
  const staged = await StagedNames.of(store);
  for await (const entries of store.entries(entryRange(aclSpace)))
    for (const [key, value] of entries) {
      const iri = partsOfEntry(key)[1]!;
      const [record, acl] = [store.record(iri), readAcl(iri, value)];
      if (isAclOf(acl, record) || staged.has(iri)) continue;
      if (record?.acl === undefined)
        yield {
          text: `A deleted access control list of ${iri} returned. It would give ${given(acl.rules)}.`,
          changes: [[key, null]],
        };
      else
        yield {
          text: `An earlier access control list of ${iri} returned. It would give ${given(acl.rules)}, and has no effect: only controllers of the root have access. Write the access control list again.`,
        };
    }
}
