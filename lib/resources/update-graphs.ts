/** Several RDF resources changed in one transaction, each as its own write would be: authorized, guarded, staged. */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess, requirePut } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import type { EntityTag } from '../fields/etag.js';
import type { Transaction } from '../storage/engine/transaction.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { compareKeys } from '../storage/graphs/key-order.js';
import type { ResourceRecord } from '../storage/state/records.js';
import { stageRemoval } from './delete.js';
import { counterpart } from './names.js';
import { stagePart } from './patch-part.js';
import { assertPreconditions } from './preconditions.js';
import { stateOf } from './seen-state.js';
import type { Storage } from './storage.js';
import { nameTaken, stageContent, stageNew, withLoaded } from './write.js';

/** What becomes of one graph. */
export interface GraphUpdate {
  readonly iri: string;
  /** The state that the change was computed from; `null`: there was no resource. */
  readonly revision: string | null;
  /** What is done to it, which decides what has to be allowed (see `GraphNeeds`). */
  readonly needs: Readonly<Partial<Record<'puts' | 'finds' | 'makes' | 'drops', true>>>;
  /** Whether there is a resource afterwards. */
  readonly exists: boolean;
  /** Only `added` is left of it. */
  readonly isCleared: boolean;
  /** It stays as it is. */
  readonly isSame: boolean;
  /** Triples afterwards. */
  readonly triples: number;
  /** Bytes of its default Turtle afterwards; 0 where a part of a large graph changes. */
  readonly size: number;
  readonly prefixes: Readonly<Record<string, string>>;
  /** GSPO keys in order: those that the state before lacks, and those that it has. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface GraphsRequest {
  readonly access: Access;
  readonly updates: readonly GraphUpdate[];
  /** The states that resources must have, whether or not they are changed. */
  readonly conditions: ReadonlyMap<string, readonly EntityTag[]>;
  /** Characters of the update. */
  readonly length: number;
}

export interface UpdatedGraph {
  readonly iri: string;
  readonly status: 'created' | 'changed' | 'unchanged' | 'deleted';
  /** Absent: it was deleted. */
  readonly record?: ResourceRecord;
}

/** A graph has changed since the update was computed, which has to be done again. */
export class OutdatedGraph extends Error {
  constructor(readonly iri: string) {
    super('A graph has changed.');
  }
}

/**
 * Changes graphs, all or none.
 * @throws LwsError as PUT, PATCH and DELETE of each would be refused; OutdatedGraph
 */
export function updateGraphs(storage: Storage, request: GraphsRequest): Promise<readonly UpdatedGraph[]> {
  return new GraphsWrite(storage, request).write();
}

class GraphsWrite {
  constructor(
    private readonly storage: Storage,
    private readonly request: GraphsRequest,
  ) {}

  async write(): Promise<readonly UpdatedGraph[]> {
    const { storage, request } = this;
    const { store } = storage;
    // What other servers say of groups is asked before the transaction, which keeps all others waiting.
    for (const update of request.updates) {
      const record = await this.admitted(store, update);
      if (record !== 'nothing' && record && !isLargeGraph(record.triples ?? 0)) await store.prefetch(record);
    }
    const onlyDeletes = request.updates.every(({ exists }) => !exists);
    const commit = () => store.transact((tx) => this.commit(tx), onlyDeletes ? { frees: true } : {});
    const made = request.updates.filter(({ revision, exists }) => revision === null && exists);
    return made.reduce<typeof commit>(
      (work, update) => () => withLoaded(storage, { iri: update.iri, content: contentOf(update, update.added) }, work),
      commit,
    )();
  }

  private async commit(tx: Transaction): Promise<UpdatedGraph[]> {
    const { access, updates } = this.request;
    attribute(tx, access);
    await this.assertOthers(tx);
    const updated: UpdatedGraph[] = [];
    for (const update of updates) {
      const before = await this.admitted(tx, update);
      if (before === 'nothing') continue;
      if ((before?.revision ?? null) !== update.revision) throw new OutdatedGraph(update.iri);
      const result = await this.stage(tx, update, before);
      if (result) updated.push(result);
    }
    return updated;
  }

  /** Conditions on resources that are not changed, for those who may read them. */
  private async assertOthers(tx: Transaction): Promise<void> {
    const { storage } = this;
    const { access, updates, conditions } = this.request;
    const own = new Set(updates.map(({ iri }) => iri));
    for (const [iri, ifMatch] of conditions) {
      if (own.has(iri)) continue;
      const record = await requireAccess(storage, tx, access, 'read', iri);
      const seen = await stateOf(storage, tx, access, record);
      assertPreconditions({ ifMatch }, seen, seen.state);
    }
  }

  /** As `admit`, where a refusal says which graph it is about: the caller has named it, or may read it. */
  private async admitted(view: View, update: GraphUpdate): Promise<Admitted> {
    try {
      return await this.admit(view, update);
    } catch (error) {
      if (!(error instanceof LwsError)) throw error;
      const { code, message, cause, reason, fields, scheme } = error;
      throw new LwsError(code, `${message} Nothing was changed. It is about <${update.iri}>.`, {
        cause,
        fields,
        ...(reason === undefined ? {} : { reason }),
        ...(scheme === undefined ? {} : { scheme }),
      });
    }
  }

  /** The resource as it is, when all that is done to it may be done. */
  private async admit(view: View, { iri, needs }: GraphUpdate): Promise<Admitted> {
    const { storage } = this;
    const { access, conditions } = this.request;
    const ifMatch = conditions.get(iri);
    let record: ResourceRecord | undefined;
    if (needs.drops || needs.finds || !needs.puts)
      try {
        record = await requireAccess(storage, view, access, needs.drops ? 'delete' : 'write', iri);
      } catch (error) {
        if (!(error instanceof LwsError) || error.code !== 'not-found' || needs.finds) throw error;
        assertPreconditions({ ifMatch }, undefined, undefined);
        if (!needs.puts) return 'nothing';
      }
    if (needs.puts) record = await requirePut(storage, view, access, iri);
    assertPreconditions({ ifMatch }, record, record?.revision);
    if (record && record.kind !== 'rdf')
      throw new LwsError('conflict', 'It is no RDF resource, and has no graph that could be changed.');
    if (record && needs.makes) throw new LwsError('already-exists', 'The graph is there already.');
    if (!record && needs.puts && view.record(counterpart(iri))) throw nameTaken();
    return record;
  }

  private async stage(
    tx: Transaction,
    update: GraphUpdate,
    before: ResourceRecord | undefined,
  ): Promise<UpdatedGraph | undefined> {
    const { storage } = this;
    const { access, length } = this.request;
    const { iri, exists, isSame, isCleared, prefixes, added, removed } = update;
    if (!exists) {
      if (!before) return undefined;
      await stageRemoval(storage, tx, { access, record: before });
      return { iri, status: 'deleted' };
    }
    // What comes is bounded by the update; a graph may grow by many of them.
    storage.documents.assertGrown({ before: before?.triples ?? 0, after: update.triples, characters: 0 }, length);
    if (!before) {
      const bare = { iri, access, preconditions: {}, model: undefined };
      return { iri, status: 'created', record: stageNew(storage, tx, bare, contentOf(update, added)) };
    }
    if (isSame) return { iri, status: 'unchanged', record: before };
    if (!isCleared && isLargeGraph(update.triples)) {
      const part = { change: { added, removed, prefixes }, length, links: undefined };
      const record = await stagePart(storage, tx, { before, request: part });
      if (record && record !== 'unchanged') return { iri, status: 'changed', record };
    }
    const keys = isCleared ? added : applied(await tx.graph(before), update);
    return { iri, status: 'changed', record: await stageContent(storage, tx, before, contentOf(update, keys)) };
  }
}

/** `undefined`: there is none; `nothing`: triples are removed of a graph that is not there, or that the caller must not know of. */
type Admitted = ResourceRecord | undefined | 'nothing';

const contentOf = ({ prefixes, size }: GraphUpdate, keys: readonly string[]) =>
  ({ kind: 'rdf', document: { keys, prefixes, size } }) as const;

/** Keys in order, without those that go and with those that come. */
function applied(keys: readonly string[], { added, removed }: GraphUpdate): string[] {
  const after: string[] = [];
  let [come, go] = [0, 0];
  for (const key of keys) {
    while (come < added.length && compareKeys(added[come]!, key) < 0) after.push(added[come++]!);
    if (removed[go] === key) go++;
    else after.push(key);
  }
  for (; come < added.length; come++) after.push(added[come]!);
  return after;
}
