/**
 * Runs one import: a thread reads the source, and this code authorizes and stages each item. Each block is one transaction,
 * which also stores the progress.
 */
import { join, resolve } from 'node:path';
import { attribute } from '../../../lib/authorization/audit.js';
import { type Access, freshAccess } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { stateSpaces, TransferError } from '../../../lib/exchange/member.js';
import { BulkStaging, type BulkVerdict } from '../../../lib/resources/bulk.js';
import { entryKey, entryRange, partsOfEntry } from '../../../lib/storage/keys/records.js';
import { CommitInDoubtError } from '../../../lib/storage/level/commit-in-doubt.js';
import { Again } from '../../../lib/storage/transactions/again.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { jsonOf } from '../../../lib/tools/json/json.js';
import type { Job } from '../jobs/job-runner.js';
import type { BlockItem, ImportBlock, ReportEntry } from './blocks.js';
import {
  behind,
  foreignState,
  type ImportOutcome,
  type ImportState,
  importSpace,
  isStored,
  seenSpace,
  unsupportedFields,
  type Verdict,
} from './import-state.js';
import { type BlockTaker, ImportStopped, ImportThread } from './import-thread.js';
import { NameSet, nameInSet } from './name-set.js';

/** The outcome of staging a block. */
export interface Staged extends ImportOutcome {
  /** Names of stored resources. */
  readonly stored: ReadonlySet<string>;
  /** Indices of the items written by the reading thread. */
  readonly written: readonly number[];
}

export interface ImportOptions {
  readonly platform: Platform;
  /** The caller, who becomes the owner of created resources. */
  readonly access: Access;
  /** True if the caller is the operator, who has full access. */
  readonly isOperator: boolean;
  readonly dryRun: boolean;
}

interface StagingOptions extends ImportOptions {
  readonly state: Pick<ImportState, 'conflict' | 'into' | 'grants'>;
  /** Names of the resources stored by the import. */
  readonly seen: Pick<NameSet, 'has'>;
  /** IRIs of graphs of which a part was rejected: the other parts are rejected too. */
  readonly refused: ReadonlySet<string>;
}

const itemsAtATime = 64;

const named = (source: string, error: unknown): unknown =>
  error instanceof LwsError ? new TransferError(`${source}: ${error.message}`) : error;

/** Returns the verdict on a later part of a resource in a dry run, in which earlier parts are not stored. */
const verdictAgain = ({ content }: BlockItem): BulkVerdict =>
  content ? (content.kind === 'rdf' ? 'merged' : 'skipped') : 'kept';

/** Returns the indices of the graphs. */
const graphsOf = (items: readonly BlockItem[]): number[] =>
  [...items.keys()].filter((index) => items[index]!.content?.kind === 'rdf');

/** Returns the indices of the stored items. */
const acceptedOf = (items: readonly BlockItem[], { verdicts }: Pick<Staged, 'verdicts'>): number[] =>
  items.flatMap((_, index) => (isStored(verdicts[index]!) ? [index] : []));

/** Returns true if an error is caused by the content and not by the state of the server: a retry would fail again. */
const isRefusal = (error: unknown): error is LwsError =>
  error instanceof LwsError && !['quota-exceeded', 'storage-full', 'too-busy'].includes(error.code);

/** Stages items and returns the result for each. @throws Again if all keys of items are needed @throws TransferError if the import must end */
async function stageItems(
  tx: Transaction,
  items: readonly BlockItem[],
  { platform, isOperator, dryRun, state: { conflict }, seen, refused, ...options }: StagingOptions,
): Promise<Staged> {
  // Copy the access: decisions are cached by this object, and may have changed since the last block.
  const access = freshAccess(options.access);
  attribute(tx, access);
  const staging = new BulkStaging(platform.storage, tx, { access, isOperator });
  const [verdicts, lost]: [Verdict[], ReportEntry[]] = [[], []];
  const [incomplete, written]: [number[], number[]] = [[], []];
  const stored = new Set<string>();
  for (const [index, item] of items.entries()) {
    // Yield to the event loop, so that read requests do not wait for a large block.
    if (index % itemsAtATime === itemsAtATime - 1) await yieldToEventLoop();
    const name = nameInSet(item.iri);
    const existing = seen.has(name) || stored.has(name) ? 'merge' : conflict;
    try {
      if (refused.has(item.iri)) throw new LwsError('conflict', 'Another part of this resource was left out.');
      const isTold = dryRun && seen.has(name);
      const verdict = isTold ? verdictAgain(item) : await staging.stage(item, existing);
      verdicts.push(verdict);
      if (isStored(verdict)) stored.add(name);
      const why = unsupportedFields(item, verdict, staging.keepsLists);
      if (why !== undefined) lost.push({ source: item.source, why });
      if (verdict === 'needs-keys') incomplete.push(index);
      if (verdict === 'created' && item.content?.kind === 'rdf' && !item.content.keys) written.push(index);
    } catch (error) {
      const isMeant = error instanceof LwsError && conflict === 'fail' && error.code === 'already-exists';
      // If a container with an ACL is rejected, the import ends: without the ACL, its members could become public.
      const isOpened = !item.content && item.acl && staging.keepsLists;
      if (!(error instanceof LwsError) || isMeant || isOpened) throw named(item.source, error);
      verdicts.push({ source: item.source, why: error.message });
    }
  }
  if (incomplete.length > 0) throw new Again(() => tx.completeGraphs!(incomplete));
  return { verdicts, stored, written, lost, access: [] };
}

/** Stages component state as the importing caller. Existing state is never replaced, and other entries are rejected. */
function stageStates(
  tx: Transaction,
  { states }: ImportBlock,
  {
    platform,
    access,
    state: { into, grants },
    staged,
  }: Omit<StagingOptions, 'seen' | 'refused'> & { readonly staged: ImportOutcome },
): void {
  const { subject } = access.principal ?? {};
  const taken = new Map<string, number>();
  for (const { source, key, value } of states) {
    const [space = '', id = ''] = partsOfEntry(key);
    const isKnown = stateSpaces.includes(space) && /^[\w-]{1,100}$/.test(id) && key === entryKey(space, id);
    const found = isKnown ? foreignState(platform, space, id, jsonOf(value)) : undefined;
    const leaveOut = (why: string): unknown =>
      staged.lost.push({ source: `${source}: ${space}/${id}`, why: [why, ...(found?.gives ?? [])].join(' ') });
    if (!found) leaveOut('No component of this server stores this state.');
    else if (!grants) leaveOut('Grants are imported on request only (grants=yes, --grants).');
    else if (found.targets.length === 0 || !found.targets.every((target) => target.startsWith(into)))
      leaveOut('It refers to resources outside of the target container.');
    else if (subject === undefined) leaveOut('The storage has no controller to own it.');
    else if (found.hasRoom?.(subject, taken.get(space) ?? 0) === false)
      leaveOut('The importing caller has reached the limit.');
    else if (tx.entry(key) === undefined) {
      tx.putEntry(key, JSON.stringify(found.keptBy(subject)));
      taken.set(space, (taken.get(space) ?? 0) + 1);
      staged.access.push(...found.gives.map((why) => ({ source: found.targets.join(' '), why })));
    }
  }
}

/** A staged block, and a promise that resolves when it is committed. */
interface Taken {
  readonly staged: Staged;
  readonly stored: Promise<void>;
}

export class ImportJob implements BlockTaker, Job<ImportState> {
  private readonly seen = new NameSet();
  /** Blocks staged but not yet stored. */
  private readonly underWay: { readonly block: ImportBlock; readonly staged: Staged }[] = [];
  private thread: ImportThread | undefined;
  private isStopped = false;

  constructor(
    readonly state: ImportState,
    private readonly options: ImportOptions,
  ) {}

  get isDryRun(): boolean {
    return this.options.dryRun;
  }

  /** Reads to the end. After an error, stored resources stay. @throws TransferError, LwsError */
  async run(): Promise<void> {
    const { platform, dryRun } = this.options;
    await this.recall();
    this.assertGoing();
    const { source, name, format, mediaType, into, rewrite, cursor, id, acls = false } = this.state;
    this.thread = new ImportThread(
      {
        source: resolve(platform.dataDir, source),
        ...{ name, format, mediaType, into, rewrite, dryRun, acls },
        ...(cursor === '' ? {} : { cursor }),
        writes: !this.isShared,
        texts: platform.store.readsLiterals,
        seed: id,
        level: join(resolve(platform.dataDir), 'level'),
        blobs: platform.store.blobs.location,
        formats: platform.formats,
      },
      this,
    );
    try {
      await this.thread.finished;
    } finally {
      await this.stop();
    }
  }

  /** Stops the import. Stored resources stay, and the import can be resumed. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.thread?.stop();
  }

  /** Stops the import without waiting for its blocks, because no transaction can run. */
  async abandon(): Promise<void> {
    this.isStopped = true;
    await this.thread?.abandon();
  }

  /** Asserts that the import was not stopped. @throws ImportStopped */
  private assertGoing(): void {
    if (this.isStopped || this.thread?.isEnding) throw new ImportStopped();
  }

  expect(total: number | undefined): void {
    this.state.total = total;
  }

  /** Loads the names of the resources stored before the import was interrupted. */
  private async recall(): Promise<void> {
    for await (const entries of this.options.platform.store.entries(entryRange(seenSpace, this.state.id)))
      for (const [, value] of entries) for (const name of value.split(' ')) this.seen.add(name);
  }

  async take(block: ImportBlock): Promise<{ readonly stored: Promise<void> }> {
    const kept: number[] = [];
    const { number } = block;
    const items = this.isShared ? await this.complete(number, block.items, graphsOf(block.items)) : block.items;
    const failed = (error: unknown): never => {
      // If the commit is in doubt, it may be stored and refer to the blobs of all items: keep all blobs.
      this.thread!.drop(number, error instanceof CommitInDoubtError ? [...items.keys()] : kept);
      throw error;
    };
    const { staged, stored } = await this.store(block, items)
      .catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        return this.storeSingly(block, kept);
      })
      .catch(failed);
    for (const name of staged.stored) this.seen.add(name);
    this.underWay.push({ block, staged });
    return {
      stored: stored.then(() => {
        if (this.options.dryRun) this.thread!.drop(number);
        else if (this.isShared) this.thread!.drop(number, acceptedOf(items, staged));
        Object.assign(this.state, behind(this.state, block, staged));
        this.underWay.shift();
      }, failed),
    };
  }

  /** State after all staged blocks. */
  private get staged(): ImportState {
    return this.underWay.reduce((state, { block, staged }) => behind(state, block, staged), this.state);
  }

  private readonly refused = new Set<string>();

  /** Stores a block in one transaction. Returns after staging. */
  private store(block: ImportBlock, given: readonly BlockItem[]): Promise<Taken> {
    const { platform, dryRun } = this.options;
    let [items, staged]: [readonly BlockItem[], Staged?] = [given];
    const work = async (tx: Transaction): Promise<void> => {
      tx.completeGraphs = async (wanted = graphsOf(items)) => {
        items = await this.complete(block.number, items, wanted);
      };
      staged = await this.stage(tx, items);
      stageStates(tx, block, { ...this.options, state: this.state, staged });
      this.enlist(tx, block, staged);
    };
    return new Promise((resolve, reject) => {
      const onStaged = (): void => resolve({ staged: staged!, stored });
      const stored = platform.store.transact(work, { onStaged, isDryRun: dryRun });
      stored.then(onStaged, reject);
    });
  }

  /**
   * Stores each item in its own transaction, after a transaction listener rejected the block: only the rejected items are
   * skipped.
   * @param kept the stored items
   */
  private async storeSingly(block: ImportBlock, kept: number[]): Promise<Taken> {
    const { platform } = this.options;
    const { items, number } = block;
    const complete = await this.complete(number, items, graphsOf(items));
    const [verdicts, lost]: [Verdict[], ReportEntry[]] = [[], []];
    const stored = new Set<string>();
    for (const [index, item] of complete.entries())
      try {
        const ofItem = await platform.store.transact(async (tx) => {
          const staged = await this.stage(tx, [item]);
          const key = entryKey(seenSpace, this.state.id, `${this.staged.blocks}-${index}`);
          for (const name of staged.stored) tx.putEntry(key, name);
          return staged;
        });
        verdicts.push(...ofItem.verdicts);
        lost.push(...ofItem.lost);
        for (const name of ofItem.stored) stored.add(name);
        if (ofItem.stored.size > 0) kept.push(index);
      } catch (error) {
        if (error instanceof CommitInDoubtError) kept.push(index);
        if (!isRefusal(error)) throw error;
        if (item.content?.kind === 'rdf') this.refused.add(item.iri);
        verdicts.push({ source: item.source, why: error.message });
      }
    const staged = { verdicts, stored, written: [], lost, access: [] };
    await platform.store.transact((tx) => {
      this.assertGoing();
      stageStates(tx, block, { ...this.options, state: this.state, staged });
      this.enlist(tx, block, staged);
    });
    return { staged, stored: Promise.resolve() };
  }

  /** Returns the items, with all keys for items that need them. */
  private async complete(
    number: number,
    items: readonly BlockItem[],
    wanted: readonly number[],
  ): Promise<readonly BlockItem[]> {
    const keys = await this.thread!.keysOf(number, wanted);
    const found = new Map(wanted.map((index, at) => [index, keys[at]]));
    return items.map((item, index) => {
      const { content } = item;
      const own = found.get(index);
      return own && content?.kind === 'rdf' ? { ...item, content: { ...content, keys: own } } : item;
    });
  }

  private stage(tx: Transaction, items: readonly BlockItem[]): Promise<Staged> {
    this.assertGoing();
    return stageItems(tx, items, { ...this.options, state: this.state, seen: this.seen, refused: this.refused });
  }

  /** Stages the progress of the import with the block, and lets the thread with the keys write the batch. */
  private enlist(tx: Transaction, block: ImportBlock, staged: Staged): void {
    const { verdicts, stored, written } = staged;
    const state = this.staged;
    if (stored.size > 0) tx.putEntry(entryKey(seenSpace, state.id, String(state.blocks)), [...stored].join(' '));
    tx.putEntry(entryKey(importSpace, state.id), JSON.stringify(behind(state, block, staged)));
    // With several servers, the commit queue writes the changes to the journal, without a bulk writer.
    if (this.isShared) return;
    const accepted = acceptedOf(block.items, { verdicts });
    tx.batchWriter = {
      bytes: block.keyBytes,
      write: (operations) => this.thread!.write({ block: block.number, accepted, written }, operations),
    };
  }

  private get isShared(): boolean {
    return this.options.platform.store.coordination.hasOthers;
  }
}
