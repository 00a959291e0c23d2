/** Counts members of large containers per range of IRIs, so that a page of a listing is read without the pages before it. */
import { createHash, hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type IriRange, isInRanges } from '../storage/keys/iri-ranges.js';
import { iriOfRecordKey, memberRange, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { addCount, getOrMake, partitionPoint } from '../tools/collections.js';

/** Range of members, from `from` to the start of the next segment, with its count and hash. */
export interface CountSegment {
  readonly from: string;
  readonly count: number;
  /** Sum of the members' hashes modulo 2^256. Does not depend on their order. */
  readonly sum: bigint;
}

/** Returns the hash of a member. The sum of the hashes identifies the set of members. */
const hashOf = (iri: string): bigint => BigInt(`0x${hash('sha256', iri)}`);

/** Returns the segment with a member added (1) or removed (-1). */
export const withMember = ({ from, count, sum }: CountSegment, iri: string, by: 1 | -1): CountSegment => ({
  from,
  count: count + by,
  sum: BigInt.asUintN(256, sum + BigInt(by) * hashOf(iri)),
});

/** Returns the opaque state of a container as the caller sees it. The state depends on the visible members only. */
export function stateOfSegments(segments: readonly CountSegment[]): string {
  const [sum, count] = segments.reduce(([a, b], each) => [a + each.sum, b + each.count], [0n, 0]);
  const text = `${count} ${BigInt.asUintN(256, sum).toString(36)}`;
  // Truncate to the length of a revision, so that the length of a tag does not reveal that members are hidden.
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

export const noMembers: CountSegment = { from: '', count: 0, sum: 0n };

/** Returns the opaque state for a caller who sees these members, in any order. */
export const viewState = (iris: readonly string[]): string =>
  stateOfSegments([iris.reduce((segment, iri) => withMember(segment, iri, 1), noMembers)]);

/** Returns the index of the segment that contains an IRI. */
export const segmentAt = (segments: readonly CountSegment[], iri: string): number =>
  partitionPoint(1, segments.length, (at) => segments[at]!.from <= iri) - 1;

interface CountOptions {
  /** Number of members of a segment. */
  readonly size: number;
  /** Owner whose members are counted. Absent: all members are counted. */
  readonly owner?: string | undefined;
}

/** Member counts of a container, in segments: of all members, or of the members that one identity owns. */
export class MemberCounts {
  private counted: readonly CountSegment[] = [noMembers];
  /** Segments with changes since they were counted. */
  private stale = new Set<CountSegment>(this.counted);
  private running: Promise<void> | undefined;
  private changes = 0;
  private isFollowing = true;

  /** @param onCounted called after every count */
  constructor(
    private readonly store: Store,
    readonly container: string,
    private readonly options: CountOptions & { readonly onCounted: (counts: MemberCounts) => void },
  ) {}

  get segments(): readonly CountSegment[] {
    return this.counted;
  }

  get owner(): string | undefined {
    return this.options.owner;
  }

  /** Version of the membership: incremented when the creation or deletion of a member is staged, committed or dropped. */
  get version(): number {
    return this.changes;
  }

  /** False if the cache has evicted the counts, so that commits no longer update them. */
  get isFollowed(): boolean {
    return this.isFollowing;
  }

  get isCurrent(): boolean {
    return this.isFollowing && this.stale.size === 0 && !this.running;
  }

  /** Called when the creation or deletion of a member is staged, committed or dropped. */
  changed(iri: string, isStaged: boolean): void {
    this.changes++;
    if (!isStaged) this.stale.add(this.counted[segmentAt(this.counted, iri)]!);
  }

  unfollow(): void {
    this.isFollowing = false;
  }

  /** Recounts the segments that changed before the call. Concurrent calls share one recount. */
  async refresh(): Promise<void> {
    await this.running;
    if (this.stale.size > 0 && this.isFollowing)
      this.running ??= this.recount().finally(() => {
        this.running = undefined;
        this.options.onCounted(this);
      });
    // Another caller may have started a recount meanwhile.
    await this.running;
  }

  private async recount(): Promise<void> {
    for (const segment of [...this.stale]) {
      // A member that changes during the count makes the segment stale again, because the count may lack it.
      this.stale.delete(segment);
      try {
        const parts = await this.count(segment.from, this.counted[this.counted.indexOf(segment) + 1]?.from);
        const isStale = this.stale.delete(segment);
        const kept = isStale ? parts : parts.filter(({ count, from }) => count > 0 || from === '');
        this.counted = this.counted.flatMap((each) => (each === segment ? kept : [each]));
        if (isStale) for (const part of parts) this.stale.add(part);
      } catch (error) {
        this.stale.add(segment);
        throw error;
      }
    }
  }

  private async count(from: string, to: string | undefined): Promise<CountSegment[]> {
    const parts: CountSegment[] = [{ ...noMembers, from }];
    for await (const iris of this.members(from))
      for (const iri of iris) {
        if (to !== undefined && iri >= to) return this.merged(parts);
        if (parts.at(-1)!.count === this.options.size) parts.push({ ...noMembers, from: iri });
        parts.push(withMember(parts.pop()!, iri, 1));
      }
    return this.merged(parts);
  }

  /** Merges a short last part into the previous part, because repeated splits would otherwise leave many short segments. */
  private merged(parts: CountSegment[]): CountSegment[] {
    const [last, before] = [parts.at(-1)!, parts.at(-2)];
    if (!before || last.count * 2 > this.options.size) return parts;
    const both = { from: before.from, count: before.count + last.count, sum: before.sum + last.sum };
    return [...parts.slice(0, -2), both];
  }

  private async *members(from: string): AsyncGenerator<readonly string[]> {
    const {
      store,
      container,
      options: { owner },
    } = this;
    if (owner === undefined)
      for await (const keys of store.keys(memberRange(container, from || undefined))) yield keys.map(iriOfRecordKey);
    else
      for await (const records of store.members(container, from || undefined))
        yield records.filter((record) => record.owner === owner).map(({ iri }) => iri);
  }
}

/** Maximum segments that the cache holds for a storage. */
const maxSegments = 20_000;

/** Cached member counts of a storage, and the members whose creation or deletion is pending. */
class FollowedCounts {
  /** Counts of which the first computation has not ended. They are not in the cache yet, because their size is unknown. */
  private readonly counting = new Map<string, MemberCounts>();
  private readonly cached = new LRUCache<string, MemberCounts>({
    maxSize: maxSegments,
    sizeCalculation: ({ segments }) => segments.length,
    dispose: (counts) => this.unfollow(counts),
  });
  private readonly ofContainers = new Map<string, Set<MemberCounts>>();
  /** Count of pending transactions that create or delete a member, by IRI. */
  private readonly underWay = new Map<string, number>();

  constructor(private readonly store: Store) {
    store.onStage((transaction) => this.note(transaction, 1));
    store.onCommit((transaction) => this.note(transaction, -1));
    store.onDrop((transaction) => this.note(transaction, -1));
  }

  isUnderWay(ranges: readonly IriRange[]): boolean {
    return [...this.underWay.keys()].some((iri) => isInRanges(ranges, iri));
  }

  obtain({ iri, members = 0 }: ResourceRecord, { size, owner }: CountOptions): MemberCounts | undefined {
    if (owner === undefined && members > size * maxSegments) return undefined;
    const key = owner === undefined ? iri : `${iri}\u0000${owner}`;
    const known = this.cached.get(key) ?? this.counting.get(key);
    if (known) return known;
    const made = new MemberCounts(this.store, iri, { size, owner, onCounted: (counts) => this.counted(key, counts) });
    this.counting.set(key, made);
    this.ofContainers.set(iri, (this.ofContainers.get(iri) ?? new Set()).add(made));
    // Ignore the rejection here: the callers of `refresh` get it.
    made.refresh().catch(() => {});
    return made;
  }

  private counted(key: string, counts: MemberCounts): void {
    this.counting.delete(key);
    if (counts.isFollowed) this.cached.set(key, counts);
    // The cache rejects counts with more segments than it can hold.
    if (this.cached.peek(key) !== counts) this.unfollow(counts);
  }

  private unfollow(counts: MemberCounts): void {
    counts.unfollow();
    const others = this.ofContainers.get(counts.container);
    others?.delete(counts);
    if (others?.size === 0) this.ofContainers.delete(counts.container);
  }

  private note({ changes }: Transaction, by: 1 | -1): void {
    for (const { before, after } of changes) {
      if (before && after) continue;
      const { iri } = (before ?? after)!;
      addCount(this.underWay, iri, by);
      if (this.ofContainers.size === 0) continue;
      for (const counts of this.ofContainers.get(parentOf(iri)) ?? []) counts.changed(iri, by > 0);
    }
  }
}

const known = new WeakMap<Store, FollowedCounts>();

/** Returns the cached counts of a storage. Called when a storage is opened, so that no pending transaction is missed. */
export const followMembers = (store: Store): FollowedCounts => getOrMake(known, store, () => new FollowedCounts(store));

/** Returns counts that commits update until the cache evicts them; `undefined` if a container has too many segments. */
export const memberCounts = (
  store: Store,
  container: ResourceRecord,
  options: CountOptions,
): MemberCounts | undefined => followMembers(store).obtain(container, options);

/** Returns true if a pending transaction creates or deletes a resource in the ranges, which a read may or may not see. */
export const isUnderWay = (store: Store, ranges: readonly IriRange[]): boolean =>
  followMembers(store).isUnderWay(ranges);
