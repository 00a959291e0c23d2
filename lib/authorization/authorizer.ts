/**
 * May they? One authorizer decides for every operation; it is asked before a body is read and again inside the transaction. A base model
 * decides, and permission sources may only widen. It never says why to a client, only to the log.
 */

import { type IriRange, isWholeStorage, unionOfRanges } from '../storage/keys/iri-ranges.js';
import { parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

/** A state of the storage to decide on: committed, or a transaction's. */
export interface View {
  record(iri: string): ResourceRecord | undefined;
  entry(key: string): string | undefined;
  /** An entry as `parse` makes it, which is remembered while the entry stays as it is. */
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined;
  /** Nothing outside of the storage may be asked while all other writers wait. */
  readonly isTransaction: boolean;
}

/** Whether a mode is allowed, and the rule that says so, for logs and `explain`. */
export interface Decision {
  readonly allowed: boolean;
  readonly rule: string;
}

export interface Question {
  readonly view: View;
  readonly access: Access;
  readonly mode: Mode;
  readonly iri: string;
  /** The resource's record, when the asker has it. */
  readonly record?: ResourceRecord | undefined;
  /** The resource is gone: whose it was, and who might read it, as `readersOf` wrote it down. */
  readonly gone?: { readonly owner: string | undefined; readonly readers: string | undefined };
}

/**
 * How those who enumerate may know what a caller may read without asking for each resource: everything, nothing, exactly
 * what an identity owns and what lies in some ranges; or each has to be decided.
 */
export type ReadScope =
  | 'everything'
  | 'nothing'
  | 'decide'
  | { readonly owner?: string; readonly ranges: readonly IriRange[] };

/** A way to decide that needs no other: owner mode, Web Access Control. */
export interface BaseModel {
  decide(question: Question): Decision | Promise<Decision>;
  /** Whether the caller may read every member of a container, now and later of this state. May be false to be safe. */
  readsAllMembers(view: View, access: Access, container: string): boolean | Promise<boolean>;
  readScope(access: Access): ReadScope | Promise<ReadScope>;
  /** Whether the caller is more than anybody could be: it owns something, or was named by somebody who gave it access. */
  knows(access: Access): boolean | Promise<boolean>;
  /**
   * Who may read a resource, to be asked when it is gone (`Question.gone`); `undefined`: nobody, or the owner says enough.
   */
  readersOf?(view: View, iri: string): string | undefined;
}

/** Whom the server serves first when there is too much to do: everybody may be a stranger as often as they like. */
export type CallerClass = 'controller' | 'known' | 'stranger';

/** Something that allows what the base model does not, such as access grants. It can never refuse. */
export interface PermissionSource {
  /** The rule that allows; `undefined` when none does. */
  widen(question: Question, base: BaseModel): Decision | undefined | Promise<Decision | undefined>;
  /** What it adds to what the caller may read; `undefined`: nothing. */
  readRanges(
    access: Access,
    base: BaseModel,
  ): readonly IriRange[] | 'decide' | undefined | Promise<readonly IriRange[] | 'decide' | undefined>;
  /** Whether it allows the caller something that it does not allow everybody. */
  names(access: Access): boolean;
}

export interface Authorizer extends BaseModel {
  allows(question: Question): boolean | Promise<boolean>;
  /** @param view the committed state */
  standing(view: View, access: Access): Promise<CallerClass>;
  /** The identity to record as the owner of something that the caller creates in a container. */
  ownerOfNew(access: Access, parent: ResourceRecord): string | undefined;
}

/** The base model and what widens it. */
export function createAuthorizer(
  base: BaseModel,
  storage: string,
  sources: () => readonly PermissionSource[] = () => [],
): Authorizer {
  const widened = async (question: Question, refusal: Decision): Promise<Decision> => {
    for (const source of sources()) {
      const found = await source.widen(question, base);
      if (found) return found;
    }
    return refusal;
  };
  const consider = (question: Question, decision: Decision): Decision | Promise<Decision> =>
    // Grants never give control (rule 17.4).
    decision.allowed || question.mode === 'control' || sources().length === 0 ? decision : widened(question, decision);
  const decide = (question: Question): Decision | Promise<Decision> => {
    const decision = base.decide(question);
    return decision instanceof Promise
      ? decision.then((found) => consider(question, found))
      : consider(question, decision);
  };
  return {
    decide,
    allows(question) {
      const decision = decide(question);
      return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
    },
    readersOf: (view, iri) => base.readersOf?.(view, iri),
    knows: (access) => sources().some((source) => source.names(access)) || base.knows(access),
    async standing(view, access) {
      if ((await base.decide({ view, access, mode: 'control', iri: storage })).allowed) return 'controller';
      return (await this.knows(access)) ? 'known' : 'stranger';
    },
    readsAllMembers: (view, access, container) => base.readsAllMembers(view, access, container),
    async readScope(access) {
      const scope = await base.readScope(access);
      if (scope === 'everything') return scope;
      const added = await Promise.all(sources().map((source) => source.readRanges(access, base)));
      const found = added.filter((ranges) => ranges !== undefined);
      if (found.length === 0) return scope;
      if (scope === 'decide' || found.includes('decide')) return 'decide';
      const own = typeof scope === 'object' ? scope : { ranges: [] };
      const ranges = unionOfRanges([...own.ranges, ...(found as (readonly IriRange[])[]).flat()]);
      return isWholeStorage(ranges, storage) ? 'everything' : { ...own, ranges };
    },
    // An anonymous creation takes the parent's recorded owner.
    ownerOfNew: ({ principal }, parent) => principal?.subject ?? parent.owner,
  };
}

/** The containers that an IRI lies in, the nearest first; the root's own none. */
export function* ancestorsOf(iri: string, storage: string): Generator<string> {
  for (let at = iri; at !== storage && at.startsWith(storage); ) {
    at = parentOf(at);
    yield at;
  }
}

/** Writes down who may read what a transaction changes: what is deleted, before it was. */
export function noteReaders(tx: Transaction, { readersOf }: Authorizer): void {
  for (const change of tx.changes) {
    const { iri } = (change.after ?? change.before)!;
    change.readers = readersOf?.(change.after ? tx : tx.before, iri);
  }
}
