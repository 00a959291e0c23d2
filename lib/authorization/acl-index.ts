/**
 * Which resources have an ACL of their own, in memory, so that the nearest one is found without looking for one in every ancestor. It may
 * name one that is gone, never miss one.
 */

import { entryRange, partsOfEntry } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';
import { aclKey, aclSpace } from './acl.js';

export class AclIndex {
  private readonly iris = new Set<string>();
  /** How many times an ACL was staged that is not committed yet. */
  private readonly staged = new Map<string, number>();
  private order: readonly string[] | undefined;
  private changes = 0;

  /** Reads which there are, and follows what is committed. */
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

  /** Another number after each commit that may change what an ACL says. */
  get version(): number {
    return this.changes;
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

  /** Those below a container, in order, at most so many and one more. */
  below(container: string, most: number): readonly string[] {
    const { sorted } = this;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! <= container) low = middle + 1;
      else high = middle;
    }
    const found: string[] = [];
    for (; low < sorted.length && found.length <= most && sorted[low]!.startsWith(container); low++)
      found.push(sorted[low]!);
    return found;
  }

  /** Called when an ACL is staged, before anybody may rely on it. */
  stage(iri: string): void {
    this.staged.set(iri, (this.staged.get(iri) ?? 0) + 1);
    this.add(iri);
  }

  /** One that was written again while its deletion was on the way to the disk stays. */
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
