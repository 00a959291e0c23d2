/** Counts the members of large containers by ranges of IRIs, so that a page of a listing is found without reading the pages before it. */
import { createHash, hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { lruCache } from '../caches.js';
import { iriOfRecordKey, memberRange, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';

/** A range of members: from an IRI to the start of the next segment. */
export interface Segment {
  readonly from: string;
  readonly count: number;
  /** Sum of the members' hashes modulo 2^256. Does not depend on their order. */
  readonly sum: bigint;
}

/** Hash of a member: the members of a container are identified by the sum of their hashes. */
const hashOf = (iri: string): bigint => BigInt(`0x${hash('sha256', iri)}`);

/** Returns the segment with a member more (1) or less (-1). */
export const withMember = ({ from, count, sum }: Segment, iri: string, by: 1 | -1): Segment => ({
  from,
  count: count + by,
  sum: BigInt.asUintN(256, sum + BigInt(by) * hashOf(iri)),
});

/** Returns the state of a view of a container: it depends on the visible members only. */
export function stateOfSegments(segments: readonly Segment[]): string {
  const [sum, count] = segments.reduce(([a, b], each) => [a + each.sum, b + each.count], [0n, 0]);
  const text = `${count} ${BigInt.asUintN(256, sum).toString(36)}`;
  // Has the length of a revision, so that the form of a tag does not reveal hidden members.
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

export const noMembers: Segment = { from: '', count: 0, sum: 0n };

/** Returns the state of a view with these members, in any order. */
export const viewState = (iris: readonly string[]): string =>
  stateOfSegments([iris.reduce((segment, iri) => withMember(segment, iri, 1), noMembers)]);

/** Returns the index of the segment that an IRI lies in. */
export function segmentOf(segments: readonly Segment[], iri: string): number {
  let [low, high] = [0, segments.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (segments[middle]!.from <= iri) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface CountOptions {
  /** Number of members of a segment. */
  readonly size: number;
  /** Counts the members of this owner only. */
  readonly owner?: string | undefined;
}

/** Counts of the members of a container, or of those that one identity owns. */
export class MemberCounts {
  private counted: readonly Segment[] = [noMembers];
  /** Segments that changed since they were counted. */
  private stale = new Set<Segment>(this.counted);
  private running: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    readonly container: string,
    private readonly options: CountOptions,
  ) {}

  get segments(): readonly Segment[] {
    return this.counted;
  }

  get isCurrent(): boolean {
    return this.stale.size === 0 && !this.running;
  }

  /** Called when a member was created or deleted. */
  changed(iri: string): void {
    this.stale.add(this.counted[segmentOf(this.counted, iri)]!);
  }

  /** Counts what changed before the call. */
  async refresh(): Promise<void> {
    await this.running;
    if (this.stale.size === 0) return;
    this.running ??= this.recount().finally(() => {
      this.running = undefined;
    });
    await this.running;
  }

  private async recount(): Promise<void> {
    for (const segment of [...this.stale]) {
      // Changes while it is being counted make it stale again, because the count may lack them.
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

  private async count(from: string, to: string | undefined): Promise<Segment[]> {
    const parts: Segment[] = [{ ...noMembers, from }];
    for await (const iris of this.members(from))
      for (const iri of iris) {
        if (to !== undefined && iri >= to) return this.merged(parts);
        if (parts.at(-1)!.count === this.options.size) parts.push({ ...noMembers, from: iri });
        parts.push(withMember(parts.pop()!, iri, 1));
      }
    return this.merged(parts);
  }

  /** Appends a short last part to the one before, so that segments do not become short by splits. */
  private merged(parts: Segment[]): Segment[] {
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

/** Maximum number of segments of a storage. */
const maxSegments = 20_000;
const known = new WeakMap<Store, LRUCache<string, MemberCounts>>();

/** Returns the counts of a container, which follow every commit. */
export function memberCounts(
  store: Store,
  { iri, members = 0 }: ResourceRecord,
  { size, owner }: CountOptions,
): MemberCounts {
  const containers = known.get(store) ?? followed(store);
  const key = owner === undefined ? iri : `${iri}\u0000${owner}`;
  const found = containers.get(key) ?? new MemberCounts(store, iri, { size, owner });
  containers.set(key, found, { size: 1 + Math.ceil(members / size) });
  return found;
}

function followed(store: Store): LRUCache<string, MemberCounts> {
  const containers = lruCache<MemberCounts>(maxSegments);
  known.set(store, containers);
  store.onCommit(({ changes }) => {
    if (containers.size === 0) return;
    const changed = new Map<string, string[]>();
    for (const { before, after } of changes) {
      if (before && after) continue;
      const { iri } = (before ?? after)!;
      const members = changed.get(parentOf(iri));
      if (members) members.push(iri);
      else changed.set(parentOf(iri), [iri]);
    }
    for (const counts of containers.values())
      for (const iri of changed.get(counts.container) ?? []) counts.changed(iri);
  });
  return containers;
}
