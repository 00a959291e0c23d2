/** Finds the members of a container that a caller can see: the members of a page, the total count and the state. */
import { setTimeout } from 'node:timers/promises';
import type { ReadScope, View } from '../authorization/authorizer.js';
import { inTurn } from '../authorization/decision-turns.js';
import type { Access } from '../authorization/principal.js';
import { below, clipped, type IriRange, isInRanges, only, subtree, withoutRanges } from '../storage/keys/iri-ranges.js';
import { iriOfRecordKey, memberRange, type ResourceRecord } from '../storage/keys/records.js';
import { yieldInLine } from '../tools/event-loop.js';
import {
  type CountSegment,
  isUnderWay,
  type MemberCounts,
  memberCounts,
  noMembers,
  segmentAt,
  stateOfSegments,
  viewState,
  withMember,
} from './member-counts.js';
import type { Storage } from './storage.js';

/** State of the storage, with a function to list members. */
export type MemberView = View & { members(container: string): AsyncIterable<readonly ResourceRecord[]> };

/** Position of the first member, and maximum count of members. */
export interface Paging {
  readonly from: number;
  readonly count: number;
}

interface VisibleMembers {
  /** Members of the page in IRI order; in no particular order inside a transaction. */
  readonly members: readonly ResourceRecord[];
  /** Count of visible members. */
  readonly total: number;
  /** Opaque state, which depends on the visible members only. */
  readonly state: string;
}

/** Request for members by a caller. */
export interface MemberRequest {
  readonly storage: Storage;
  readonly access: Access;
  readonly container: ResourceRecord;
}

/** Returns the members that the caller can read. */
export async function visibleMembers(
  request: MemberRequest,
  view: MemberView,
  wanted: Paging,
): Promise<VisibleMembers> {
  const decide = () => decidedMembers(request, view, wanted);
  if (view !== request.storage.store || !isCounted(request)) return decide();
  const { storage, access } = request;
  const counted = () => countedMembers(request, wanted);
  if (wanted.count > storage.limits.pageSize) return inTurn(storage, access, async () => (await counted()) ?? decide());
  return (await counted()) ?? inTurn(storage, access, decide);
}

/** Count of members up to which building a listing takes less time than a pause. */
export const fewMembers = 50;

/** Returns true if the members of a container are counted in segments. Smaller containers are read completely. */
const isCounted = ({ storage: { limits }, container: { members = 0 } }: MemberRequest): boolean =>
  members > limits.pageSize;

/** Returns the members of a page for a caller who may read all members. */
export async function allMembers(request: MemberRequest, { from, count }: Paging): Promise<readonly ResourceRecord[]> {
  const { storage, container } = request;
  if (from >= (container.members ?? 0)) return [];
  if (from === 0 || !isCounted(request)) return slice(request, { from, count }, [noMembers]);
  const counts = memberCounts(storage.store, container, { size: storage.limits.pageSize });
  await counts?.refresh();
  // If a commit is on disk but not yet counted, read from the start: the listing will be cached for this state.
  const isOfState = counts?.isCurrent && totalOf(counts.segments) === storage.store.record(container.iri)?.members;
  return slice(request, { from, count }, isOfState ? counts.segments : [noMembers]);
}

const totalOf = (segments: readonly CountSegment[]): number => segments.reduce((sum, { count }) => sum + count, 0);

/** Evaluates the permission of every member. */
async function decidedMembers(
  { storage, access, container }: MemberRequest,
  view: MemberView,
  { from, count }: Paging,
): Promise<VisibleMembers> {
  const members: ResourceRecord[] = [];
  const visible: string[] = [];
  const yields = !view.isTransaction && (container.members ?? 0) > fewMembers;
  for await (const records of view.members(container.iri)) {
    if (yields) await yieldInLine();
    for (const record of records) {
      const answer = storage.authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
      if (!(typeof answer === 'boolean' ? answer : await answer)) continue;
      if (visible.length >= from && members.length < count) members.push(record);
      visible.push(record.iri);
    }
  }
  return { members, total: visible.length, state: viewState(visible) };
}

/** Evaluates permissions only of members on the page, and of exceptions. Returns `undefined` if all members need it. */
async function countedMembers(request: MemberRequest, wanted: Paging): Promise<VisibleMembers | undefined> {
  const { storage, access, container } = request;
  const { authorizer, store, limits } = storage;
  let counts: MemberCounts | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    // Count first, then evaluate the permissions, so that earlier revocations apply to all counted members.
    await counts?.refresh();
    const scope = await authorizer.readScope(access, container.iri);
    if (scope === 'decide') return undefined;
    const counted = countedScope(scope, container.iri);
    const { readable, differing } = counted;
    if (readable === false) return exceptionalMembers(request, counted, wanted);
    const owner = typeof readable === 'object' ? readable.owner : undefined;
    if (!counts || counts.owner !== owner) counts = memberCounts(store, container, { size: limits.pageSize, owner });
    if (!counts?.isFollowed) return undefined;
    if (!counts.isCurrent) continue;
    const { version } = counts;
    const exceptions = await exceptionsOf(request, counted);
    // Otherwise the counts may include a member that the exceptions lack, or the reverse, and the total would reveal it.
    if (counts.isCurrent && counts.version === version && !isUnderWay(store, differing)) {
      const segments = adjusted(counts.segments, exceptions);
      const members = await slice(request, wanted, segments, counted.shows);
      return { members, total: totalOf(segments), state: stateOfSegments(segments) };
    }
    if (isUnderWay(store, differing)) await setTimeout(pauseMs);
  }
  return undefined;
}

/** Scope of the caller's read access to the members of a container. */
interface CountedScope {
  /** Default: true if all members are readable, or the owner whose members are readable. */
  readonly readable: boolean | { readonly owner: string };
  /** Ranges of members for which the default may not hold. */
  readonly differing: readonly IriRange[];
  readonly shows: (record: ResourceRecord) => boolean;
}

function countedScope(scope: Exclude<ReadScope, 'decide'>, container: string): CountedScope {
  if (typeof scope === 'string') {
    const readable = scope === 'everything';
    return { readable, differing: [], shows: () => readable };
  }
  const { owner, ranges } = scope;
  const span = below(container);
  const readable = clipped(ranges, span);
  const shows = ({ iri, owner: creator }: ResourceRecord): boolean =>
    (owner !== undefined && creator === owner) || isInRanges(readable, iri);
  if (readable[0]?.from === span.from) return { readable: true, differing: withoutRanges([span], readable), shows };
  return { readable: owner === undefined ? false : { owner }, differing: readable, shows };
}

/** Maximum recounts while members are changing. */
const maxAttempts = 5;
/** Pause in milliseconds: about the duration of a commit. */
const pauseMs = 5;

/** Returns the members for a caller who can read only exceptions to the default. */
async function exceptionalMembers(
  request: MemberRequest,
  scope: CountedScope,
  { from, count }: Paging,
): Promise<VisibleMembers> {
  const exceptions = await exceptionsOf(request, scope);
  const segments = adjusted([noMembers], exceptions);
  const shown = [...exceptions.keys()].sort().slice(from, from + count);
  const members = shown.flatMap((iri) => request.storage.store.record(iri) ?? []);
  return { members, total: totalOf(segments), state: stateOfSegments(segments) };
}

/** Returns the members for which the default does not hold: a map from IRI to true if the member is readable. */
async function exceptionsOf(
  { storage: { store }, container }: MemberRequest,
  { readable, differing, shows }: CountedScope,
): Promise<Map<string, boolean>> {
  const found = new Map<string, boolean>();
  const note = (iri: string): void => {
    const record = store.record(iri);
    if (!record) return;
    const isDefault = typeof readable === 'object' ? record.owner === readable.owner : readable;
    if (shows(record) !== isDefault) found.set(iri, !isDefault);
  };
  for (const range of differing) {
    const slash = range.from.indexOf('/', container.iri.length) + 1;
    const child = slash > 0 ? range.from.slice(0, slash) : range.from;
    // Most ranges contain only a part of one member's subtree, or the member itself.
    if (range.to <= (slash > 0 ? subtree(child) : only(child)).to) {
      if (child === range.from) note(child);
      continue;
    }
    const from = child === range.from ? child : subtree(child).to;
    for await (const keys of store.keys(memberRange(container.iri, from))) {
      const iris = keys.map(iriOfRecordKey).filter((iri) => iri < range.to);
      for (const iri of iris) note(iri);
      if (iris.length < keys.length) break;
    }
  }
  return found;
}

function adjusted(
  segments: readonly CountSegment[],
  exceptions: ReadonlyMap<string, boolean>,
): readonly CountSegment[] {
  const found = [...segments];
  for (const [iri, isAllowed] of exceptions) {
    const at = segmentAt(segments, iri);
    found[at] = withMember(found[at]!, iri, isAllowed ? 1 : -1);
  }
  return found;
}

/**
 * Reads the members of a page, beginning with the segment that contains the first one.
 * @param shows returns false for members that the caller cannot see. Absent: the caller sees all members
 */
async function slice(
  { storage: { store, authorizer }, access, container }: MemberRequest,
  { from, count }: Paging,
  segments: readonly CountSegment[],
  shows?: (record: ResourceRecord) => boolean,
): Promise<readonly ResourceRecord[]> {
  const members: ResourceRecord[] = [];
  if (count === 0) return members;
  let [index, seen] = [0, 0];
  while (index < segments.length - 1 && seen + segments[index]!.count <= from) seen += segments[index++]!.count;
  for await (const records of store.members(container.iri, segments[index]!.from || undefined)) {
    if (shows) await yieldInLine();
    for (const record of records) {
      if (shows && !shows(record)) continue;
      // Evaluate the permission in this state, also for members before the page: hidden members must not shift the page.
      const answer = !shows || authorizer.allows({ view: store, access, mode: 'read', iri: record.iri, record });
      if (!(typeof answer === 'boolean' ? answer : await answer) || seen++ < from) continue;
      members.push(record);
      if (members.length >= count) return members;
    }
  }
  return members;
}
