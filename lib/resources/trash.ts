/** The trash: deleted resources that controllers can restore until they expire (rules 26.1 to 26.5). */
import { randomBytes } from 'node:crypto';
import type { Question } from '../authorization/authorizer.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { trashOf } from '../authorization/trash.js';
import { featureOf } from '../storage/keys/features.js';
import {
  entryKey,
  entryRange,
  nameOf,
  newRevision,
  partsOfEntry,
  type ResourceRecord,
} from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { stageRemoval } from './delete.js';
import { move } from './move.js';
import type { MoveRequest } from './moved-content.js';
import type { Preconditions } from './preconditions.js';
import type { Storage } from './storage.js';
import { containerFacts, type Staging, stageMembership } from './write.js';

/** Entry space, by item id: original IRI, time of deletion, and the caller who deleted the resource. */
const space = 'trash';
/** Entry space, by item id and path: original owners. Resources in the trash have no owner. */
const owners = 'trash-owners';

/** Age in milliseconds from which an item without a resource is removed. For a younger item, the MOVE may be in progress. */
const inProgressMs = 3_600_000;

interface Trashed {
  readonly from: string;
  /** Time of the deletion, in milliseconds since the epoch. */
  readonly at: number;
  readonly by?: string | undefined;
}

export interface TrashItem extends Trashed {
  readonly id: string;
  readonly record: ResourceRecord;
}

export class Trash {
  private readonly root: string;
  private readonly ofTrash: Storage;

  constructor(private readonly storage: Storage) {
    this.root = trashOf(storage.rootIri);
    // Clients cannot write in the trash (rule 26.2), so this authorizer replaces the modes: controllers of the storage may move
    // resources into and out of the trash.
    const { authorizer, rootIri } = storage;
    const asked = (question: Question): Question =>
      question.iri.startsWith(this.root) && question.mode !== 'read'
        ? { view: question.view, access: question.access, mode: 'control', iri: rootIri }
        : question;
    this.ofTrash = withAuthorizer(storage, {
      decide: (question) => authorizer.decide(asked(question)),
      allows: (question) => authorizer.allows(asked(question)),
    });
  }

  /** Moves a resource into the trash. @throws LwsError as MOVE, `forbidden` for callers without control of the storage */
  async put(access: Access, iri: string, preconditions: Preconditions): Promise<string> {
    const { storage } = this;
    if (iri.startsWith(this.root)) throw new LwsError('conflict', 'The resource is in the trash.');
    await requireAccess(storage, storage.store, access, 'control', storage.rootIri);
    const at = storage.clock();
    // The id starts with the time, so that items sort by age.
    const id = `${at.toString(36).padStart(9, '0')}-${randomBytes(6).toString('hex')}`;
    await storage.store.transact(async (tx) => {
      if (!tx.record(this.root)) stageContainer({ storage, tx }, this.root);
      stageContainer({ storage, tx }, this.holder(id));
      tx.putEntry(
        entryKey(space, id),
        JSON.stringify({ from: iri, at, by: access.principal?.subject } satisfies Trashed),
      );
    });
    const keepOwner = (tx: Transaction, { iri: of, owner }: ResourceRecord): undefined => {
      if (owner !== undefined) tx.putEntry(entryKey(owners, id, of.slice(iri.length)), owner);
    };
    try {
      await this.move({
        access,
        iri,
        destination: this.holder(id) + nameOf(iri),
        preconditions,
        ownerAfter: keepOwner,
      });
    } catch (error) {
      // If the commit is in doubt, the resource may be in the trash. Remove the item only if it is empty.
      await this.discard(id, { isEmpty: true });
      throw error;
    }
    return id;
  }

  /** Returns the items, latest first. @param before id of the last item of the previous page */
  async list(before: string | undefined, limit: number): Promise<TrashItem[]> {
    const range = entryRange(space);
    const found: TrashItem[] = [];
    const part = before === undefined ? range : { ...range, lt: entryKey(space, before) };
    for await (const block of this.storage.store.entries(part, { reverse: true }))
      for (const [key] of block) {
        const item = this.find(partsOfEntry(key)[1]!, this.storage.store);
        if (item && found.push(item) >= limit) return found;
      }
    return found;
  }

  /** Moves an item to its original IRI. @throws LwsError as MOVE; `conflict` if the name is in use */
  async restore(access: Access, id: string): Promise<ResourceRecord> {
    const { from, record } = this.require(id, this.storage.store);
    const giveOwner = (tx: Transaction, { iri: of }: ResourceRecord): string | undefined =>
      tx.entry(entryKey(owners, id, of.slice(record.iri.length)));
    let restored: ResourceRecord;
    try {
      const request = { access, iri: record.iri, destination: from, preconditions: {}, ownerAfter: giveOwner };
      restored = (await this.move(request)).record;
    } catch (error) {
      if (!(error instanceof LwsError)) throw error;
      if (error.code === 'precondition-failed' || error.code === 'already-exists')
        throw new LwsError('conflict', `${from} exists. Rename or delete that resource, then restore this one again.`);
      throw error;
    }
    await this.discard(id, { isEmpty: true });
    return restored;
  }

  /** Deletes an item permanently. @throws LwsError `not-found` */
  async delete(access: Access, id: string): Promise<void> {
    this.require(id, this.storage.store);
    await this.discard(id, { access });
  }

  /** Deletes the items that were moved to the trash before a time, in milliseconds since the epoch. */
  async expire(before: number): Promise<void> {
    const { store } = this.storage;
    for await (const block of store.entries(entryRange(space)))
      for (const [key, value] of block) {
        const [id, { at }] = [partsOfEntry(key)[1]!, JSON.parse(value) as Trashed];
        if (at < before) await this.discard(id);
        // The item has no resource: the server ended during a deletion, or a client moved the resource out of the trash.
        else if (at < this.storage.clock() - inProgressMs && !this.find(id, store))
          await this.discard(id, { isEmpty: true });
      }
  }

  private holder(id: string): string {
    return `${this.root}${id}/`;
  }

  private find(id: string, view: Pick<Transaction, 'entry' | 'record'>): TrashItem | undefined {
    const value = view.entry(entryKey(space, id));
    if (value === undefined) return undefined;
    const trashed = JSON.parse(value) as Trashed;
    const record = view.record(this.holder(id) + nameOf(trashed.from));
    return record && { id, ...trashed, record };
  }

  private require(id: string, view: Pick<Transaction, 'entry' | 'record'>): TrashItem {
    const item = this.find(id, view);
    if (!item) throw new LwsError('not-found', 'The trash has no such item. It was restored or deleted.');
    return item;
  }

  private move(request: Omit<MoveRequest, 'copies' | 'overwrites' | 'isDeep' | 'rewrites'>) {
    return move(this.ofTrash, { copies: false, overwrites: false, isDeep: true, rewrites: false, ...request });
  }

  /**
   * Deletes an item with its entries, and also the trash if the trash is then empty.
   * @param access access of a caller who must control the storage. If given, the item must exist
   * @param isEmpty true to delete the item only if it has no resource
   * @throws LwsError `not-found`
   */
  private async discard(
    id: string,
    { access, isEmpty = false }: { readonly access?: Access; readonly isEmpty?: boolean } = {},
  ): Promise<void> {
    const permitted = { allowed: true, rule: 'deletion from the trash' };
    const storage = withAuthorizer(this.storage, { decide: () => permitted, allows: () => true });
    await storage.store.transact(
      async (tx) => {
        if (access) {
          await requireAccess(this.storage, tx, access, 'control', storage.rootIri);
          // Another request may have restored the item meanwhile.
          this.require(id, tx);
        }
        if (isEmpty && (tx.record(this.holder(id))?.members ?? 0) > 0) return;
        tx.deleteEntry(entryKey(space, id));
        for (const key of (await tx.entriesIn(entryRange(owners, id))).keys()) tx.deleteEntry(key);
        for (const iri of [this.holder(id), this.root]) {
          const record = tx.record(iri);
          if (record && (iri !== this.root || record.members === 0))
            await stageRemoval(storage, tx, { access: {}, record });
        }
        if (!tx.record(this.root) && (await tx.entriesIn(entryRange(space))).size === 0)
          tx.endFeature(featureOf(entryKey(space)));
      },
      { frees: true },
    );
  }
}

const withAuthorizer = (storage: Storage, authorizer: Partial<Storage['authorizer']>): Storage =>
  Object.create(storage, { authorizer: { value: { ...storage.authorizer, ...authorizer } } });

/** Stages a container of the trash. The container has no owner. */
function stageContainer(staging: Staging, iri: string): void {
  const now = staging.storage.clock();
  const record = { iri, ...containerFacts, revision: newRevision(), created: now, modified: now };
  staging.tx.putRecord(record);
  staging.tx.changed({ after: record });
  stageMembership(staging, record, 1);
}
