/** Changes several RDF resources in one transaction. Each is authorized, checked and staged like a separate write. */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requireAccess, requirePut } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import type { GraphUpdate } from '../query/change-set.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { Again } from '../storage/transactions/again.js';
import type { Prepare } from '../storage/transactions/commit-queue.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import type { EntityTag } from '../tools/fields/etag.js';
import type { Content } from './body.js';
import { stageRemoval } from './delete.js';
import { stageDelta } from './graph-delta.js';
import { counterpart } from './names.js';
import { assertPreconditions } from './preconditions.js';
import { stateOf } from './seen-state.js';
import type { Storage } from './storage.js';
import { loadLarge, nameTaken, stageContent, stageNew } from './write.js';

export interface GraphsRequest {
  readonly access: Access;
  /** Computes the updates from the current state. Called again if the transaction is repeated. */
  readonly compute: () => Promise<readonly GraphUpdate[]>;
  /** Entity tags that the client requires, by IRI, also of resources that the update does not change. */
  readonly conditions: ReadonlyMap<string, readonly EntityTag[]>;
}

export interface UpdatedGraph {
  readonly iri: string;
  readonly status: 'created' | 'changed' | 'unchanged' | 'deleted';
  /** New record. Absent if the resource was deleted or the caller cannot read it. */
  readonly record?: ResourceRecord;
}

/** Changes all graphs or none. @throws LwsError as PUT, PATCH and DELETE of each would, `too-busy` if graphs change too often */
export function updateGraphs(storage: Storage, request: GraphsRequest): Promise<readonly UpdatedGraph[]> {
  return new GraphsWrite(storage, request).write();
}

class GraphsWrite {
  constructor(
    private readonly storage: Storage,
    private readonly request: GraphsRequest,
  ) {}

  async write(): Promise<readonly UpdatedGraph[]> {
    const { store } = this.storage;
    const options: { frees: boolean; readonly prepare: Prepare<readonly GraphUpdate[]> } = {
      frees: false,
      prepare: async (after) => {
        const updates = await this.request.compute();
        // Evaluate permissions before the transaction too: this fetches remote groups, and a transaction blocks all others.
        for (const update of updates) {
          const record = await this.admitted(store, update);
          if (record !== 'nothing' && record && !isLargeGraph(record.triples ?? 0)) await store.prefetch(record);
        }
        options.frees = updates.every(({ exists }) => !exists);
        const made = updates.filter(({ revision, exists }) => revision === null && exists);
        const contents = made.map((update) => [update.iri, contentOf(update, update.added)] as const);
        await loadLarge(this.storage, contents, after);
        return updates;
      },
    };
    return store.transact((tx, updates) => this.commit(tx, updates), options);
  }

  private async commit(tx: Transaction, updates: readonly GraphUpdate[]): Promise<UpdatedGraph[]> {
    attribute(tx, this.request.access);
    await this.assertOthers(tx, updates);
    const updated: UpdatedGraph[] = [];
    for (const update of updates) {
      const before = await this.admitted(tx, update);
      if (before === 'nothing') continue;
      if ((before?.revision ?? null) !== update.revision) throw new Again(update.iri);
      const result = await this.stage(tx, update, before);
      if (result) updated.push(result);
    }
    return updated;
  }

  /** Checks the conditions on resources that the update does not change. The caller needs read access to these resources. */
  private async assertOthers(tx: Transaction, updates: readonly GraphUpdate[]): Promise<void> {
    const { storage } = this;
    const { access, conditions } = this.request;
    const own = new Set(updates.map(({ iri }) => iri));
    for (const [iri, ifMatch] of conditions) {
      if (own.has(iri)) continue;
      const record = await requireAccess(storage, tx, access, 'read', iri);
      const seen = await stateOf(storage, tx, access, record);
      assertPreconditions({ ifMatch }, seen, seen.state);
    }
  }

  /** Calls `admit`. The message of an error names the graph, if the caller has named the graph or can read it. */
  private async admitted(view: View, update: GraphUpdate): Promise<Admitted> {
    try {
      return await this.admit(view, update);
    } catch (error) {
      if (!(error instanceof LwsError)) throw error;
      throw error.with({ hint: ` Nothing was changed. The error concerns <${update.iri}>.` });
    }
  }

  /** Returns the current resource if the caller has permission for the complete change. */
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
      throw new LwsError('conflict', 'The resource is not RDF and has no graph to change.');
    if (record && needs.makes) throw new LwsError('already-exists', 'The graph already exists.');
    if (!record && needs.puts && view.record(counterpart(iri))) throw nameTaken();
    return record;
  }

  private async mayRead(view: View, record: ResourceRecord): Promise<boolean> {
    const { access } = this.request;
    return this.storage.authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
  }

  private async stage(
    tx: Transaction,
    update: GraphUpdate,
    before: ResourceRecord | undefined,
  ): Promise<UpdatedGraph | undefined> {
    const { storage } = this;
    const { access } = this.request;
    const { iri, exists, isSame, isCleared, added } = update;
    if (!exists) {
      if (!before) return undefined;
      await stageRemoval(storage, tx, { access, record: before });
      return { iri, status: 'deleted' };
    }
    const isBlind = before !== undefined && !(await this.mayRead(tx, before));
    if (isSame && before && !isBlind) return { iri, status: 'unchanged', record: before };
    if (before && (isSame || !isCleared)) {
      // Limit the triples, because a graph may grow by many updates. The size of the update already limits its additions.
      const wanted = { delta: update, length: Number.POSITIVE_INFINITY, isBlind };
      const staged = await stageDelta({ storage, tx }, before, wanted);
      return { iri, status: 'changed', ...(isBlind ? {} : { record: staged!.record }) };
    }
    const growth = { before: before?.triples ?? 0, after: update.triples, characters: 0 };
    storage.documents.assertGrown(growth, Number.POSITIVE_INFINITY);
    const content = contentOf(update, added);
    if (before) {
      const record = await stageContent({ storage, tx }, before, { content });
      return { iri, status: 'changed', ...(isBlind ? {} : { record }) };
    }
    return { iri, status: 'created', record: stageNew(storage, tx, { iri, access }, content) };
  }
}

/** Existing resource, if any. `nothing`: the update only removes triples, and the graph does not exist or is hidden. */
type Admitted = ResourceRecord | undefined | 'nothing';

const contentOf = ({ prefixes, after }: GraphUpdate, keys: readonly string[]): Content => ({
  kind: 'rdf',
  document: { keys, prefixes, ...after! },
});
