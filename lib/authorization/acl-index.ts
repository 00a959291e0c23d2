/**
 * Which resources have an ACL of their own, in memory, so that the nearest one is found without looking for one in every
 * ancestor. It may name one that is gone, never miss one. It must not know what an ACL says.
 */
import { entryRange, parentOf, partsOfEntry } from '../storage/records.js';
import type { Store } from '../storage/store.js';
import { aclKey, aclSpace } from './acl.js';

export class AclIndex {
  private readonly iris = new Set<string>();
  private order: readonly string[] | undefined;
  private byParent: Map<string, string[]> | undefined;

  /** Reads which there are, and follows what is committed. */
  static async open(store: Store): Promise<AclIndex> {
    const index = new AclIndex();
    for await (const entries of store.entries(entryRange(aclSpace)))
      for (const [key] of entries) index.add(partsOfEntry(key)[1]!);
    const prefix = aclKey('');
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries)
        if (value === null && key.startsWith(prefix)) index.remove(key.slice(prefix.length));
    });
    return index;
  }

  get size(): number {
    return this.iris.size;
  }

  mayHave(iri: string): boolean {
    return this.iris.has(iri);
  }

  /** In the order of their IRIs, a container before what lies in it. */
  get sorted(): readonly string[] {
    this.order ??= [...this.iris].sort();
    return this.order;
  }

  /** Members of a container that have an ACL. */
  members(container: string): readonly string[] {
    if (!this.byParent) {
      this.byParent = new Map();
      for (const iri of this.iris) {
        const parent = parentOf(iri);
        this.byParent.set(parent, [...(this.byParent.get(parent) ?? []), iri]);
      }
    }
    return this.byParent.get(container) ?? [];
  }

  /** Called when an ACL is staged, before anybody may rely on it. */
  add(iri: string): void {
    if (this.iris.has(iri)) return;
    this.iris.add(iri);
    this.forget();
  }

  private remove(iri: string): void {
    if (this.iris.delete(iri)) this.forget();
  }

  private forget(): void {
    this.order = undefined;
    this.byParent = undefined;
  }
}
