/**
 * In-memory index of the ACLs. It finds the nearest ACL of a resource without reading every ancestor, and the ACLs that name a
 * reader. It may contain deleted ACLs, but never misses an ACL. An ACL with two agents takes about 500 bytes, and each further
 * agent 100. The size depends only on ACLs, which controllers write within the quota, not on callers.
 */

import { below, type IriRange, only } from '../storage/keys/iri-ranges.js';
import type { KeyDigest } from '../storage/keys/key-digest.js';
import { entryRange, partsOfEntry } from '../storage/keys/records.js';
import { isOtherDigest, toggleEntry } from '../storage/level/entry-digests.js';
import type { Store } from '../storage/transactions/store.js';
import { getOrMake, partitionPoint } from '../tools/collections.js';
import { type Acl, type AclRule, aclKey, aclSpace, closedAcl, isAclOf, originOf, readAcl } from './acl.js';
import { lostAcls } from './acl-faults.js';
import type { Access } from './principal.js';

/** Resource with an ACL that exists or is staged. */
interface List {
  readonly of: string;
  /** Position in IRI order. Only valid while `isNumbered` is true. */
  at: number;
  /** Count of staged writes that are not committed. */
  staged: number;
  /** Readers that the committed ACL names. Absent without a committed ACL: the resource inherits. */
  readers?: readonly Reader[];
}

/** Agent, class or group that an ACL names, with the origin if the authorization requires one. */
interface Reader {
  readonly key: string;
  /** Unique ID, which is never reused. */
  readonly id: number;
  /** ACLs that name the reader, for any mode. The value has the bits `own` and `inherited` of what the reader may read. */
  readonly lists: Map<List, number>;
}

/** Bits: the reader may read the resource of the ACL, and descendants that have no nearer ACL. */
const [own, inherited] = [1, 2];

// Returns the key of a reader. The separator NUL cannot occur in an origin.
const keyOf = (reader: string, origin = ''): string => `${origin}\u0000${reader}`;
const [everybody, authenticated] = ['everybody', 'authenticated'];
const agentOf = (subject: string): string => `agent ${subject}`;
const groupOf = (group: string): string => `group ${group}`;

export class AclIndex {
  private readonly lists = new Map<string, List>();
  /** ACLs in IRI order, so that each container is before its descendants. */
  private readonly order: List[] = [];
  private isNumbered = true;
  private readonly readers = new Map<string, Reader>();
  /** IRIs of groups that ACLs name, by reader key. */
  private readonly groups = new Map<string, string>();
  private changes = 0;
  private made = 0;

  /** Loads the existing ACLs, and follows commits. */
  static async open(store: Store): Promise<AclIndex> {
    const index = new AclIndex();
    const digests = new Map<string, KeyDigest>();
    for await (const entries of store.entries(entryRange(aclSpace)))
      for (const [key, value] of entries) {
        toggleEntry(digests, key, () => [value]);
        const iri = partsOfEntry(key)[1]!;
        const [acl, record] = [readAcl(iri, value), store.record(iri)];
        index.set(index.listOf(iri), isAclOf(acl, record) ? acl : record?.acl ? closedAcl(iri) : undefined);
      }
    if (isOtherDigest(store.level, aclSpace, digests))
      for await (const iri of lostAcls(store)) index.set(index.listOf(iri), closedAcl(iri));
    const prefix = aclKey('');
    store.onForeign(({ entries }) => {
      for (const [key, value] of entries)
        if (key.startsWith(prefix) && value !== null) index.stage(key.slice(prefix.length));
    });
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries)
        if (key.startsWith(prefix)) {
          const iri = key.slice(prefix.length);
          index.committed(iri, value === null ? undefined : readAcl(iri, value));
        }
    });
    return index;
  }

  /** Version of the index, which increases with each commit that may change an ACL. */
  get version(): number {
    return this.changes;
  }

  mayHave(iri: string): boolean {
    return this.lists.has(iri);
  }

  /** Returns the resources with an ACL below a container, in IRI order. Stops at `most` + 1. */
  below(container: string, most = Number.POSITIVE_INFINITY): readonly string[] {
    const { order } = this;
    const found: string[] = [];
    for (let at = this.after(container); found.length <= most && order[at]?.of.startsWith(container); at++)
      found.push(order[at]!.of);
    return found;
  }

  /** IRIs of groups that ACLs name, for any mode. */
  get groupNames(): Iterable<string> {
    return this.groups.values();
  }

  /** Returns the resources that a group may read by the ACL of the resource, in requests with this origin. */
  readableBy(group: string, origin: string | undefined): readonly string[] {
    const lists = this.found([groupOf(group)], origin).flatMap((reader) => [...reader.lists]);
    return lists.flatMap(([{ of }, parts]) => (parts > 0 ? [of] : []));
  }

  /** True if an ACL names an agent for any mode. */
  names(subject: string): boolean {
    return this.readers.has(keyOf(agentOf(subject)));
  }

  /** Returns the readers that match a caller. Callers that no ACL names have equal readers. @param memberOf their groups */
  readersOf({ principal, origin }: Access, memberOf: readonly string[]): readonly Reader[] {
    const all = principal
      ? [everybody, authenticated, agentOf(principal.subject), ...memberOf.map(groupOf)]
      : [everybody];
    return this.found(all, origin);
  }

  private found(readers: readonly string[], origin: string | undefined): Reader[] {
    const keys = readers.flatMap((each) => (origin ? [keyOf(each), keyOf(each, originOf(origin))] : [keyOf(each)]));
    return keys.flatMap((key) => this.readers.get(key) ?? []);
  }

  /** Returns the resources that the readers together may read, as disjoint ranges in order. */
  rangesOf(readers: readonly Reader[]): readonly IriRange[] {
    const { order } = this;
    // Plain loops: iterators would take most of the time of the first call, which is not compiled.
    for (let at = 0; !this.isNumbered && at < order.length; at++) order[at]!.at = at;
    this.isNumbered = true;
    const readable = new Uint8Array(order.length);
    for (const { lists } of readers)
      lists.forEach((parts, { at }) => {
        readable[at]! |= parts;
      });
    const found: { from: string; to: string }[] = [];
    /** Stack of the enclosing containers with an ACL. `isReadable`: resources that inherit this ACL are readable. */
    const around: { readonly of: string; readonly isReadable: boolean }[] = [];
    let [at, readableAround] = ['', 0];
    const advance = (to: string, isReadable: boolean): void => {
      if (isReadable && at !== to) {
        const last = found.at(-1);
        if (last?.to === at) last.to = to;
        else found.push({ from: at, to });
      }
      at = to;
    };
    const leave = (iri: string): void => {
      for (let top = around.at(-1); top && !iri.startsWith(top.of); top = around.at(-1)) {
        advance(below(top.of).to, top.isReadable);
        readableAround -= Number(top.isReadable);
        around.pop();
      }
    };
    for (let index = 0; index < order.length; index++) {
      const parts = readable[index]!;
      // Skipped: most ACLs neither add nor remove access of this caller.
      if (parts === 0 && readableAround === 0) continue;
      const { of, readers: named } = order[index]!;
      if (!named) continue;
      leave(of);
      advance(of, around.at(-1)?.isReadable ?? false);
      advance(only(of).to, (parts & own) > 0);
      if (!of.endsWith('/')) continue;
      const isReadable = (parts & inherited) > 0;
      around.push({ of, isReadable });
      readableAround += Number(isReadable);
    }
    leave('');
    return found;
  }

  /** Called when an ACL is staged, before any decision can depend on the new ACL. */
  stage(iri: string): void {
    this.listOf(iri).staged++;
  }

  /** Updates the index after a commit. If a deleted ACL is already staged again, its entry stays. */
  private committed(iri: string, acl: Acl | undefined): void {
    this.changes++;
    const list = this.listOf(iri);
    this.set(list, acl);
    if (acl) list.staged = Math.max(0, list.staged - 1);
    else if (list.staged === 0) {
      this.lists.delete(iri);
      this.order.splice(this.after(iri) - 1, 1);
      this.isNumbered = false;
    }
  }

  private listOf(iri: string): List {
    const known = this.lists.get(iri);
    if (known) return known;
    const list: List = { of: iri, at: this.order.length, staged: 0 };
    const at = this.after(iri);
    if (at === this.order.length) this.order.push(list);
    else {
      this.order.splice(at, 0, list);
      this.isNumbered = false;
    }
    this.lists.set(iri, list);
    return list;
  }

  /** Returns the position of the first ACL after an IRI. */
  private after(iri: string): number {
    const { order } = this;
    // Existing ACLs are loaded in order, so they are appended.
    if (order.length > 0 && order.at(-1)!.of <= iri) return order.length;
    return partitionPoint(0, order.length, (at) => order[at]!.of <= iri);
  }

  /** Replaces the readers that an ACL names. An ACL without authorizations has no effect. */
  private set(list: List, acl: Acl | undefined): void {
    for (const reader of list.readers ?? []) {
      reader.lists.delete(list);
      if (reader.lists.size > 0) continue;
      this.readers.delete(reader.key);
      this.groups.delete(reader.key);
    }
    delete list.readers;
    if (!acl || acl.isEmpty) return;
    const readers = new Set<Reader>();
    for (const rule of acl.rules) {
      const parts = rule.modes.has('read') ? Number(rule.accessTo) * own + Number(rule.inherited) * inherited : 0;
      // The reader without origin is added too, because the ACL names the agent or group.
      for (const name of namesOf(rule))
        for (const origin of ['', ...rule.origins]) {
          const key = keyOf(name, origin);
          const reader = getOrMake(this.readers, key, () => ({ key, id: this.made++, lists: new Map<List, number>() }));
          const given = origin === '' && rule.origins.size > 0 ? 0 : parts;
          reader.lists.set(list, (reader.lists.get(list) ?? 0) | given);
          readers.add(reader);
        }
      for (const group of rule.groups) this.groups.set(keyOf(groupOf(group)), group);
    }
    list.readers = [...readers];
  }
}

const namesOf = (rule: AclRule): readonly string[] => [
  ...(rule.everybody ? [everybody] : []),
  ...(rule.authenticated ? [authenticated] : []),
  ...Array.from(rule.agents, agentOf),
  ...rule.groups.map(groupOf),
];
