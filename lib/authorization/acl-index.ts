/**
 * In-memory index of resources with their own ACL, so that the nearest one is found without reading every ancestor. It may
 * contain deleted ACLs but never misses one.
 */

import { entryRange, partsOfEntry } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';
import { aclKey, aclSpace } from './acl.js';

export class AclIndex {
  private readonly iris = new Set<string>();
  /** Number of staged and uncommitted writes of each ACL. */
  private readonly staged = new Map<string, number>();
  private order: readonly string[] | undefined;
  private changes = 0;

  /** Loads the existing ACLs and follows commits. */
  static async open(store: Store): Promise<AclIndex> {
    const index = new AclIndex();
    for await (const entries of store.entries(entryRange(aclSpace)))
      for (const [key] of entries) index.add(partsOfEntry(key)[1]!);
    const prefix = aclKey('');
    store.onForeign(({ entries }) => {
      for (const [key, value] of entries)
        if (key.startsWith(prefix) && value !== null) index.stage(key.slice(prefix.length));
    });
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries)
        if (key.startsWith(prefix)) index.committed(key.slice(prefix.length), value !== null);
    });
    return index;
  }

  /** Changes after each commit that may change an ACL. */
  get version(): number {
    return this.changes;
  }

  get size(): number {
    return this.iris.size;
  }

  mayHave(iri: string): boolean {
    return this.iris.has(iri);
  }

  /** In IRI order, each container before its contents. */
  get sorted(): readonly string[] {
    this.order ??= [...this.iris].sort();
    return this.order;
  }

  /** Returns the ACLs below a container in order, up to `most` plus one. */
  below(container: string, most: number): readonly string[] {
    const { sorted } = this;
    const found: string[] = [];
    for (let at = this.after(container); found.length <= most && sorted[at]?.startsWith(container); at++)
      found.push(sorted[at]!);
    return found;
  }

  /** Returns the members of a container that have an ACL. `undefined` if that takes more steps than `most`. */
  members(container: string, most: number): readonly string[] | undefined {
    const { sorted } = this;
    const found: string[] = [];
    let at = this.after(container);
    for (let steps = 0; sorted[at]?.startsWith(container); steps++) {
      if (steps >= most) return undefined;
      const iri = sorted[at]!;
      const slash = iri.indexOf('/', container.length);
      if (slash < 0 || slash === iri.length - 1) found.push(iri);
      // ACLs further below apply to other resources.
      at = slash < 0 ? at + 1 : this.after(`${iri.slice(0, slash + 1)}\uffff`, at);
    }
    return found;
  }

  /** Returns the index of the first IRI after another. */
  private after(iri: string, from = 0): number {
    const { sorted } = this;
    let [low, high] = [from, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! <= iri) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Called when an ACL is staged, before any decision can depend on it. */
  stage(iri: string): void {
    this.staged.set(iri, (this.staged.get(iri) ?? 0) + 1);
    this.add(iri);
  }

  /** An ACL that was rewritten while its deletion was being committed stays. */
  private committed(iri: string, exists: boolean): void {
    this.changes++;
    const staged = (this.staged.get(iri) ?? 0) - (exists ? 1 : 0);
    if (staged > 0) this.staged.set(iri, staged);
    else this.staged.delete(iri);
    if (!exists && staged <= 0) this.remove(iri);
  }

  private add(iri: string): void {
    if (this.iris.has(iri)) return;
    this.iris.add(iri);
    this.forget();
  }

  private remove(iri: string): void {
    if (this.iris.delete(iri)) this.forget();
  }

  private forget(): void {
    this.order = undefined;
  }
}
