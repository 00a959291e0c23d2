/**
 * In-memory index of the links to shapes. A resource is constrained by its own `ldp:constrainedBy` links, or else by those of
 * the nearest container that has any (rule 23.1).
 */
import { ancestorsOf } from '../../lib/authorization/authorizer.js';
import { type ClientLinks, relationTargets } from '../../lib/resources/linkset.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { FollowedEntries } from '../../lib/storage/transactions/followed-entries.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { constrainedBy } from './vocabulary.js';

/** IRIs of shapes documents. */
export type Constraint = readonly string[];

/** Links that apply to a resource. */
export interface InForce {
  readonly shapes: Constraint;
  /** IRI of the resource or container that has the links. */
  readonly of: string;
}

const space = 'links';

/** Returns the shapes documents in the client-managed links of a resource, or `undefined` if there are none. */
function readConstraint(value: string, iri: string): Constraint | undefined {
  // Fast path: most linksets have no such link.
  if (!value.includes('constrainedBy')) return undefined;
  const links = JSON.parse(value) as ClientLinks;
  const shapes = relationTargets(links, iri).flatMap(([relation, target]) =>
    relation === constrainedBy ? target : [],
  );
  return shapes.length > 0 ? [...new Set(shapes)] : undefined;
}

export class ShapesLinks {
  private constructor(
    private readonly entries: FollowedEntries<Constraint>,
    private readonly root: string,
  ) {}

  static async open(store: Store, root: string): Promise<ShapesLinks> {
    const options = { space, read: readConstraint, followsStaged: true } as const;
    return new ShapesLinks(await FollowedEntries.open<Constraint>(store, options), root);
  }

  /** Returns the links that apply to a resource, including pending transactions. @param tx also includes its changes */
  inForce(iri: string, tx?: Transaction): InForce | undefined {
    return this.own(iri, tx) ?? this.above(iri, tx);
  }

  /** Returns the links that apply to a resource from a container. */
  above(iri: string, tx?: Transaction): InForce | undefined {
    if (this.entries.isEmpty && !tx?.entries.size) return undefined;
    for (const container of ancestorsOf(iri, this.root)) {
      const found = this.own(container, tx);
      if (found) return found;
    }
    return undefined;
  }

  /** Returns a resource's own links before and after a transaction that changes them; otherwise `undefined`. */
  changed(iri: string, tx: Transaction): { readonly after: Constraint; readonly before: Constraint } | undefined {
    if (!tx.entries.has(entryKey(space, iri))) return undefined;
    const [after, before] = [this.own(iri, tx)?.shapes ?? [], this.own(iri)?.shapes ?? []];
    return after.join(' ') === before.join(' ') ? undefined : { after, before };
  }

  private own(iri: string, tx?: Transaction): InForce | undefined {
    const staged = tx?.entries.size ? tx.entries.get(entryKey(space, iri)) : undefined;
    const shapes =
      staged === undefined ? this.entries.latest(iri) : staged === null ? undefined : readConstraint(staged, iri);
    return shapes && { shapes, of: iri };
  }
}
