/**
 * Authorizes every operation: before the body is read, and again inside the transaction. The base model decides; permission
 * sources can only add permissions. Reasons are logged, never sent to the client.
 */

import { type IriRange, isWholeStorage, unionOfRanges } from '../storage/keys/iri-ranges.js';
import { parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

/** State that a decision is based on: the committed state, or the state of a transaction. */
export interface View {
  record(iri: string): ResourceRecord | undefined;
  entry(key: string): string | undefined;
  /** Returns an entry as converted by `parse`, or `undefined`. The result is cached until the entry changes. */
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined;
  /** True inside a transaction. Remote documents must not be fetched then, because all other writers wait. */
  readonly isTransaction: boolean;
}

/** Decision, and the rule that it is based on, for logs and `explain`. */
export interface Decision {
  readonly allowed: boolean;
  readonly rule: string;
  /** True if the start of the permission is unknown, because it comes from a group or a permission source. */
  readonly isUndated?: true;
}

export interface Question {
  readonly view: View;
  readonly access: Access;
  readonly mode: Mode;
  readonly iri: string;
  /** Record of the resource, if the caller of this function has it. */
  readonly record?: ResourceRecord | undefined;
  /** Present if the resource is deleted: its owner, and its readers as recorded by `readersOf`. */
  readonly gone?: { readonly owner: string | undefined; readonly readers: string | undefined };
}

/**
 * Readable resources of a caller: all, none, or the resources that an identity owns and those in IRI ranges. `decide`: each
 * resource must be evaluated.
 */
export type ReadScope =
  | 'everything'
  | 'nothing'
  | 'decide'
  | { readonly owner?: string; readonly ranges: readonly IriRange[] };

/** Base access model: owner mode or Web Access Control. */
export interface BaseModel {
  decide(question: Question): Decision | Promise<Decision>;
  /** True if the caller can read all members of a container, also in later states with the same permissions. False: unknown. */
  readsAllMembers(view: View, access: Access, container: string): boolean | Promise<boolean>;
  readScope(access: Access): ReadScope | Promise<ReadScope>;
  /** True if the caller owns a resource, or the model gives access to the caller by name. */
  knows(access: Access): boolean | Promise<boolean>;
  /** Returns the readers of a resource as text, for decisions after its deletion (`Question.gone`). `undefined`: the owner. */
  readersOf?(view: View, iri: string): string | undefined;
}

/** Caller classes by priority. `known`: has a grant or owns a resource. `stranger`: any other caller. */
export type CallerClass = 'controller' | 'known' | 'stranger';

type AddedRanges = readonly IriRange[] | 'decide' | undefined;

/** Source of permissions in addition to the base model, such as access grants. A source can never deny access. */
export interface PermissionSource {
  /** Returns a decision that allows the access, or `undefined`. */
  widen(question: Question, base: BaseModel): Decision | undefined | Promise<Decision | undefined>;
  /** Returns additional readable ranges, or `undefined`. @param container limits the result to members of this container */
  readRanges(access: Access, base: BaseModel, container?: string): AddedRanges | Promise<AddedRanges>;
  /** True if the source gives the caller a permission that not every caller has. */
  names(access: Access): boolean;
}

export interface Authorizer extends BaseModel {
  /** Returns the readable resources. @param container limits the result to its members, including members in the trash */
  readScope(access: Access, container?: string): ReadScope | Promise<ReadScope>;
  allows(question: Question): boolean | Promise<boolean>;
  /** True if the caller can read a resource and searches may return it. For the scope `decide`, evaluates the resource. */
  finds(question: Omit<Question, 'mode'>): boolean | Promise<boolean>;
  /** Returns the class of a caller. @param view the committed state */
  callerClass(view: View, access: Access): Promise<CallerClass>;
  /** Returns the identity that becomes the owner of a resource that the caller creates in a container. */
  ownerOfNew(access: Access, parent: ResourceRecord): string | undefined;
}

/** Returns the ranges that permission sources add. */
async function addedRanges(
  sources: readonly PermissionSource[],
  ...asked: Parameters<PermissionSource['readRanges']>
): Promise<readonly IriRange[] | 'decide'> {
  const added: IriRange[] = [];
  for (const source of sources) {
    const ranges = await source.readRanges(...asked);
    if (ranges === 'decide') return ranges;
    added.push(...(ranges ?? []));
  }
  return added;
}

/** Creates the authorizer of a storage from the base model and the permission sources. */
export function createAuthorizer(
  base: BaseModel,
  storage: string,
  sources: () => readonly PermissionSource[] = () => [],
): Authorizer {
  const widened = async (question: Question, refusal: Decision): Promise<Decision> => {
    for (const source of sources()) {
      const found = await source.widen(question, base);
      if (found) return { allowed: found.allowed, rule: found.rule, isUndated: true };
    }
    return refusal;
  };
  const consider = (question: Question, decision: Decision): Decision | Promise<Decision> =>
    // Control comes only from the base model, never from permission sources (rule 17.4).
    decision.allowed || question.mode === 'control' || sources().length === 0 ? decision : widened(question, decision);
  const decide = (question: Question): Decision | Promise<Decision> => {
    const decision = base.decide(question);
    return decision instanceof Promise
      ? decision.then((found) => consider(question, found))
      : consider(question, decision);
  };
  const allows = (question: Question): boolean | Promise<boolean> => {
    const decision = decide(question);
    return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
  };
  return {
    decide,
    allows,
    finds: (question) => allows(Object.assign({}, question, { mode: 'read' as const })),
    ...(base.readersOf && { readersOf: base.readersOf.bind(base) }),
    knows: (access) => sources().some((source) => source.names(access)) || base.knows(access),
    async callerClass(view, access) {
      if ((await base.decide({ view, access, mode: 'control', iri: storage })).allowed) return 'controller';
      return (await this.knows(access)) ? 'known' : 'stranger';
    },
    readsAllMembers: (view, access, container) => base.readsAllMembers(view, access, container),
    async readScope(access, container) {
      const scope = await base.readScope(access);
      if (scope === 'everything') return scope;
      const added = await addedRanges(sources(), access, base, container);
      if (added.length === 0) return scope;
      if (scope === 'decide' || added === 'decide') return 'decide';
      const own = typeof scope === 'object' ? scope : { ranges: [] };
      const ranges = unionOfRanges([...own.ranges, ...added]);
      return isWholeStorage(ranges, storage) ? 'everything' : { ...own, ranges };
    },
    // A resource that an anonymous caller creates gets the owner of its parent.
    ownerOfNew: ({ principal }, parent) => principal?.subject ?? parent.owner,
  };
}

/** Yields the ancestor containers of an IRI, nearest first. Yields none for the root. */
export function* ancestorsOf(iri: string, storage: string): Generator<string> {
  for (let at = iri; at !== storage && at.startsWith(storage); ) {
    at = parentOf(at);
    yield at;
  }
}

/** Records the readers of the resources that a transaction changes. For deleted resources: the readers before it. */
export function noteReaders(tx: Transaction, { readersOf }: Authorizer): void {
  if (!readersOf) return;
  for (const change of tx.changes) {
    const { iri } = (change.after ?? change.before)!;
    change.readers = readersOf(change.after ? tx : tx.before, iri);
  }
}
